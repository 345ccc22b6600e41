// Random sequences of concurrent clients: a published set never changes and its statistics equal a recount, no version
// is used twice, and no confirmed write is lost. PLOSIVE_TEST_SEED repeats a run.
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, useApi } from "../support/api.ts";
import { rounds, seed } from "../support/trial.ts";
import { documentOf, isOverShare, type Notes, type Place, playSequence, type Write } from "./sequence.ts";

const api = useApi();
const count = rounds({ slice: 250, full: 1_000 });
const atOnce = 12;
const played: { place: Place; notes: Notes }[] = [];
let clients: Client[];

beforeAll(async () => {
  clients = await Promise.all(Array.from({ length: 4 }, () => api.tenant()));
  const places = await makePlaces();
  const queue = [...places.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, place] = next;
      played.push({ place, notes: await playSequence(place, seed + i, 5) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}, 300_000);

/** Datasets with two files each, inserted directly into the database, since they are not under test. */
async function makePlaces(): Promise<Place[]> {
  const tenants = clients.map((client) => client.tenantId);
  const rows = await api.db.any(sql.type(
    z.object({ tenant_id: z.string(), dataset_id: z.string(), audio: z.array(z.string()) }),
  )`
    with made as (
      insert into datasets (id, tenant_id, name, artifact_types)
      select gen_random_uuid(), (${sql.array(tenants, "uuid")})[1 + n % ${tenants.length}::int], 'n' || n,
        '[{"name":"click","description":null},{"name":"hum","description":null}]'
      from generate_series(1, ${count}::int) n returning id, tenant_id
    ), files as (
      insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, duration_ms,
        embedding_status, upload_expires_at, uploaded_at)
      select gen_random_uuid(), tenant_id, id, 'take.wav', 'audio/wav', 1000, 'ready', 60000, 'completed', now(), now()
      from made, generate_series(1, 2) returning id, dataset_id
    )
    select made.tenant_id, made.id as dataset_id, array_agg(files.id) as audio
    from made join files on files.dataset_id = made.id group by made.tenant_id, made.id`);
  const keys = new Map(clients.map((client) => [client.tenantId, client.key]));
  return rows.map((row) => ({
    url: api.url,
    key: keys.get(row.tenant_id)!,
    datasetId: row.dataset_id,
    audioFileIds: row.audio,
  }));
}

const everything = () => played.flatMap(({ notes }) => notes.requests);
const allSets = () => played.flatMap(({ notes }) => [...notes.sets]);
const published = () => allSets().filter(([, set]) => set.published !== undefined);

afterAll(() => {
  const statuses: Record<string, number> = {};
  for (const { status } of everything()) statuses[status] = (statuses[status] ?? 0) + 1;
  console.info(
    `${played.length} sequences from seed ${seed}: ${everything().length} requests ${JSON.stringify(statuses)}, ${allSets().length} sets, ${published().length} published`,
  );
});

describe("random sequences of concurrent clients", () => {
  it("cause no server error and cover successes, conflicts and missing resources", () => {
    expect(played.length).toBe(count);
    const fine = [200, 201, 204, 404, 409];
    expect(
      everything()
        .filter(({ status, text }) => !fine.includes(status) && !isOverShare(status, text))
        .slice(0, 5),
    ).toEqual([]);
    const refused = everything().filter(({ status, text }) => isOverShare(status, text));
    expect(refused.length).toBeLessThan(everything().length / 20);
    for (const status of fine)
      expect(everything().filter((request) => request.status === status).length).toBeGreaterThan(count / 50);
    expect(published().length).toBeGreaterThan(count / 5);
  });

  it("never change a published set or its marks", async () => {
    const faults: string[] = [];
    for (const { place, notes } of played) {
      for (const [id, { published }] of notes.sets) {
        if (published !== undefined && (await documentOf(place, id)) !== published.document) faults.push(id);
      }
    }
    expect(faults).toEqual([]);
  });

  it("leave published statistics that equal a recount and the answer to the publication", async () => {
    const rows = await api.db.any(sql.type(
      z.object({
        id: z.string(),
        total: z.number(),
        length: z.number(),
        types: z.record(z.string(), z.number()),
      }),
    )`
      select s.id, coalesce(sum(t.n), 0)::int as total, coalesce(sum(t.length), 0)::bigint as length,
        coalesce(jsonb_object_agg(t.artifact_type, t.n) filter (where t.n is not null), '{}') as types
      from annotation_sets s left join (
        select annotation_set_id, artifact_type, count(*)::int as n, sum(end_ms - start_ms) as length
        from annotations group by annotation_set_id, artifact_type
      ) t on t.annotation_set_id = s.id
      where s.status = 'published' group by s.id`);
    const recounted = new Map(rows.map(({ id, total, length, types }) => [id, { total, length, types }]));
    expect(recounted.size).toBe(published().length);
    for (const [id, set] of published()) {
      const answer = set.published!.answer;
      expect({
        total: answer.total_annotations,
        length: answer.total_positive_duration_ms,
        types: answer.annotations_by_type,
      }).toEqual(recounted.get(id));
    }
  });

  it("leave drafts whose statistics equal a recount", async () => {
    const counted = sql.fragment`
      select s.id, s.total_annotations = coalesce(sum(t.n), 0)
          and s.annotation_count = coalesce(sum(t.n), 0)
          and s.total_positive_duration_ms = coalesce(sum(t.length), 0)
          and s.annotations_by_type
            = coalesce(jsonb_object_agg(t.artifact_type, t.n) filter (where t.n is not null), '{}') as equal
      from annotation_sets s left join (
        select annotation_set_id, artifact_type, count(*)::int as n, sum(end_ms - start_ms) as length
        from annotations group by annotation_set_id, artifact_type
      ) t on t.annotation_set_id = s.id
      where s.status = 'draft' group by s.id`;
    const drafts = await api.db.one(sql.type(z.object({ equal: z.number(), other: z.number() }))`
      select count(*) filter (where equal) as equal, count(*) filter (where not equal) as other
      from (${counted}) counted`);
    expect(drafts.other).toBe(0);
    expect(drafts.equal).toBeGreaterThan(count / 10);
  });

  it("get each version number once", () => {
    for (const { notes } of played) {
      const versions = [...notes.sets.values()].map((set) => set.version);
      expect(new Set(versions).size).toBe(versions.length);
    }
  });

  it("lose no confirmed write and store no unconfirmed one", async () => {
    const rows = await api.db.any(
      sql.type(
        z.object({ id: z.string(), annotation_set_id: z.string(), start_ms: z.number() }),
      )`select id, annotation_set_id, start_ms from annotations`,
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    const perSet = new Map<string, number>();
    for (const row of rows) perSet.set(row.annotation_set_id, (perSet.get(row.annotation_set_id) ?? 0) + 1);

    const expected = new Map(allSets().map(([id, set]) => [id, set.isDeleted ? 0 : set.copied]));
    for (const { notes } of played) {
      for (const [id, { setId, writes, isDeleted }] of notes.annotations) {
        const isThere = !isDeleted && !notes.sets.get(setId)!.isDeleted;
        expect(found.has(id), `annotation ${id} of set ${setId}`).toBe(isThere);
        if (!isThere) continue;
        expected.set(setId, expected.get(setId)! + 1);
        expect(possibleLast(writes), `annotation ${id}`).toContain(found.get(id)!.start_ms);
      }
    }
    expect(Object.fromEntries(perSet)).toEqual(Object.fromEntries([...expected].filter(([, n]) => n > 0)));
  });
});

/** The values that may have been written last: those of writes that ended after every other write had begun. */
function possibleLast(writes: readonly Write[]): number[] {
  return writes
    .filter((write) => !writes.some((other) => other.began > write.ended))
    .map((write) => write.startMs);
}
