// Reads request bodies: small ones at once, large documents in worker threads, because parsing and validating 8 MiB would
// block the event loop for half a second. Made by app.ts, called by answer.ts.
import { Piscina } from "piscina";
import type { z } from "zod";
import { AppError, invalidRequest } from "../../errors.ts";
import { documentNameOf } from "./documents.ts";
import { type BodyInput, type BodyResult, readBody } from "./read.ts";
import type { Outcome, Task } from "./thread.ts";

/** Bodies up to this size are read at once; it takes a few milliseconds. */
export const smallBytes = 64 * 1024;

/** The shares of documents (../shares.ts) bound what all threads read at the same time. */
const maxThreads = 2;
/** A document of 8 MiB takes up to 15 times its size. */
const maxHeapMiB = 192;
const idleMs = 10_000;

/** Throws invalidRequest if the body cannot be parsed. */
export type ReadBody = (schema: z.ZodType | undefined, input: BodyInput) => Promise<BodyResult>;

export function makeReadBody(): ReadBody {
  const threads = new Piscina<Task, Outcome>({
    filename: new URL("thread.ts", import.meta.url).href,
    minThreads: 0,
    maxThreads,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  });
  return async (schema, input) => {
    const name = documentNameOf(schema);
    if (name === undefined || input.bytes.length <= smallBytes) return readBody(schema, input);
    const { buffer } = input.bytes;
    const moved = { transferList: buffer instanceof ArrayBuffer ? [buffer] : [] };
    const outcome = await threads.run({ name, input }, moved).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
        throw invalidRequest("the body takes too much memory; send it in several parts");
      throw error;
    });
    if ("refused" in outcome) throw new AppError(outcome.refused);
    return outcome;
  };
}
