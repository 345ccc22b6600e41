// The numbers of files that a dataset and the list of its files show: kept by triggers, equal to a count after every kind of
// change.
import { randomUUID } from "node:crypto";
import { type FragmentSqlToken, sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { listAudioFiles } from "../../src/db/audio-file.ts";
import { listDatasets, oneDataset } from "../../src/db/dataset.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertEmbeddedAudio, insertTenant } from "../support/rows.ts";

const database = useDatabase();
const numbers = z.object({
  audio_file_count: z.number(),
  total_duration_ms: z.number(),
  embedded_audio_file_count: z.number(),
});
const run = (statement: FragmentSqlToken) => database.pool.query(sql.type(z.object({}))`${statement}`);

const counted = (dataset: string) =>
  database.pool.one(sql.type(numbers)`
    select count(*) filter (where status <> 'expired' and not (status = 'pending_upload' and upload_expires_at <= now()))
        as audio_file_count,
      coalesce(sum(duration_ms) filter (where status = 'ready' and embedding_status = 'completed'), 0)::bigint
        as total_duration_ms,
      count(*) filter (where status = 'ready' and embedding_status = 'completed') as embedded_audio_file_count
    from audio_files where dataset_id = ${dataset}`);

async function emptyDataset() {
  const tenant = await insertTenant(database.pool);
  const dataset = await insertDataset(database.pool, tenant);
  const db = database.apiPool.asTenant(tenant);
  return {
    tenant,
    dataset,
    /** What a client sees, in the list and alone. */
    shown: async () => {
      const { items } = await listDatasets(db, tenant, { page: 1, page_size: 100 });
      const alone = await oneDataset(db, tenant, dataset);
      expect(items.find(({ id }) => id === dataset)).toEqual(alone);
      const files = await listAudioFiles(db, tenant, dataset, { page: 1, page_size: 100 });
      expect(files.total).toBe(files.items.length);
      return numbers.parse(alone);
    },
    addPending: async (expires: string) => {
      const id = randomUUID();
      await run(sql.fragment`
        insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, upload_expires_at)
        values (${id}, ${tenant}, ${dataset}, 'a.wav', 'audio/wav', 10, now() + ${expires}::interval)`);
      return id;
    },
  };
}

describe("the numbers of a dataset", () => {
  it("equal a count after every kind of change", async () => {
    const { tenant, dataset, shown, addPending } = await emptyDataset();
    const other = await insertDataset(database.pool, tenant);
    await insertEmbeddedAudio(database.pool, tenant, other);

    const step = async (statement: FragmentSqlToken | null, ...wanted: [number, number, number]) => {
      if (statement !== null) await run(statement);
      const [audio_file_count, total_duration_ms, embedded_audio_file_count] = wanted;
      expect(await shown()).toEqual({ audio_file_count, total_duration_ms, embedded_audio_file_count });
      expect(await counted(dataset)).toEqual(await shown());
    };
    await step(null, 0, 0, 0);
    const upload = await addPending("1 hour");
    await step(null, 1, 0, 0);
    await addPending("-1 second");
    await step(null, 1, 0, 0);
    await step(
      sql.fragment`update audio_files set status = 'expired' where upload_expires_at < now()`,
      1,
      0,
      0,
    );
    await step(
      sql.fragment`update audio_files set status = 'processing', duration_ms = 900 where id = ${upload}`,
      1,
      0,
      0,
    );
    await step(
      sql.fragment`
        update audio_files set status = 'ready', embedding_status = 'completed', duration_ms = 1000,
          embedding_key = 'k', embedding_sha256 = ${"a".repeat(64)}, embedding_size_bytes = 1, embedding_model = 'm',
          embedding_spec_hash = 'h'
        where id = ${upload}`,
      1,
      1_000,
      1,
    );
    const more = [
      await insertEmbeddedAudio(database.pool, tenant, dataset),
      await insertEmbeddedAudio(database.pool, tenant, dataset),
    ];
    await step(null, 3, 801_000, 3);
    await step(
      sql.fragment`update audio_files set duration_ms = duration_ms + 1 where tenant_id = ${tenant}`,
      3,
      801_003,
      3,
    );
    await step(sql.fragment`update audio_files set filename = 'b.wav' where id = ${upload}`, 3, 801_003, 3);
    await step(
      sql.fragment`update audio_files set embedding_status = 'pending' where id = ${more[0]!}`,
      3,
      401_002,
      2,
    );
    await step(sql.fragment`update audio_files set status = 'failed' where id = ${more[1]!}`, 3, 1_001, 1);
    await step(sql.fragment`delete from audio_files where id = any(${sql.array(more, "uuid")})`, 1, 1_001, 1);
    await step(sql.fragment`delete from audio_files where id = ${upload}`, 0, 0, 0);
  });

  it("stay exact when several transactions change files at once", async () => {
    const { tenant, dataset, shown } = await emptyDataset();
    const files = await Promise.all(
      Array.from({ length: 8 }, () => insertEmbeddedAudio(database.pool, tenant, dataset)),
    );
    await Promise.all(
      files.map((file, i) =>
        i % 2 === 0
          ? run(sql.fragment`delete from audio_files where id = ${file}`)
          : run(sql.fragment`update audio_files set duration_ms = ${i} where id = ${file}`),
      ),
    );
    expect(await shown()).toEqual({
      audio_file_count: 4,
      total_duration_ms: 1 + 3 + 5 + 7,
      embedded_audio_file_count: 4,
    });
  });
});
