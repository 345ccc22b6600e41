// Finds drift between rows and custom resources that no watch event reports: after a restore of either side, or after a
// lost race. Rows are the source of truth of models, so models are repaired here; jobs are enqueued for their
// reconcile. Called by sweep.ts on the leader, every minute.

import type { DatabasePool } from "../src/db/driver/pool.ts";
import { manyModelStates, manyOpenSubmitted, manyStates } from "../src/db/operator/drift.ts";
import { endJob, maybeOneModelRow } from "../src/db/operator/ingest.ts";
import type { Kube } from "../src/kube/client.ts";
import { isAlreadyExists } from "../src/kube/errors.ts";
import { models as modelType } from "../src/kube/kinds.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, jobIdOf, jobKindNames, resourceName } from "../src/schemas/job-kind.ts";
import type { Caches } from "./caches.ts";
import { hasEnded } from "./job/decide.ts";
import { resourceGone } from "./job/drift.ts";
import type { JobMetrics } from "./job/metrics.ts";
import { inParallel } from "./runtime/parallel.ts";
import { buildModel } from "./training-job/build-model.ts";

export type DriftOptions = {
  db: DatabasePool;
  kube: Kube;
  installation: string;
  namespace: string;
  caches: Caches;
  metrics: JobMetrics;
  log: Log;
  /** Enqueues the job and has its row compared, even if it counts as settled. */
  recheck: (kind: JobKind, name: string) => void;
  enqueueModel: (name: string) => void;
};

const atOnce = 8;

/** Compares all rows and custom resources once. */
export async function repairDrift(options: DriftOptions): Promise<void> {
  await rowsWithoutResource(options);
  for (const kind of jobKindNames) await resourcesWithoutRow(options, kind);
  await repairModels(options);
}

/** Handles open rows whose custom resource is missing, was replaced by another one of the same name, or has ended. */
async function rowsWithoutResource(options: DriftOptions): Promise<void> {
  const { db, installation, caches, metrics, log, recheck } = options;
  for (const { kind, id, resource } of await manyOpenSubmitted(db, installation)) {
    const name = resource ?? resourceName(kind, id);
    const present = caches.resources[kind].get(name);
    if (present !== undefined && jobIdOf(kind, present.metadata) !== id) {
      metrics.drift("row");
      log.warn({ name, id }, "the custom resource of an open job is gone; the job counts as cancelled");
      await endJob(db, kind, id, { status: "cancelled", statusMessage: resourceGone, errorMessage: null });
    } else if (present === undefined || hasEnded(present)) recheck(kind, name);
  }
}

/** Enqueues open custom resources whose row is missing or has ended. */
async function resourcesWithoutRow({ db, caches, recheck }: DriftOptions, kind: JobKind): Promise<void> {
  const open = [...caches.resources[kind].values()].filter((cr) => !hasEnded(cr));
  const rows = await manyStates(
    db,
    kind,
    open.map(({ metadata }) => jobIdOf(kind, metadata)),
  );
  for (const { metadata } of open) {
    if (rows.get(jobIdOf(kind, metadata)) !== "open") recheck(kind, metadata.name);
  }
}

const modelName = /^m-([0-9a-f-]{36})$/;

/**
 * Creates missing Model resources, enqueues outdated ones, and deletes those without a row. A Model resource is created
 * after its row, so a resource without one belongs to a model that was deleted at that moment.
 */
async function repairModels(options: DriftOptions): Promise<void> {
  const { db, kube, installation, namespace, caches, metrics, log, enqueueModel } = options;
  // Reads the cache before the rows, so that a cached resource without a row has none any more.
  const present = [...caches.models.values()];
  const rows = await manyModelStates(db, installation);
  for (const { metadata, status } of present) {
    const id = modelName.exec(metadata.name)?.[1];
    if (id === undefined || metadata.deletionTimestamp !== undefined) continue;
    const archived = rows.get(id);
    if (archived === undefined) {
      metrics.drift("resource");
      log.warn({ name: metadata.name }, "the row of a model is gone; deleting its custom resource");
      await kube.remove(modelType, { namespace, name: metadata.name }, { uid: metadata.uid });
    } else if (archived !== (status?.phase === "Archived")) enqueueModel(metadata.name);
  }
  const missing = [...rows.keys()].filter((id) => caches.models.get(`m-${id}`) === undefined);
  await inParallel(missing, atOnce, async (id) => {
    const row = await maybeOneModelRow(db, id);
    if (row === null) return;
    await kube
      .create(modelType, buildModel(row, namespace))
      .then(() => {
        metrics.drift("resource");
        log.warn({ id }, "a model had no custom resource; created it again");
      })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  });
}
