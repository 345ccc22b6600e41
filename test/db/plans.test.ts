// The plans of every list at the size of large tenants: none reads a table from start to end, and none sorts what it reads
// of a tenant before it takes its page.
import { Client } from "pg";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  countAnnotations,
  countEqualAnnotations,
  deleteAnnotations,
  manyAnnotations,
  manyAnnotationsToChange,
  oneAnnotation,
  updateAnnotations,
} from "../../src/db/annotation.ts";
import { listAnnotationSets } from "../../src/db/annotation-set.ts";
import { eachAnnotationText, manyAnnotationTexts, pageOfAnnotations } from "../../src/db/annotation-text.ts";
import { listApiKeys } from "../../src/db/api-key.ts";
import {
  findAudioFiles,
  lengthsOfAudio,
  listAudioFiles,
  manyAudioFiles,
  namesOfAudio,
  oneAudioFile,
} from "../../src/db/audio-file.ts";
import { listDatasets, oneDataset, requireAudioRoom } from "../../src/db/dataset.ts";
import { deleteAnnotationsOfAudio, deletePiece, hasManyLabels } from "../../src/db/deletion.ts";
import { eachDetection, listDetections, summarizeDetections } from "../../src/db/detection.ts";
import type { Db, PageRequest } from "../../src/db/driver/page.ts";
import { listEvents, manyEventsAfter, oneEventPosition } from "../../src/db/event.ts";
import {
  listInferenceFiles,
  manyInferenceFiles,
  namesOfInferenceFiles,
  oneInferenceFile,
} from "../../src/db/inference-file.ts";
import { listInferenceJobs } from "../../src/db/inference-job.ts";
import { listJobEvents } from "../../src/db/job-event.ts";
import { listModels } from "../../src/db/model.ts";
import { doBackgroundWork } from "../../src/db/operator/background-work.ts";
import { manyOpenSubmitted } from "../../src/db/operator/drift.ts";
import { manyCancels, manyUnsubmitted, oneOutboxLag } from "../../src/db/operator/outbox.ts";
import { usageOf } from "../../src/db/quota.ts";
import { listReviewed } from "../../src/db/reviewed-file.ts";
import { listTrainingJobs } from "../../src/db/training-job.ts";
import { failedPreconditions, labelWarning } from "../../src/db/training-preconditions.ts";
import { listWebhooks } from "../../src/db/webhook.ts";
import { listDeliveries } from "../../src/db/webhook-delivery.ts";
import { trainingJobConfig } from "../../src/schemas/training-config.ts";
import { faultsOf, nodesOf, type Plan, recording } from "../support/plans.ts";
import { useDatabase } from "../support/postgres.ts";
import { idOf, seed } from "../support/seed.ts";

const database = useDatabase();

// Many tenants: the planner then expects few rows of each, also of the one that has most of all.
const sizes = {
  tenants: 60,
  datasets: 20,
  filesPerDataset: 5,
  setsPerDataset: 3,
  labelsPerSet: 5,
  jobs: 50,
  filesPerInference: 2,
  detectionsPerFile: 5,
  events: 500,
  deliveries: 250,
  largest: { files: 30_000, labels: 60_000 },
};

beforeAll(async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await seed((text) => client.query(text), sizes);
    // Some uploads of each dataset have expired, so that the index of those is not empty.
    await client.query(`
      insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, upload_expires_at)
      select gen_random_uuid(), tenant_id, id, 'late.wav', 'audio/wav', 1, 'expired', now()
      from datasets, generate_series(1, 3)`);
    // A job of the first tenant has most files of all.
    await client.query(`
      insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key, status)
      select ('00000001-0000-7000-8000-' || lpad(to_hex(1000000 + n), 12, '0'))::uuid, '${tenant}', '${idOf(1, 2)}',
        'take.wav', 'audio/wav', 1, '', 'queued' from generate_series(1, 5000) n`);
    await client.query("analyze audio_files, inference_files");
  } finally {
    await client.end();
  }
});

