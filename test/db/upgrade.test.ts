// The upgrade of an installation from the release before row-level security, with rows in its tables, while processes
// of the older release still write.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { isMigrated, migrate } from "../../src/db/driver/migrate.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const folder = join(import.meta.dirname, "../../src/db/migrations");
const migrations = readdirSync(folder).sort();
const older = ["0001_initial.sql", "0002_shard_progress.sql", "0003_annotation_set_versions.sql"];
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [tenant, dataset, set, audio, job, model, inference] = [1, 2, 3, 4, 5, 6, 7].map(uuid);

const present = `
  insert into tenants (id, name) values ('${tenant}', 'voices');
  insert into datasets (id, tenant_id, name) values ('${dataset}', '${tenant}', 'voices');
  insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, upload_expires_at) values
    ('${audio}', '${tenant}', '${dataset}', 'a.wav', 'audio/wav', 100, 'ready', now()),
    ('${uuid(41)}', '${tenant}', '${dataset}', 'b.wav', 'audio/wav', 20, 'pending_upload', now()),
    ('${uuid(42)}', '${tenant}', '${dataset}', 'c.wav', 'audio/wav', 3, 'expired', now());
  update audio_files set embedding_status = 'completed', duration_ms = 7000 where id = '${audio}';
  insert into annotation_sets (id, tenant_id, dataset_id, version) values ('${set}', '${tenant}', '${dataset}', 1);
  insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
  select gen_random_uuid(), '${tenant}', '${dataset}', '${set}', '${audio}', 'click', n, n from generate_series(1, 5) n;
  update annotation_sets set status = 'published' where id = '${set}';
  insert into annotation_sets (id, tenant_id, dataset_id, version) values ('${uuid(31)}', '${tenant}', '${dataset}', 2);
  insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
  select gen_random_uuid(), '${tenant}', '${dataset}', '${uuid(31)}', '${audio}', type, 10, 15
  from unnest('{click,hum,hum}'::text[]) type;
  insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version, config)
  values ('${job}', '${tenant}', '${dataset}', '${set}', 'voices', 1, '{}');
  insert into models (id, tenant_id, training_job_id, name, artifact_types, object_store_key, model_size_bytes,
    checksum_sha256, card_key, card_sha256, card_size_bytes, architecture, eval_metrics)
  values ('${model}', '${tenant}', '${job}', 'm', '{click}', 'k', 1, 'c', 'k', 'c', 1, '{}', '{}');
  insert into inference_jobs (id, tenant_id, model_id, config, total_files) values ('${inference}', '${tenant}', '${model}', '{}', 2);
  insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key, audio_file_id)
  values
    ('${uuid(71)}', '${tenant}', '${inference}', 'd.wav', 'audio/wav', 4000, 'inference/${tenant}/${uuid(71)}', null),
    ('${uuid(72)}', '${tenant}', '${inference}', 'a.wav', 'audio/wav', 100, 'audio/${tenant}/${audio}', '${audio}');
  insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms, end_ms, confidence)
  values (gen_random_uuid(), '${tenant}', '${inference}', '${uuid(71)}', 1, 'click', 0, 1, 1);`;

/** Statements of the older release, which write no tenant. */
const reported = (step: number, file: string) => `
  insert into training_job_files (training_job_id, audio_file_id, duration_ms, embedding_key, embedding_sha256,
    embedding_size_bytes, embedding_model, embedding_spec_hash)
  values ('${job}', '${file}', 1, 'k', 'c', 1, 'dsp', 'h');
  insert into training_metrics (training_job_id, name, step, value) values ('${job}', 'loss', ${step}, 0.5)
  on conflict (training_job_id, name, step) do update set value = excluded.value;`;

beforeAll(async () => {
  await run("drop schema public cascade; create schema public");
  await migrate(database.pool, older);
  await run(present);
  await run(reported(1, audio as string));
  await migrate(database.pool);
});

