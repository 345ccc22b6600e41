// Memory for request bodies. Made by app.ts, called by answer.ts.
import { maxDocumentBytes } from "./documents.ts";

/** Returns memory for a body, and takes it back when nobody reads it any more. */
export interface BodyMemory {
  take(bytes: number): Buffer;
  giveBack(memory: Buffer): void;
}

/** Two documents of one tenant, or of two. V8 does not count this memory, so it is never given up. */
const maxSlabs = 2;
const minSlabBodyBytes = 1024 * 1024;

/**
 * Large bodies get memory that was used before: new buffers of megabytes bring on a major garbage collection each second,
 * and each delays all requests by 10 to 30 ms. The memory is shared, so that a worker thread reads it where it is.
 */
export function makeBodyMemory(): BodyMemory {
  const free: SharedArrayBuffer[] = [];
  let made = 0;
  const takeSlab = (): SharedArrayBuffer | undefined => {
    if (free.length > 0 || made === maxSlabs) return free.pop();
    made += 1;
    return new SharedArrayBuffer(maxDocumentBytes);
  };
  return {
    take: (bytes) => {
      const slab = bytes > minSlabBodyBytes ? takeSlab() : undefined;
      return slab === undefined ? Buffer.allocUnsafe(bytes) : Buffer.from(slab, 0, bytes);
    },
    giveBack: ({ buffer }) => {
      if (buffer instanceof SharedArrayBuffer) free.push(buffer);
    },
  };
}