const tenant = idOf(1);
const one = idOf(1, 1);
const set = { tenantId: tenant, datasetId: one, setId: one };
const page = { page: 1, page_size: 20 };
const training = {
  dataset_id: one,
  annotation_set_id: one,
  config: trainingJobConfig.parse({ artifact_types: ["click"] }),
};

type List = (db: Db, query: PageRequest) => Promise<unknown>;

/** The lists of resources by creation. */
const lists: Record<string, List> = {
  datasets: (db, query) => listDatasets(db, tenant, query),
  "audio files": (db, query) => listAudioFiles(db, tenant, one, query),
  "annotation sets": (db, query) => listAnnotationSets(db, tenant, one, query),
  "training jobs": (db, query) => listTrainingJobs(db, tenant, query),
  models: (db, query) => listModels(db, tenant, { ...query, archived: "all" }),
  "inference jobs": (db, query) => listInferenceJobs(db, tenant, query),
  "inference files": (db, query) => listInferenceFiles(db, tenant, idOf(1, 2), query),
  webhooks: (db, query) => listWebhooks(db, tenant, query),
  deliveries: (db, query) => listDeliveries(db, tenant, one, query),
};
const requests: Record<string, PageRequest> = {
  "": page,
  " from a cursor": { ...page, order: "desc", cursor: `${Date.now()}000.${one}` },
  ", oldest first": { ...page, order: "asc" },
  ", oldest first from a cursor": { ...page, order: "asc", cursor: `0.${one}` },
  " of a period": { ...page, created_after: "2020-01-01T00:00:00Z", created_before: "2100-01-01T00:00:00Z" },
};
type Read = (db: Db) => Promise<unknown>;
const pages: [string, Read][] = Object.entries(lists).flatMap(([what, list]) =>
  Object.entries(requests).map(([how, query]): [string, Read] => [what + how, (db) => list(db, query)]),
);

/** The other lists, and each read that could grow with the tenant. */
const reads: Record<string, Read> = {
  "a dataset": (db) => oneDataset(db, tenant, one),
  annotations: (db) => pageOfAnnotations(db, set, {}, page),
  "annotations of a file": (db) => pageOfAnnotations(db, set, { audio_file_id: one }, page),
  "the number of annotations of a type": (db) => countAnnotations(db, set, { artifact_type: ["click"] }),
  "all annotations": (db) => all(eachAnnotationText(db, set)),
  "whether a file has many labels": (db) => hasManyLabels(db, tenant, one, one),
  "reviewed files": (db) => listReviewed(db, set, page),
  detections: (db) => listDetections(db, tenant, one, page),
  "all detections": (db) => all(eachDetection(db, tenant, one)),
  "job events": (db) => listJobEvents(db, tenant, one, page),
  events: (db) => listEvents(db, tenant, page),
  "the next events": (db) => manyEventsAfter(db, tenant, 9_000, 100),
  "the position of events": (db) => oneEventPosition(db, tenant),
  usage: (db) => usageOf(db, tenant),
  "API keys": (db) => listApiKeys(db, tenant),
  "room for audio files": (db) =>
    requireAudioRoom(db, tenant, one, [{ size_bytes: 1 }], { maxFiles: 0, maxBytes: 0 }),
};