async function run(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe("the upgrade of a database with rows", () => {
  it("applies every migration", async () => {
    expect(await isMigrated(database.pool)).toBe(true);
  });

  it("initializes the counters from the existing rows", async () => {
    expect(
      await run("select annotation_count::int, revision::int from annotation_sets order by version"),
    ).toEqual([
      { annotation_count: 5, revision: 1 },
      { annotation_count: 3, revision: 1 },
    ]);
    expect(
      await run(`
        select total_annotations, total_positive_duration_ms::int, annotations_by_type from annotation_sets
        where status = 'draft'`),
    ).toEqual([
      {
        total_annotations: 3,
        total_positive_duration_ms: 15,
        annotations_by_type: { click: 1, hum: 2 },
      },
    ]);
    expect(
      await run("select audio_files::int, usable_files::int, usable_ms::int from dataset_usage"),
    ).toEqual([{ audio_files: 2, usable_files: 1, usable_ms: 7000 }]);
    expect(await run("select audio_bytes::int, inference_files::int from tenant_usage")).toEqual([
      { audio_bytes: 4120, inference_files: 2 },
    ]);
  });

  it("assigns rows that the older release still writes to the tenant of their job", async () => {
    await run(reported(1, uuid(41)));
    await run(reported(2, uuid(42)));
    const rows = await run(`
      select 'file' as what, tenant_id, count(*)::int from training_job_files group by tenant_id
      union all select 'metric', tenant_id, count(*)::int from training_metrics group by tenant_id order by what`);
    expect(rows).toEqual([
      { what: "file", tenant_id: tenant, count: 3 },
      { what: "metric", tenant_id: tenant, count: 2 },
    ]);
  });
});

describe("a migration outside a transaction", () => {
  it("can be repeated after a failure at its end", async () => {
    await run("drop schema public cascade; create schema public");
    for (const [i, name] of migrations.entries()) {
      const upTo = migrations.slice(0, i + 1);
      await migrate(database.pool, upTo);
      const text = readFileSync(join(folder, name), "utf8");
      if (!text.startsWith("-- online")) continue;
      await run(`delete from schema_migrations where name = '${name}'`);
      expect(await migrate(database.pool, upTo)).toEqual([name]);
    }
  });
});

describe("the upgrade of a database with events", () => {
  it("continues the numbers of each tenant from the last common number", async () => {
    await run("drop schema public cascade; create schema public");
    const before = migrations.filter((name) => name < "0026");
    await migrate(database.pool, before);
    const other = uuid(8);
    await run(`insert into tenants (id, name) values ('${tenant}', 'voices'), ('${other}', 'others')`);
    const emit = (of: string) =>
      `insert into event_inbox (tenant_id, type, data) values ('${of}', 'model.created', '{}');`;
    await run(`${emit(tenant!)} ${emit(other)} ${emit(tenant!)} select stamp_events(100)`);
    const numbers = () => run("select tenant_id, seq::int from events order by seq, tenant_id");
    const old = await numbers();
    expect(old.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await migrate(database.pool);
    expect(await numbers()).toEqual(old);
    await run(`${emit(other)} ${emit(tenant!)} ${emit(other)} select stamp_events(100)`);
    expect((await numbers()).slice(3)).toEqual([
      { tenant_id: tenant, seq: 4 },
      { tenant_id: other, seq: 4 },
      { tenant_id: other, seq: 5 },
    ]);
  });
});

describe("the upgrade of a database with ingests", () => {
  it("deletes those of jobs that are not open, unless the purge queue will", async () => {
    await run("drop schema public cascade; create schema public");
    await migrate(
      database.pool,
      migrations.filter((name) => name < "0037"),
    );
    const [open, ended, waiting, gone] = [1, 2, 3, 4].map((n) => `ej-${uuid(n)}-1`);
    await run(`
      insert into tenants (id, name) values ('${tenant}', 'voices');
      insert into embedding_jobs (id, tenant_id, shard_count, status) values
        ('${uuid(1)}', '${tenant}', 1, 'running'), ('${uuid(2)}', '${tenant}', 1, 'completed'),
        ('${uuid(3)}', '${tenant}', 1, 'failed');
      insert into leftovers (tenant_id, kind, target) values ('${tenant}', 'run', 'ej-${uuid(3)}');
      insert into result_ingests (run_id, shard, digest)
      select run, shard, 'd' from unnest('{${open},${ended},${waiting},${gone}}'::text[]) run, generate_series(0, 1) shard`);
    await migrate(database.pool);
    expect(
      await run("select run_id, count(*)::int from result_ingests group by run_id order by run_id"),
    ).toEqual([
      { run_id: open, count: 2 },
      { run_id: waiting, count: 2 },
    ]);
  });
});
