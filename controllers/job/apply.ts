// Applies a verdict: one effect for each kind, and each may be repeated after a crash. Called by reconcile.ts, which writes row
// and status afterwards.
import { manyIngestedShards } from "../../src/db/operator/ingest.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import { jobIdOf } from "../../src/schemas/job-kind.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { Outcome } from "../runtime/outcome.ts";
import { deadlinesOf } from "./deadlines.ts";
import type { End, Verdict } from "./decide.ts";
import { finishJob } from "./end.ts";
import { type Engine, isDatabaseOutage } from "./engine.ts";
import type { Facts } from "./facts.ts";
import type { Memory } from "./memory.ts";
import { stopPods } from "./record-pods.ts";
import { type IngestedShards, ingestResults } from "./results.ts";
import { createChild, isFirstRun } from "./run.ts";
import { openStatus } from "./status.ts";

/** Debounce: pod events come in bursts, and one reconcile this long after the first event sees them all. */
export const debounceMs = 500;
/** The same while the news says little: the next event usually comes first, and one reconcile sees both. */
export const quietDebounceMs = 5_000;
/** How long results may be unreadable before a job that is to end ends without them. */
const resultPatienceMs = 600_000;

type Of<K extends Verdict["kind"]> = Verdict & { kind: K };
/** `again`: the facts have changed, and the next decision follows from them. `outcome`: nothing is left to write. */
export type Applied = { again: Facts } | { outcome: Outcome } | { facts: Facts; verdict: Verdict };

export async function apply(
  engine: Engine,
  memory: Memory,
  facts: Facts,
  verdict: Verdict,
): Promise<Applied> {
  const done = { facts, verdict };
  switch (verdict.kind) {
    case "ingest":
      return { again: await ingest(engine, memory, facts, verdict) };
    case "end":
      return { outcome: await finish(engine, memory, facts, verdict) };
    case "create":
      return create(engine, memory, facts, verdict);
    case "patch":
      await patch(engine, facts, verdict);
      return done;
    case "activate":
      await engine.queueing.activate(facts.child!, verdict.active);
      engine.emitEvent(facts.cr, "Normal", verdict.active ? "Resumed" : "Suspended", "Applied spec.suspend.");
      return done;
    case "move":
      await engine.queueing.move(facts.child!, verdict.queue);
      return done;
    case "stop":
      await stopPods(engine, memory.podEnds, facts, verdict.pods);
      return done;
    case "refuse":
      refuse(engine, facts, verdict);
      return done;
    case "wait":
    case "settled":
      return done;
  }
}

const idOf = ({ adapter }: Engine, { cr }: Facts) => jobIdOf(adapter.kind, cr.metadata);

/** Ingests the results of completed shards, and returns the facts with them. */
async function ingest(engine: Engine, memory: Memory, facts: Facts, verdict: Of<"ingest">): Promise<Facts> {
  const { adapter, advanceRow } = engine;
  const id = idOf(engine, facts);
  const run = facts.child!.metadata.name;
  // The database accepts results only for the run that the row names.
  await advanceRow(id, facts, openStatus(facts, verdict));
  const results = await ingestResults(engine, adapter, id, run, verdict.shards).catch((error: unknown) =>
    giveUpResults(engine, memory, facts, verdict.shards, error),
  );
  const ingested = new Set([...facts.ingested, ...results.ingested]);
  const bad = new Map([...facts.bad, ...results.bad]);
  if (bad.size > 0) memory.unusable.set(facts.cr.metadata.uid ?? "", { run, shards: bad });
  return { ...facts, ingested, bad };
}

/**
 * The outcome of results that cannot be read. Throws the error, unless the job is to end (it is cancelled, or past its active
 * deadline) and has waited long enough for them: then these shards fail.
 */
async function giveUpResults(
  { db, now }: Engine,
  { failingSince }: Memory,
  facts: Facts,
  shards: readonly number[],
  error: unknown,
): Promise<IngestedShards> {
  const { cr, child } = facts;
  const failingMs = now() - (failingSince.get(cr.metadata.name) ?? now());
  const isToEnd =
    cr.spec.cancel !== undefined ||
    deadlinesOf(facts).some(({ which, at }) => which === "active" && at <= facts.now);
  if (isDatabaseOutage(error) || !isToEnd || failingMs < resultPatienceMs) throw error;
  const cause = error instanceof Error ? error.message : String(error);
  const message = `The operator could not read the result: ${cause}`.slice(0, 1000);
  const ingested = await manyIngestedShards(db, child!.metadata.name);
  const unread = shards.filter((shard) => !ingested.includes(shard));
  const failure = { class: "System", code: "result_unreadable", message, retryable: true } as const;
  return { ingested: [...ingested], bad: new Map(unread.map((shard) => [shard, { ...failure, shard }])) };
}

async function finish(engine: Engine, memory: Memory, facts: Facts, verdict: End): Promise<Outcome> {
  const outcome = await finishJob(engine, idOf(engine, facts), facts, verdict);
  // A row that comes back is compared once more.
  if (facts.row !== null) memory.settledUids.add(facts.cr.metadata.uid ?? "");
  return outcome;
}

async function create(engine: Engine, memory: Memory, facts: Facts, verdict: Of<"create">): Promise<Applied> {
  const created = await createChild(engine, facts, verdict);
  if (created.kind === "blocked") {
    const message = `The cluster rejects the job's Kubernetes Job: ${created.message}`.slice(0, 1000);
    const admission = { admitted: false, reason: "WaitingForQuota", message } as const;
    return { facts: { ...facts, admission, isBlocked: true }, verdict: { kind: "wait" } };
  }
  if (created.kind === "end") return { outcome: await finish(engine, memory, facts, created) };
  if (!isFirstRun(facts)) return { facts, verdict: created };
  // The status can wait: other jobs wait for their Jobs, and the first pods change it again in a moment.
  await engine.advanceRow(idOf(engine, facts), facts, openStatus(facts, created));
  return { outcome: { requeueAfterMs: quietDebounceMs } };
}

async function patch({ kube, jobs, emitEvent }: Engine, facts: Facts, verdict: Of<"patch">): Promise<void> {
  const { suspend, parallelism } = verdict;
  const child = facts.child!;
  jobs.set(await kube.patch(jobType, child.metadata, { spec: { suspend, parallelism } }));
  if (suspend !== undefined && suspend !== (child.spec.suspend ?? false))
    emitEvent(facts.cr, "Normal", suspend ? "Suspended" : "Resumed", "Applied spec.suspend.");
}

/** Takes the job out of the queue. Logs the refusal and emits an event, once. The condition keeps the message. */
function refuse(engine: Engine, { cr }: Facts, { reason, message }: Of<"refuse">): void {
  const { queueing, metrics, log, emitEvent } = engine;
  queueing.leave(cr);
  const accepted = conditionOf(cr.status?.conditions, "Accepted");
  if (accepted?.reason === reason && accepted.message === message) return;
  if (reason === "RowMissing") metrics.drift("resource");
  log.warn({ name: cr.metadata.name, reason }, message);
  emitEvent(cr, "Warning", reason, message);
}
