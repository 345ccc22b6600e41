// Brings the results of completed shards from the object store into Postgres. What a pod wrote is untrusted: it is
// parsed, capped and compared with what was asked for. Called by reconcile.ts.
import { createHash } from "node:crypto";
import { isUnstorable } from "../../src/db/errors.ts";
import type { ShardRef } from "../../src/db/ingest.ts";
import type { Log } from "../../src/log.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import { type Result, result as resultSchema } from "../../src/schemas/worker.ts";
import { isNotFound, TooLargeError } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { RetryError } from "../runtime/outcome.ts";
import { InvalidResultError, type JobAdapter } from "./adapter.ts";
import type { Failure } from "./pods.ts";

/** Of which the operator needs seven times as much while it takes it in: 400,000 detections. */
export const maxResultBytes = 32 * 1024 * 1024;
const atOnce = 4;
/** Parsed a result is several times as large: of all jobs' results that are larger than this one is taken in at a time. */
const smallBytes = 256 * 1024;
let lastLarge: Promise<unknown> = Promise.resolve();

type Deps = { storage: Storage; log: Log };
export type Taken = { ingested: number[]; bad: Map<number, Failure> };

/** Takes in the results of these shards. Rejects when Postgres or the object store is away: all of it may be repeated. */
export async function ingestResults(
  deps: Deps,
  adapter: JobAdapter,
  jobId: string,
  run: string,
  shards: readonly number[],
): Promise<Taken> {
  const taken: Taken = { ingested: [], bad: new Map() };
  const waiting = [...shards];
  const worker = async () => {
    for (let shard = waiting.shift(); shard !== undefined; shard = waiting.shift()) {
      const failure = await ingestShard(deps, adapter, { jobId, run, shard });
      if (failure === undefined) taken.ingested.push(shard);
      else taken.bad.set(shard, failure);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return taken;
}

async function ingestShard(deps: Deps, adapter: JobAdapter, ref: ShardRef): Promise<Failure | undefined> {
  try {
    return await ingestUpTo(smallBytes, deps, adapter, ref);
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
  }
  const turn = lastLarge.then(() => ingestUpTo(maxResultBytes, deps, adapter, ref));
  lastLarge = turn.catch(() => undefined);
  return turn;
}

/** Rejects with TooLargeError when there may be a try with a higher limit. */
async function ingestUpTo(
  limitBytes: number,
  { storage, log }: Deps,
  adapter: JobAdapter,
  ref: ShardRef,
): Promise<Failure | undefined> {
  const { run, shard } = ref;
  const bad = (code: string, message: string): Failure => {
    log.warn({ run, shard, code }, message);
    return { class: "System", code, message, shard, retryable: true };
  };
  let bytes: Buffer;
  try {
    bytes = await storage.readAll(keys.result(run, shard), limitBytes);
  } catch (error) {
    if (isNotFound(error)) return bad("result_missing", "A worker ended well but left no result.");
    if (error instanceof TooLargeError && limitBytes === maxResultBytes)
      return bad("result_too_large", "A worker left a result that is too large.");
    throw error;
  }
  let result: Result;
  try {
    result = resultSchema.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return bad("result_invalid", "A worker left a result that is not of the agreed form.");
  }
  const ids = result.kind === "train" ? [] : result.items.map(({ id }) => id);
  if (new Set(ids).size < ids.length) return bad("result_invalid", "A worker left two results of one file.");
  if (result.run !== run || result.shard !== shard || result.kind !== adapter.verb) {
    return bad("result_invalid", "A worker left a result that belongs to other work.");
  }
  const digest = createHash("sha256").update(bytes).digest("hex");
  try {
    const outcome = await adapter.ingest(ref, digest, result);
    if (outcome === "fenced") throw new RetryError(`the job has ended or has a newer run than ${run}`);
    if (outcome === "differs")
      log.error({ run, shard, digest }, "a shard's result was changed after it was taken in");
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResultError) return bad("result_invalid", error.message);
    // Well formed, and still not what a row can hold. Trying again would go on until the job's deadline.
    if (isUnstorable(error)) return bad("result_invalid", "A worker left a result that cannot be stored.");
    throw error;
  }
}
