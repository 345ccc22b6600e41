// Deletion of a dataset whose published set has very many labels, in several statements.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { deleteDataset } from "../../src/db/dataset.ts";
import { isFrozen } from "../../src/db/driver/errors.ts";
import { doBackgroundWork } from "../../src/db/operator/background-work.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertEmbeddedAudio, insertTenant } from "../support/rows.ts";

const database = useDatabase();
const none = sql.type(z.object({}));
const counted = sql.type(z.object({ count: z.number() }));

/** A dataset whose published set has `labels` labels, of two files in turn. */
async function publishedSet(labels: number) {
  const tenant = await insertTenant(database.pool);
  const dataset = await insertDataset(database.pool, tenant);
  const files = [
    await insertEmbeddedAudio(database.pool, tenant, dataset),
    await insertEmbeddedAudio(database.pool, tenant, dataset),
  ];
  const set = randomUUID();
  await database.pool.query(none`
    insert into annotation_sets (id, tenant_id, dataset_id, version) values (${set}, ${tenant}, ${dataset}, 1)`);
  await database.pool.query(none`
    insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
    select gen_random_uuid(), ${tenant}, ${dataset}, ${set}, (${sql.array(files, "uuid")})[n % 2 + 1], 'click', n, n + 1
    from generate_series(1, ${labels}::int) n`);
  await database.pool.query(none`update annotation_sets set status = 'published' where id = ${set}`);
  return { tenant, dataset, set };
}

const labelsOf = (set: string) =>
  database.pool.oneFirst(counted`select count(*) as count from annotations where annotation_set_id = ${set}`);

describe("a dataset with a published set", () => {
  it("is deleted with its labels, at most 5,000 per statement", async () => {
    const { tenant, dataset, set } = await publishedSet(25_000);
    await database.pool.query(none`create table deletions (labels bigint not null)`);
    await database.pool.query(none`
      create function count_deleted() returns trigger language plpgsql security definer as $$
      begin
        insert into deletions select count(*) from changed;
        return null;
      end $$`);
    await database.pool.query(none`
      create trigger count_deleted after delete on annotations
      referencing old table as changed for each statement execute function count_deleted()`);
    await deleteDataset(database.apiPool.asTenant(tenant), tenant, dataset);
    while (await doBackgroundWork(database.operatorPool));
    expect(await labelsOf(set)).toBe(0);
    expect(
      await database.pool.one(sql.type(z.object({ most: z.number(), total: z.number() }))`
        select max(labels) as most, sum(labels)::bigint as total from deletions`),
    ).toEqual({ most: 5_000, total: 25_000 });
  });

  it("stays complete and published when its deletion is rolled back", async () => {
    const { tenant, dataset, set } = await publishedSet(3);
    const half = database.apiPool.asTenant(tenant).transaction(async (tx) => {
      await deleteDataset(tx, tenant, dataset);
      throw new Error("the process ends here");
    });
    await expect(half).rejects.toThrow("the process ends here");
    expect(await labelsOf(set)).toBe(3);
    await expect(
      database.pool.query(none`delete from annotations where annotation_set_id = ${set}`),
    ).rejects.toSatisfy(isFrozen);
  });

  it("stays frozen for a transaction that marks the dataset as deleted and does not delete it", async () => {
    const { tenant, dataset, set } = await publishedSet(3);
    const unfrozen = database.apiPool.asTenant(tenant).transaction(async (tx) => {
      await tx.query(none`update datasets set deleting = true where id = ${dataset}`);
      await tx.query(none`update annotation_sets set status = 'draft' where id = ${set}`);
      await tx.query(none`delete from annotations where annotation_set_id = ${set}`);
    });
    await expect(unfrozen).rejects.toThrow("was to be deleted and is still there");
    expect(await labelsOf(set)).toBe(3);
  });
});
