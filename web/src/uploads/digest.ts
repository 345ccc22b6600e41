// SHA-256 digests of files, by a worker. With a digest, the object store refuses bytes that were changed on the way.
import { trusted } from "../app/worker-url.ts";
import workerUrl from "./sha256.worker.ts?worker&url";

/** Browsers digest only what is in memory as a whole. */
const mostBytes = 100_000_000;

type Answer = { readonly id: number; readonly hex?: string; readonly error?: string };

let worker: Worker | undefined;
let nextId = 1;
const waiting = new Map<number, { resolve: (hex: string) => void; reject: (error: Error) => void }>();

function start(): Worker {
  const started = new Worker(trusted(workerUrl), { type: "module" });
  started.onmessage = ({ data: { id, hex, error } }: MessageEvent<Answer>) => {
    const caller = waiting.get(id);
    waiting.delete(id);
    if (hex === undefined) caller?.reject(new Error(error));
    else caller?.resolve(hex);
  };
  started.onerror = () => {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error("the worker for digests does not start"));
    waiting.clear();
  };
  return started;
}

/** Undefined: the file is too large, or the page came over plain http, where browsers compute no digests. */
export async function digestOf(bytes: Blob): Promise<string | undefined> {
  if (bytes.size > mostBytes || !window.isSecureContext) return undefined;
  worker ??= start();
  const id = nextId++;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  waiting.set(id, { resolve, reject });
  worker.postMessage({ id, bytes });
  return await promise;
}
