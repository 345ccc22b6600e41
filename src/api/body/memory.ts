// Memory for request bodies. Made by app.ts, called by answer.ts.
import { maxDocumentBytes } from "./documents.ts";
import { smallBytes } from "./threads.ts";

/** Returns memory for a body, and takes it back when nobody reads it any more. */
export interface BodyMemory {
  take(bytes: number): Buffer;
  giveBack(memory: Buffer): void;
}

/** Two documents of one tenant, or of two. */
const maxFree = 2;

/**
 * Large bodies get memory that was used before: new buffers of megabytes bring on a major garbage collection each second,
 * and each delays all requests by 10 to 30 ms. The memory is shared, so that a worker thread reads it where it is.
 */
export function makeBodyMemory(): BodyMemory {
  const free: SharedArrayBuffer[] = [];
  return {
    take: (bytes) =>
      bytes <= smallBytes
        ? Buffer.allocUnsafe(bytes)
        : Buffer.from(free.pop() ?? new SharedArrayBuffer(maxDocumentBytes), 0, bytes),
    giveBack: ({ buffer }) => {
      if (buffer instanceof SharedArrayBuffer && free.length < maxFree) free.push(buffer);
    },
  };
}
