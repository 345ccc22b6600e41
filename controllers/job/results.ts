// Ingests the results of completed shards from the object store into Postgres. Results are untrusted input: they are
// limited in size, parsed, and compared with the job. Called by apply.ts and drift.ts.
import { createHash } from "node:crypto";
import { isUnstorable } from "../../src/db/driver/errors.ts";
import type { ShardRef } from "../../src/db/operator/ingest.ts";
import type { Log } from "../../src/log.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import { type Result, result as resultSchema } from "../../src/schemas/worker.ts";
import { isNotFound, TooLargeError } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { RetryError } from "../runtime/outcome.ts";
import { InvalidResultError, type JobAdapter } from "./adapter.ts";
import type { Failure } from "./pods.ts";

/**
 * Largest accepted result, enough for 400,000 detections. The operator needs about seven times the size of a result in
 * memory while it ingests it.
 */
export const maxResultBytes = 32 * 1024 * 1024;
const atOnce = 4;
/**
 * Results larger than this are ingested one at a time over all jobs, because a parsed result is several times as large.
 */
const smallBytes = 256 * 1024;
let lastLarge: Promise<unknown> = Promise.resolve();

type Deps = { storage: Storage; log: Log };
export type IngestedShards = { ingested: number[]; bad: Map<number, Failure> };

/**
 * Ingests the results of these shards. Rejects when Postgres or the object store is unreachable; the call may be
 * repeated, because every shard is ingested exactly once.
 */
export async function ingestResults(
  deps: Deps,
  adapter: JobAdapter,
  jobId: string,
  run: string,
  shards: readonly number[],
): Promise<IngestedShards> {
  const outcome: IngestedShards = { ingested: [], bad: new Map() };
  const waiting = [...shards];
  const worker = async () => {
    for (let shard = waiting.shift(); shard !== undefined; shard = waiting.shift()) {
      const failure = await ingestShard(deps, adapter, { jobId, run, shard });
      if (failure === undefined) outcome.ingested.push(shard);
      else outcome.bad.set(shard, failure);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcome;
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

/**
 * Ingests a result of at most `limitBytes`. Rejects with TooLargeError when a retry with a higher limit may succeed.
 */
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
    if (isNotFound(error)) return bad("result_missing", "The worker succeeded but wrote no result.");
    if (error instanceof TooLargeError && limitBytes === maxResultBytes)
      return bad(
        "result_too_large",
        `The worker wrote a result that is larger than ${maxResultBytes / 2 ** 20} MiB.`,
      );
    throw error;
  }
  let result: Result;
  try {
    result = resultSchema.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return bad("result_invalid", "The worker wrote a result that does not match the schema.");
  }
  const ids = result.kind === "train" ? [] : result.items.map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    return bad("result_invalid", "The worker wrote two results for the same file.");
  if (result.run !== run || result.shard !== shard || result.kind !== adapter.verb) {
    return bad("result_invalid", "The worker wrote a result for another run, shard or kind of job.");
  }
  const digest = createHash("sha256").update(bytes).digest("hex");
  try {
    const outcome = await adapter.ingest(ref, digest, result);
    if (outcome === "fenced") throw new RetryError(`the job has ended or has a newer run than ${run}`);
    if (outcome === "differs")
      log.error(
        { run, shard, digest },
        "the result of a shard changed after it was ingested; keeping the first one",
      );
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResultError) return bad("result_invalid", error.message);
    // The result matches the schema, but the database rejects its values. Retries would go on until the job's deadline.
    if (isUnstorable(error)) return bad("result_invalid", "The worker wrote a result that cannot be stored.");
    throw error;
  }
}
