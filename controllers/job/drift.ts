// When the custom resource and the row do not agree because one of them is gone or was set back. Called by reconcile.ts.
import { manyAdopted } from "../../src/db/adoption.ts";
import { endJob } from "../../src/db/ingest.ts";
import { advanceJob, type JobRow, maybeOneJob } from "../../src/db/job.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import { jobIdOf, parseResourceName, runsUntil } from "../../src/schemas/job-kind.ts";
import { type Outcome, settled } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import { labels } from "./child.ts";
import { type Engine, hasRowEnded } from "./engine.ts";
import { ingestResults } from "./results.ts";

export const resourceGone = "The job's custom resource was deleted in Kubernetes.";

/**
 * The custom resource is gone, or will be once somebody's finalizer lets it go: so are its Jobs, and a row that still waits
 * for it would wait for ever.
 */
export async function forget(engine: Engine, name: string): Promise<Outcome> {
  const { kube, db, adapter, store, jobs, metrics, log, namespace } = engine;
  const waiting = await waitingFor(engine, name);
  // Two kinds may have resources of one name.
  const owned = jobs
    .by("resource", name)
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.kind] === adapter.type.plural && metadata.deletionTimestamp === undefined,
    );
  if (waiting.length === 0 && owned.length === 0) return settled;
  // The cache may only be behind, or the name was used again.
  const found = await kube.find(adapter.type, { namespace, name });
  if (found !== undefined) store.set(found);
  const live = found?.metadata.deletionTimestamp === undefined ? found : undefined;
  // They go by owner reference too; the garbage collector may take half a minute to know a new kind of owner.
  for (const { metadata } of owned) {
    if (metadata.ownerReferences?.some(({ uid }) => uid === live?.metadata.uid)) continue;
    await kube.remove(jobType, metadata, { uid: metadata.uid });
  }
  for (const id of waiting) {
    if (live !== undefined && jobIdOf(adapter.kind, live.metadata) === id) continue;
    metrics.drift("row");
    log.warn({ name, id }, "the custom resource of an open job is gone; the job counts as cancelled");
    await endJob(db, adapter.kind, id, {
      status: "cancelled",
      statusMessage: resourceGone,
      errorMessage: null,
    });
  }
  return settled;
}

/** Open jobs whose custom resource had this name: one made through the API, or those that were adopted. */
async function waitingFor(engine: Engine, name: string): Promise<readonly string[]> {
  const { db, adapter } = engine;
  const named = parseResourceName(name);
  if (named?.kind !== adapter.kind) return manyAdopted(db, adapter.kind, name);
  const row = await maybeOneJob(db, adapter.kind, named.id);
  // An adopted job is not made through the API: its resource has a name of its own.
  return row?.submitted === true && row.resource_name === null && !hasRowEnded(row) ? [named.id] : [];
}

/** The custom resource has ended and the row has not, as after a restore of the database. */
export async function repairRow(engine: Engine, cr: JobResource, id: string, row: JobRow): Promise<void> {
  const { db, adapter, metrics, log } = engine;
  metrics.drift("row");
  log.warn(
    { name: cr.metadata.name, status: row.status },
    "the row is behind its custom resource; repairing it",
  );
  const { phase, runId, failure, shards } = cr.status ?? {};
  if (phase === "Succeeded" && runId !== undefined) {
    await ingestAllRuns(engine, id, row, runId, shards?.total ?? 1);
    await endJob(db, adapter.kind, id, { status: "completed", statusMessage: null, errorMessage: null });
    return;
  }
  const isFailure = phase === "Failed";
  await endJob(db, adapter.kind, id, {
    status: isFailure ? "failed" : "cancelled",
    statusMessage: null,
    errorMessage: isFailure ? (failure?.message ?? "The job failed.") : null,
  });
}

/** What the runs of a job that has succeeded left, from the first run on; a shard of which nothing is left was lost then. */
async function ingestAllRuns(
  engine: Engine,
  id: string,
  row: JobRow,
  runId: string,
  count: number,
): Promise<void> {
  const { db, adapter } = engine;
  const missing = new Set(Array.from({ length: count }, (_, shard) => shard));
  for (const run of runsUntil(runId)) {
    // Results count for the run that the row names.
    const change = { status: "running", statusMessage: row.status_message, progressPercent: 0 } as const;
    await advanceJob(db, adapter.kind, id, { ...change, platformJobName: run });
    const { ingested } = await ingestResults(engine, adapter, id, run, [...missing]);
    for (const shard of ingested) missing.delete(shard);
  }
  for (const shard of missing)
    await adapter.failShard(
      { jobId: id, run: runId, shard },
      "The shard failed and the job went on without it.",
    );
}
