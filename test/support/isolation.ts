// Building blocks of the tests of tenant isolation: a tenant with a row in every table, a snapshot of all its rows, the
// catalog's tables, and a database whose statements have no tenant predicate. None of it is used by src.
import { randomUUID } from "node:crypto";
import { type QuerySqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db } from "../../src/db/driver/page.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import type { Client } from "./api.ts";
import { addDetections, makeWorld, type World } from "./world.ts";

const nothing = z.object({});

/** Tables without rows of tenants, and the reason. Every other table must be isolated. */
export const tenantless: Readonly<Record<string, string>> = {
  schema_migrations: "lists the migrations of the schema",
  result_ingests: "ingested results of runs, visible to the operator only",
  installations: "the operators that work on the database, visible to the operator only",
  run_pods: "resource use of pods, visible to the operator only",
  shard_progress: "reported progress of runs, visible to the operator only",
};

export interface TenantTable {
  readonly name: string;
  /** The column that names the tenant of a row. */
  readonly column: string;
}

/** Every table with rows of tenants, from the database's catalog. */
export async function manyTenantTables(db: DatabasePool): Promise<readonly TenantTable[]> {
  const names = await db.anyFirst(sql.type(z.object({ name: z.string() }))`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') order by c.relname`);
  return names
    .filter((name) => !(name in tenantless))
    .map((name) => ({ name, column: name === "tenants" ? "id" : "tenant_id" }));
}

/** Ids of one row of every resource, under the names of the API's parameters and members. */
export type Ids = Readonly<Record<string, string>>;

/** A tenant with rows in every table: created through the API, and directly where only the operator creates rows. */
export async function makeFullWorld(client: Client, db: DatabasePool): Promise<Ids> {
  const world = await makeWorld(client, db);
  const { tenantId } = client;
  const set = `/api/v1/datasets/${world.datasetId}/annotation-sets/${world.annotationSetId}`;
  await client.put(`${set}/reviewed/${world.audioFileId}`);
  await client.post(
    "/api/v1/datasets",
    { name: "retried" },
    { "Idempotency-Key": "the same for all tenants" },
  );
  const hook = (await client.post("/api/v1/webhooks", { url: "https://hooks.example.com/x" })).body.id;
  const delivery = (await client.post(`/api/v1/webhooks/${hook}/test`)).body.id;
  await addDetections(db, tenantId, world.inferenceJobId, world.inferenceFileId, 3);
  await addByHand(db, tenantId, world);
  return {
    dataset_id: world.datasetId,
    audio_file_id: world.audioFileId,
    annotation_set_id: world.annotationSetId,
    from_annotation_set_id: world.annotationSetId,
    annotation_id: world.annotationId,
    training_job_id: world.trainingJobId,
    model_id: world.modelId,
    inference_job_id: world.inferenceJobId,
    inference_file_id: world.inferenceFileId,
    file_id: world.inferenceFileId,
    key_id: world.keyId,
    webhook_id: hook,
    delivery_id: delivery,
  };
}

