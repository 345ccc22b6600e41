// The data of the benchmark: a database with one tenant, its jobs and its annotations, created by SQL in seconds.
// Called by test/bench/main.ts.
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { hashApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";
import { migrate } from "../../src/db/driver/migrate.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";

export interface World {
  readonly databaseUrl: string;
  readonly key: string;
  /** The key's digest as hexadecimal digits. */
  readonly keyHash: string;
  readonly tenantId: string;
  readonly datasetId: string;
  /** A draft with 10,000 annotations on 50 files. */
  readonly setId: string;
  /** Files of the dataset, an hour each. */
  readonly audioIds: readonly string[];
  /** An empty draft. */
  draft(): Promise<string>;
  /** A published set with this many annotations. */
  bigSet(annotations: number): Promise<string>;
  /** Does the database's maintenance now (vacuum, checkpoint, ...), so that it does not fall into a measurement. */
  settle(): Promise<void>;
  end(): Promise<void>;
}

const artifactTypes = ["click", "plosive", "mouth_click", "clipping"];

export async function makeWorld(
  adminUrl: string,
  sizes: { jobs: number; annotations: number },
): Promise<World> {
  const url = new URL(adminUrl);
  url.pathname = "/bench";
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query("create database bench");
  await admin.end();
  const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: url.href, PLOSIVE_DATABASE_POOL: 2 }, 60_000);
  await migrate(pool);
  await pool.end();

  const db = new Client({ connectionString: url.href });
  await db.connect();
  const one = async (text: string, values: unknown[] = []): Promise<string> =>
    (await db.query(text, values)).rows[0].id;
  const tenantId = await one(
    "insert into tenants (id, name) values (gen_random_uuid(), 'bench') returning id",
  );
  const key = makeApiKey(randomBytes);
  await db.query(
    "insert into api_keys (id, tenant_id, name, key_prefix, key_hash) values (gen_random_uuid(), $1, 'bench', $2, $3)",
    [tenantId, prefixOf(key), hashApiKey(key)],
  );
  const datasetId = await one(
    "insert into datasets (id, tenant_id, name, artifact_types) values (gen_random_uuid(), $1, 'voices', $2) returning id",
    [tenantId, JSON.stringify(artifactTypes.map((name) => ({ name, description: null })))],
  );
  const audio = await db.query<{ id: string }>(
    `insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, embedding_status,
       duration_ms, upload_expires_at, uploaded_at)
     select gen_random_uuid(), $1, $2, 'take ' || n || '.wav', 'audio/wav', 1000000, 'ready', 'completed', 3600000, now(), now()
     from generate_series(1, 50) n returning id`,
    [tenantId, datasetId],
  );
  const audioIds = audio.rows.map((row) => row.id);

  let version = 0;
  const draft = async () => {
    version += 1;
    return await one(
      "insert into annotation_sets (id, tenant_id, dataset_id, version) values (gen_random_uuid(), $1, $2, $3) returning id",
      [tenantId, datasetId, version],
    );
  };
  const fill = async (setId: string, annotations: number) => {
    // Constraint checks of these rows would only cost time.
    await db.query("set session_replication_role = replica");
    await db.query(
      `insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
         end_ms, confidence, extra_data)
       select gen_random_uuid(), $1, $2, $3, ($4::uuid[])[1 + n % 50], ($5::text[])[1 + n % 4], s.start_ms,
         s.start_ms + 20 + n % 200, (n % 100) / 100.0,
         case when n % 2 = 0 then '{}' else jsonb_build_object('note', 'öfter gehört', 'by', n % 7) end
       from generate_series(1, $6::int) n, lateral (select (n::bigint * 7919) % 3500000 as start_ms) s`,
      [tenantId, datasetId, setId, audioIds, artifactTypes, annotations],
    );
    await db.query("set session_replication_role = origin");
    // The counters that the disabled triggers would have maintained.
    await db.query(
      `update annotation_sets set annotation_count = c.labels, total_annotations = c.labels,
         total_positive_duration_ms = c.duration_ms, annotations_by_type = c.by_type
       from (
         select sum(labels) as labels, sum(duration_ms) as duration_ms, jsonb_object_agg(artifact_type, labels) as by_type
         from (
           select artifact_type, count(*) as labels, sum(end_ms - start_ms) as duration_ms
           from annotations where annotation_set_id = $1 group by artifact_type
         ) t
       ) c where id = $1`,
      [setId],
    );
  };
  const setId = await draft();
  await fill(setId, sizes.annotations);
  await db.query(
    `insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
       config, status, progress_percent, metrics, platform_job_name, created_at, submitted_at, queued_at, started_at, completed_at)
     select gen_random_uuid(), $1, $2, $3, 'voices', 1, $4, 'completed', 100, $5, 'tj-' || n, t, t, t, t, t
     from generate_series(1, $6::int) n, lateral (select now() - n * interval '1 minute' as t) s`,
    [
      tenantId,
      datasetId,
      setId,
      JSON.stringify({
        artifact_types: artifactTypes,
        epochs: 20,
        validation_split: 0.2,
        learning_rate: 0.001,
        batch_size: 32,
        chunk_size_ms: 500,
        stride_ms: 250,
      }),
      JSON.stringify({ macro_f1: 0.91, loss: 0.0123, by_type: { click: { f1: 0.9, threshold: 0.5 } } }),
      sizes.jobs,
    ],
  );
  await db.query("vacuum analyze");

  return {
    databaseUrl: url.href,
    key,
    keyHash: hashApiKey(key).toString("hex"),
    tenantId,
    datasetId,
    setId,
    audioIds,
    draft,
    bigSet: async (annotations) => {
      const id = await draft();
      await fill(id, annotations);
      await db.query("update annotation_sets set status = 'published', published_at = now() where id = $1", [
        id,
      ]);
      await db.query("vacuum analyze");
      return id;
    },
    settle: async () => {
      await db.query("vacuum analyze");
      await db.query("checkpoint");
    },
    end: () => db.end(),
  };
}

/** A thousand annotations as a client sends them: a third has extra data, and all are valid. */
export function bulkBody(audioIds: readonly string[]): string {
  const annotations = Array.from({ length: 1_000 }, (_, i) => ({
    audio_file_id: audioIds[i % audioIds.length],
    artifact_type: artifactTypes[i % artifactTypes.length],
    start_ms: i * 1_000,
    end_ms: i * 1_000 + 80,
    ...(i % 2 === 0 ? { confidence: (i % 100) / 100 } : {}),
    ...(i % 3 === 0 ? { extra_data: { note: "öfter gehört", by: i % 7 } } : {}),
  }));
  return JSON.stringify({ annotations });
}