/** Requests that may read all of something (a share bounds them), and then sort it. */
const scans: Record<string, Read> = {
  "datasets by name": (db) => listDatasets(db, tenant, { ...page, name: "x" }),
  "audio files by state": (db) => listAudioFiles(db, tenant, one, { ...page, status: "failed" }),
  "audio files by embedding": (db) =>
    listAudioFiles(db, tenant, one, { ...page, embedding_status: "failed" }),
  "audio files by name": (db) => listAudioFiles(db, tenant, one, { ...page, filename: "x" }),
  "annotation sets by state": (db) => listAnnotationSets(db, tenant, one, { ...page, status: "published" }),
  "annotations by time": (db) => pageOfAnnotations(db, set, { start_ms: 5, end_ms: 9 }, page),
  "annotations by confidence": (db) => pageOfAnnotations(db, set, { min_confidence: 0.5 }, page),
  "annotations by annotator": (db) => pageOfAnnotations(db, set, { annotator: "x" }, page),
  "training jobs by state": (db) => listTrainingJobs(db, tenant, { ...page, status: ["failed"] }),
  "training jobs of a dataset": (db) => listTrainingJobs(db, tenant, { ...page, dataset_id: one }),
  "inference jobs by state": (db) => listInferenceJobs(db, tenant, { ...page, status: ["failed"] }),
  "inference jobs of a model": (db) => listInferenceJobs(db, tenant, { ...page, model_id: one }),
  "inference files by state": (db) => listInferenceFiles(db, tenant, one, { ...page, status: "failed" }),
  "detections of a file": (db) => listDetections(db, tenant, one, { ...page, inference_file_id: one }),
  "detections by confidence": (db) => listDetections(db, tenant, one, { ...page, min_confidence: 0.5 }),
  "a summary of detections": (db) =>
    summarizeDetections(db, tenant, one, { datasetId: one, minConfidence: 0 }),
  "the preconditions of a training": (db) => failedPreconditions(db, tenant, training, "published"),
  "the labels of a training": (db) => labelWarning(db, tenant, training),
  "events by type": (db) => listEvents(db, tenant, { ...page, types: ["model.created"], after: 100 }),
  "deliveries by state": (db) => listDeliveries(db, tenant, one, { ...page, status: ["failed"] }),
};

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

describe("the plan of", () => {
  it.each([...pages, ...Object.entries(reads)])(
    "%s uses indexes and sorts only its page",
    async (_, read) => {
      const plans: Plan[] = [];
      await read(recording(database.apiPool.asTenant(tenant), plans));
      expect(plans.length).toBeGreaterThan(0);
      expect(plans.flatMap((plan) => faultsOf(plan))).toEqual([]);
    },
  );

  it.each(Object.entries(scans))("%s uses indexes", async (_, read) => {
    const plans: Plan[] = [];
    await read(recording(database.apiPool.asTenant(tenant), plans));
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.flatMap((plan) => faultsOf(plan)).filter((fault) => fault.startsWith("reads"))).toEqual([]);
  });

  it("the number of inference jobs reads nothing but an index, though their policy hides deleted ones", async () => {
    await database.pool.query(sql.type(z.object({}))`vacuum inference_jobs`);
    const plans: Plan[] = [];
    await listInferenceJobs(recording(database.apiPool.asTenant(tenant), plans), tenant, page);
    const scans = plans.flatMap(nodesOf).filter((node) => node["Index Name"] === "inference_jobs_list");
    expect(scans.map((node) => node["Node Type"])).toContain("Index Only Scan");
  });

  it("a query without an index is recognized", async () => {
    const plans: Plan[] = [];
    const db = recording(database.pool, plans);
    const row = z.object({ id: z.string() });
    await db.any(sql.type(row)`select id from audio_files where filename = 'take 1.wav'`);
    await db.any(sql.type(row)`
      select id from inference_jobs where tenant_id = ${tenant} order by completed_at limit 20`);
    expect(plans.flatMap((plan) => faultsOf(plan))).toEqual([
      "reads all of audio_files",
      "sorts inference_jobs",
    ]);
  });
});

/** What the leader asks every second, half second or minute about the jobs of its installation. */
const sweeps: Record<string, Read> = {
  "jobs to submit": (db) =>
    manyUnsubmitted(db, { installation: "a", olderThanMs: 0, except: [], limit: 500 }),
  "jobs to cancel": (db) => manyCancels(db, "a", [], 500),
  "the age of the outbox": (db) => oneOutboxLag(db, "a"),
  "jobs to compare": (db) => manyOpenSubmitted(db, "a"),
};