async function addByHand(db: DatabasePool, tenantId: string, world: World): Promise<void> {
  await db.query(sql.type(nothing)`
    insert into training_job_files (tenant_id, training_job_id, audio_file_id, duration_ms, embedding_key,
      embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash)
    values (${tenantId}, ${world.trainingJobId}, ${world.audioFileId}, 360000, 'key', 'sha', 10, 'dsp', 'hash')`);
  await db.query(sql.type(nothing)`
    insert into training_metrics (tenant_id, training_job_id, name, step, value)
    values (${tenantId}, ${world.trainingJobId}, 'loss', 1, 0.5)`);
  for (const [kind, id] of [
    ["training", world.trainingJobId],
    ["inference", world.inferenceJobId],
  ])
    await db.query(sql.type(nothing)`
      insert into job_events (tenant_id, job_kind, job_id, level, type, message)
      values (${tenantId}, ${kind!}, ${id!}, 'info', 'message', ${`about ${id}`})`);
  const embedding = randomUUID();
  await db.query(sql.type(nothing)`
    insert into embedding_jobs (id, tenant_id, shard_count) values (${embedding}, ${tenantId}, 1)`);
  await db.query(sql.type(nothing)`
    update audio_files set embedding_job_id = ${embedding} where id = ${world.audioFileId}`);
  await db.query(sql.type(nothing)`
    insert into inference_files (id, tenant_id, inference_job_id, audio_file_id, filename, content_type, size_bytes,
      object_key, status)
    values (${randomUUID()}, ${tenantId}, ${world.inferenceJobId}, ${world.audioFileId}, 'take.wav', 'audio/wav', 1000,
      'audio/x', 'queued')`);
  await db.query(sql.type(nothing)`
    insert into event_positions (tenant_id, seq) values (${tenantId}, 1000000) on conflict do nothing`);
  await db.query(sql.type(nothing)`
    insert into events (tenant_id, seq, type, data, created_at)
    values (${tenantId}, 1000000, 'model.created', ${sql.jsonb({ model_id: world.modelId })}, now())`);
  await db.query(sql.type(nothing)`
    insert into audit_log (tenant_id, action, api_key_id, actor_key_id)
    values (${tenantId}, 'api_key.created', ${world.keyId}, ${world.keyId})`);
  await db.query(sql.type(nothing)`
    insert into rate_limits (tenant_id, free_at) values (${tenantId}, '{0,0,0,0,0}') on conflict do nothing`);
  await db.query(sql.type(nothing)`
    insert into leftovers (tenant_id, kind, target) values (${tenantId}, 'audio', ${world.audioFileId})`);
  await db.query(sql.type(nothing)`
    insert into url_uploads (tenant_id, audio_file_id, url, host)
    values (${tenantId}, ${world.audioFileId}, '\\x00', 'files.example.com')`);
  await db.query(sql.type(nothing)`
    insert into dashboard_sessions (digest, tenant_id, api_key_id, last_used_at, expires_at)
    values (sha256(${`session of ${tenantId}`}::bytea), ${tenantId}, ${world.keyId}, now(), now() + interval '1 hour')`);
  await db.query(sql.type(nothing)`
    insert into leases (tenant_id, id, holder, expires_at)
    values (${tenantId}, ${world.audioFileId}, gen_random_uuid(), now() + interval '1 hour')`);
}

/** All rows of a tenant, as one text per table. Two snapshots are equal when no row has changed. */
export async function pictureOf(
  db: DatabasePool,
  tenantId: string,
): Promise<Readonly<Record<string, string>>> {
  const tables = await manyTenantTables(db);
  const parts = tables.map(
    ({ name, column }) => sql.fragment`
      select ${name} as name, coalesce(string_agg(t::text, chr(10) order by t::text), '') as rows
      from ${sql.identifier([name])} t where ${sql.identifier([column])} = ${tenantId}`,
  );
  const rows = await db.any(sql.type(z.object({ name: z.string(), rows: z.string() }))`
    ${sql.join(parts, sql.fragment` union all `)}`);
  return Object.fromEntries(rows.map(({ name, rows: text }) => [name, text]));
}

const statements = [
  "any",
  "anyFirst",
  "exists",
  "maybeOne",
  "maybeOneFirst",
  "one",
  "oneFirst",
  "query",
] as const;

/**
 * A pool that makes every `tenant_id = $n` of its statements always true, so that only row-level security isolates the
 * tenants. `count` returns how many predicates it has replaced.
 */
export function withoutPredicates(pool: DatabasePool): { pool: DatabasePool; count(): number } {
  let count = 0;
  const rewritten = (query: QuerySqlToken): QuerySqlToken => ({
    ...query,
    sql: query.sql.replace(/(?:\b\w+\.)?"?\btenant_id"? = (\$\w+)(?:::uuid)?/g, (_, parameter) => {
      count += 1;
      return `(${parameter}::uuid is not null)`;
    }),
  });
  const wrapped = (db: Db): Db => ({
    ...db,
    ...Object.fromEntries(
      statements.map((name) => [name, (query: QuerySqlToken) => db[name](rewritten(query) as never)]),
    ),
    expecting: (missing) => {
      const expecting = db.expecting(missing);
      return {
        one: (query) => expecting.one(rewritten(query) as never),
        oneFirst: (query) => expecting.oneFirst(rewritten(query) as never),
      };
    },
    transaction: (handler) => db.transaction((tx) => handler(wrapped(tx))),
    asTenant: (id) => wrapped(db.asTenant(id)),
  });
  return {
    pool: {
      ...pool,
      ...wrapped(pool),
      connect: (work) => pool.connect((db, discard) => work(wrapped(db), discard)),
    },
    count: () => count,
  };
}
