// The statistics of a draft: updated on every kind of change, equal to a count of the labels, and read without
// counting.
import { randomUUID } from "node:crypto";
import { type FragmentSqlToken, sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { insertAnnotationSet, listAnnotationSets, oneAnnotationSet } from "../../src/db/annotation-set.ts";
import { unlimitedAnnotations } from "../../src/db/quota.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertEmbeddedAudio, insertTenant } from "../support/rows.ts";

const database = useDatabase();
const none = sql.type(z.object({}));
const statistics = z.object({
  total_annotations: z.number(),
  total_positive_duration_ms: z.number(),
  annotations_by_type: z.record(z.string(), z.number()),
});

const run = (statement: FragmentSqlToken) => database.pool.query(none`${statement}`);

async function emptyDraft() {
  const tenant = await insertTenant(database.pool);
  const dataset = await insertDataset(database.pool, tenant);
  const audio = [
    await insertEmbeddedAudio(database.pool, tenant, dataset),
    await insertEmbeddedAudio(database.pool, tenant, dataset),
  ];
  const set = randomUUID();
  await run(sql.fragment`
    insert into annotation_sets (id, tenant_id, dataset_id, version) values (${set}, ${tenant}, ${dataset}, 1000)`);
  const db = database.apiPool.asTenant(tenant);
  return {
    db,
    tenant,
    dataset,
    audio,
    set,
    stored: async (setId: string = set) =>
      statistics.parse(await oneAnnotationSet(db, { tenantId: tenant, datasetId: dataset, setId })),
    /** Inserts labels; the n-th has a length of `n % 7` ms. */
    add: (type: string, file: number, labels: number) =>
      run(sql.fragment`
        insert into annotations
          (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
        select gen_random_uuid(), ${tenant}, ${dataset}, ${set}, ${audio[file]!}, ${type}, n, n + n % 7
        from generate_series(1, ${labels}::int) n`),
  };
}

const counted = (set: string) =>
  database.pool.one(sql.type(statistics)`
    select coalesce(sum(labels), 0)::bigint as total_annotations,
      coalesce(sum(length), 0)::bigint as total_positive_duration_ms,
      coalesce(jsonb_object_agg(artifact_type, labels) filter (where labels > 0), '{}') as annotations_by_type
    from (
      select artifact_type, count(*) as labels, sum(end_ms - start_ms) as length
      from annotations where annotation_set_id = ${set} group by artifact_type
    ) t`);

describe("the statistics of a draft", () => {
  it("equal a count after every kind of change", async () => {
    const { add, stored, set, audio, db, tenant, dataset } = await emptyDraft();
    expect(await stored()).toEqual({
      total_annotations: 0,
      total_positive_duration_ms: 0,
      annotations_by_type: {},
    });
    const changes: (() => Promise<unknown>)[] = [
      () => add("click", 0, 20),
      () => add('a "hum", {1}', 1, 9),
      () => run(sql.fragment`update annotations set artifact_type = 'buzz' where start_ms in (3, 4)`),
      () => run(sql.fragment`update annotations set end_ms = end_ms + 11 where start_ms < 9`),
      () => run(sql.fragment`update annotations set confidence = 0.25`),
      () => run(sql.fragment`update annotations set artifact_type = 'pop' where artifact_type = 'buzz'`),
      () =>
        run(sql.fragment`delete from annotations where annotation_set_id = ${set} and artifact_type = 'pop'`),
      () => run(sql.fragment`delete from audio_files where id = ${audio[1]!}`),
    ];
    for (const change of changes) {
      await change();
      expect(await stored(), String(change)).toEqual(await counted(set));
    }
    expect(await stored()).toMatchObject({ annotations_by_type: { click: 18 } });
    const copy = await insertAnnotationSet(db, tenant, dataset, set, unlimitedAnnotations);
    expect(await stored(copy.id)).toEqual(await stored());
  });

  it("equal a count after many concurrent writers without locks of their own", async () => {
    const { add, stored, set } = await emptyDraft();
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(n % 2 === 0 ? "click" : "hum", n % 2, n)));
    expect(await stored()).toMatchObject({ annotations_by_type: { click: 90, hum: 100 } });
    expect(await stored()).toEqual(await counted(set));
  });

  it("are read without access to the labels", async () => {
    const { add, stored, db, tenant, dataset } = await emptyDraft();
    await add("click", 0, 5);
    await database.pool.connect(async (locker) => {
      await locker.query(none`begin`);
      // Any read of the table now blocks until the statement timeout.
      await locker.query(none`lock table annotations in access exclusive mode`);
      expect((await stored()).total_annotations).toBe(5);
      const page = await listAnnotationSets(db, tenant, dataset, { page: 1, page_size: 10 });
      expect(page.items.map((set) => set.total_annotations)).toEqual([5]);
      await locker.query(none`rollback`);
    });
  });
});