it.each(Object.entries(sweeps))("a sweep finds %s among open jobs alone, not among all", async (_, read) => {
  const plans: Plan[] = [];
  await read(recording(database.operatorPool, plans));
  const nodes = plans.flatMap(nodesOf);
  expect(nodes.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
  const indexes = nodes.flatMap((node) => node["Index Name"] ?? []);
  expect(indexes.length).toBeGreaterThan(1);
  for (const index of indexes)
    expect(index).toMatch(/^(training|inference|embedding)_jobs_(open|open_of_tenant|unsubmitted)$/);
});

describe("look-ups in the largest dataset", () => {
  const ids = [7, 9_000].map((n) => idOf(1, n));
  const labelIds = [7, 9_000].map((n) => idOf(1, 10_000_000 + n));
  const job = idOf(1, 2);
  const fileIds = [7, 4_000].map((n) => idOf(1, 1_000_000 + n));
  // The seed's labels 1 and 59,999: between them are all others of the set.
  const labels = [1, 59_999].map((n) => ({
    ...{ audio_file_id: idOf(1, (n % 30_000) + 1), artifact_type: "click" },
    ...{ start_ms: n, end_ms: n + 50 },
  }));
  const lookUps: Record<string, [table: string, lookUp: (db: Db) => Promise<unknown>]> = {
    "labels equal to those of an import": ["annotations", (db) => countEqualAnnotations(db, set, labels)],
    "audio files by name": ["audio_files", (db) => findAudioFiles(db, tenant, one, [], ["take 7.wav"])],
    "audio files by id or name": ["audio_files", (db) => findAudioFiles(db, tenant, one, ids, ["a", "b"])],
    "audio files": ["audio_files", (db) => manyAudioFiles(db, tenant, one, ids)],
    "lengths of audio": ["audio_files", (db) => lengthsOfAudio(db, tenant, one, ids)],
    "names of audio": ["audio_files", (db) => namesOfAudio(db, tenant, one, ids)],
    "an audio file": ["audio_files", (db) => oneAudioFile(db, tenant, one, ids[1]!)],
    "an annotation": ["annotations", (db) => oneAnnotation(db, set, labelIds[1]!)],
    annotations: ["annotations", (db) => manyAnnotations(db, set, labelIds)],
    "annotations as text": ["annotations", (db) => manyAnnotationTexts(db, set, labelIds)],
    "annotations to change": ["annotations", (db) => manyAnnotationsToChange(db, set, labelIds)],
    "changed annotations": [
      "annotations",
      async (db) => await updateAnnotations(db, set, [await oneAnnotation(db, set, labelIds[1]!)]),
    ],
    "annotations to delete": ["annotations", (db) => deleteAnnotations(db, set, labelIds)],
    "a file of a job": ["inference_files", (db) => oneInferenceFile(db, tenant, job, fileIds[1]!)],
    "files of a job": ["inference_files", (db) => manyInferenceFiles(db, tenant, job, fileIds)],
    "names of files of a job": ["inference_files", (db) => namesOfInferenceFiles(db, tenant, job, fileIds)],
  };

  it.each(Object.entries(lookUps))("of %s read few rows besides", async (_, [table, lookUp]) => {
    await database.apiPool.asTenant(tenant).transaction(async (tx) => {
      // The statistics of this transaction alone.
      const read = () =>
        tx.oneFirst(sql.type(z.object({ rows: z.number() }))`
          select (seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables where relname = ${table}`);
      const before = await read();
      await lookUp(tx);
      expect((await read()) - before).toBeLessThan(10);
    });
  });

  it("of labels count those with the same file, type and times", async () => {
    const db = database.apiPool.asTenant(tenant);
    const [first, last] = labels;
    const others = [
      { ...first!, end_ms: 1_000 },
      { ...first!, artifact_type: "hum" },
      { ...first!, start_ms: 0 },
    ];
    expect(await countEqualAnnotations(db, set, [first!, ...others, last!])).toEqual([1, 0, 0, 0, 1]);
  });
});

const none = sql.type(z.object({}));

describe("a deletion in pieces, where Postgres expects one row of tables that have very many", () => {
  beforeAll(() => database.pool.query(none`update pg_class set reltuples = 1 where relkind = 'r'`));
  afterAll(() => database.pool.query(none`analyze`));

  const deletions: Record<string, Read> = {
    "labels of a file": (db) => deleteAnnotationsOfAudio(db, tenant, one, idOf(2)),
    "labels of a set": (db) => deletePiece(db, "annotation_set", tenant, idOf(2)),
    "files of a dataset": (db) => deletePiece(db, "dataset", tenant, idOf(2)),
    "deliveries of a webhook": (db) => deletePiece(db, "webhook", tenant, idOf(2)),
  };
  it.each(Object.entries(deletions))("finds the %s by their places", async (_, deletion) => {
    const plans: Plan[] = [];
    await database.apiPool.asTenant(tenant).transaction((tx) => deletion(recording(tx, plans)));
    const places = plans.flatMap(({ Plans = [] }) => Plans.filter((node) => node["Relation Name"]));
    expect(new Set(places.map((node) => node["Node Type"]))).toEqual(new Set(["Tid Scan"]));
  });
});

describe("background work", () => {
  it("is found by an index", async () => {
    expect(await doBackgroundWork(database.operatorPool)).toBeNull();
    const text = await database.pool.oneFirst(sql.type(z.object({ prosrc: z.string() }))`
      select prosrc from pg_proc where proname = 'next_background_work'`);
    const plans: Plan[] = [];
    const db = recording(database.pool, plans);
    await db.any({ ...sql.unsafe``, sql: text, values: [] } as never);
    // The indexes contain nothing but rows with work, so they are read whole.
    const indexes = plans.flatMap(nodesOf).flatMap((node) => node["Index Name"] ?? []);
    expect(new Set(indexes)).toEqual(
      new Set([
        "annotation_sets_work",
        "datasets_work",
        "inference_jobs_work",
        "webhooks_work",
        "annotation_sets_page",
      ]),
    );
    expect(plans.flatMap(nodesOf).map((node) => node["Node Type"])).not.toContain("Seq Scan");
  });

  const deletions = {
    annotations: async () => {
      await database.pool.query(none`update datasets set deleted_at = now() where id = ${one}`);
      await database.pool.query(none`
        update annotation_sets set status = 'draft', deleted_at = now() where dataset_id = ${one}`);
    },
    detections: async () => {
      await database.pool.query(none`
        insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms,
          end_ms, confidence)
        select gen_random_uuid(), tenant_id, inference_job_id, id, n, 'click', n, n, 1
        from inference_files, generate_series(1001, 11000) n where inference_job_id = ${one}`);
      await database.pool.query(none`update inference_jobs set deleted_at = now() where id = ${one}`);
    },
  };
  it.each(Object.entries(deletions))(
    "reads only the %s of its pieces, even if the deleted row has most of all",
    async (table, deletion) => {
      await deletion();
      // What this connection itself has read; reads of others reach the common statistics at any time.
      const counts = sql.type(z.object({ scans: z.number(), read: z.number(), deleted: z.number() }))`
        select seq_scan as scans, idx_tup_fetch as read, n_tup_del as deleted
        from pg_stat_xact_user_tables where relname = ${table}`;
      const sum = { scans: 0, read: 0, deleted: 0 };
      let pieces = 0;
      const piece = () =>
        database.operatorPool.transaction(async (tx) => {
          const before = await tx.one(counts);
          const done = await doBackgroundWork(tx);
          const after = await tx.one(counts);
          sum.scans += after.scans - before.scans;
          sum.read += after.read - before.read;
          sum.deleted += after.deleted - before.deleted;
          return done;
        });
      while (await piece()) pieces++;
      expect(pieces).toBeGreaterThan(3);
      expect(sum.deleted).toBeGreaterThan(15_000);
      expect(sum.scans).toBe(0);
      // A few rows more are looked up for foreign keys.
      expect(sum.read).toBeLessThan(1.1 * sum.deleted);
    },
  );
});
