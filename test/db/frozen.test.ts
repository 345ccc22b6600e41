// Published sets in the database: it rejects every change of their annotations, from any role and in any way.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isFrozen } from "../../src/db/driver/errors.ts";
import { untilLocked } from "../support/locks.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertEmbeddedAudio, insertTenant } from "../support/rows.ts";

const database = useDatabase();
const none = sql.type(z.object({}));
const ids = sql.type(z.object({ id: z.string() }));

/** A dataset with a draft and a published set, with three annotations each on one file. */
async function twoSets() {
  const tenant = await insertTenant(database.pool);
  const dataset = await insertDataset(database.pool, tenant);
  const audio = await insertEmbeddedAudio(database.pool, tenant, dataset);
  const [draft, published] = await database.pool.anyFirst(ids`
    insert into annotation_sets (id, tenant_id, dataset_id, version)
    select gen_random_uuid(), ${tenant}, ${dataset}, n from generate_series(1, 2) n returning id`);
  const values = (set: string) => sql.fragment`
    select gen_random_uuid(), ${tenant}::uuid, ${dataset}::uuid, ${set}::uuid, ${audio}::uuid, 'click', n, n + 1
    from generate_series(1, 3) n`;
  const columns = sql.fragment`(id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)`;
  for (const set of [draft!, published!])
    await database.pool.query(none`insert into annotations ${columns} ${values(set)}`);
  await database.pool.query(none`update annotation_sets set status = 'published' where id = ${published!}`);
  return { tenant, dataset, audio, draft: draft!, published: published!, columns, values };
}

const digest = (set: string) =>
  database.pool.oneFirst(sql.type(z.object({ digest: z.string().nullable() }))`
    select string_agg(a::text, ' ' order by id) as digest from annotations a where annotation_set_id = ${set}`);

describe("a published set", () => {
  it("rejects inserts, updates, moves and deletions, alone or together with rows of a draft", async () => {
    const { dataset, audio, draft, published, columns, values } = await twoSets();
    const before = [await digest(draft), await digest(published)];
    const statements = [
      sql.fragment`insert into annotations ${columns} ${values(published)}`,
      sql.fragment`insert into annotations ${columns} ${values(draft)} union all ${values(published)}`,
      sql.fragment`update annotations set confidence = 0.5 where annotation_set_id = ${published}`,
      sql.fragment`update annotations set confidence = 0.5 where dataset_id = ${dataset}`,
      sql.fragment`update annotations set annotation_set_id = ${published} where annotation_set_id = ${draft}`,
      sql.fragment`update annotations set annotation_set_id = ${draft} where annotation_set_id = ${published}`,
      sql.fragment`delete from annotations where annotation_set_id = ${published}`,
      sql.fragment`delete from annotations where dataset_id = ${dataset}`,
      // Deletes annotations by cascade.
      sql.fragment`delete from audio_files where id = ${audio}`,
    ];
    for (const statement of statements)
      await expect(database.pool.query(none`${statement}`), statement.sql).rejects.toSatisfy(isFrozen);
    expect([await digest(draft), await digest(published)]).toEqual(before);
  });

  it("rejects a writer that began before the publication and took no lock", async () => {
    const { draft, columns, values } = await twoSets();
    let writing: Promise<unknown> = Promise.resolve();
    await database.pool.connect(async (publisher) => {
      await publisher.query(none`begin`);
      await publisher.query(none`update annotation_sets set status = 'published' where id = ${draft}`);
      // Blocks on the publisher; its snapshot does not contain the publication.
      writing = database.pool.query(none`insert into annotations ${columns} ${values(draft)}`);
      writing.catch(() => {});
      await untilLocked(database.pool);
      await publisher.query(none`commit`);
    });
    await expect(writing).rejects.toSatisfy(isFrozen);
  });
});

describe("a draft", () => {
  it("accepts the same statements, and is deleted with its annotations", async () => {
    const { draft, published, columns, values } = await twoSets();
    const before = await digest(published);
    expect(before).toContain(published);
    await database.pool.query(none`insert into annotations ${columns} ${values(draft)}`);
    await database.pool.query(
      none`update annotations set confidence = 0.5 where annotation_set_id = ${draft}`,
    );
    await database.pool.query(
      none`delete from annotations where annotation_set_id = ${draft} and start_ms = 1`,
    );
    await database.pool.query(none`delete from annotation_sets where id = ${draft}`);
    expect(await digest(draft)).toBeNull();
    expect(await digest(published)).toBe(before);
  });

  it("is deleted with its dataset, as a published set is", async () => {
    const { dataset, draft, published } = await twoSets();
    await database.pool.query(none`delete from datasets where id = ${dataset}`);
    expect([await digest(draft), await digest(published)]).toEqual([null, null]);
  });
});
