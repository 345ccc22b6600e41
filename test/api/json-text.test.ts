// The JSON that Postgres writes equals the JSON of the view functions for the same rows, for any content, and batches
// join without a gap.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { eachAnnotationText } from "../../src/db/annotation-text.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();

/** Extra data of clients; each case has a detail that one of the two JSON writers could get wrong. */
const extraDataCases: Record<string, unknown>[] = [
  {},
  { quote: 'a"b', back: "c\\d", slash: "e/f", control: "\u0001\n\t", brace: '{"id":"', comma: "},{" },
  { ümläut: "日本語 🎙️ é e\u0301", "": "empty name", " ": "blank", separators: "\u2028\u2029" },
  {
    tenth: 0.1,
    tiny: 1e-7,
    small: 5e-324,
    huge: 1e21,
    max: Number.MAX_VALUE,
    safe: 9007199254740991,
    minus: -1.5,
  },
  { b: 1, a: { d: [1, [2, { c: null }]], B: true }, aa: false },
  { constructor: "y", toString: 1 },
  { nan: "NaN", backslashes: "\\\\u0041", percent: "%s %1$s" },
];

async function draftOf(client: Client) {
  const dataset = await makeDataset(client, ["click", "a.b-c_d 1"]);
  const audio = [
    await addReadyAudio(api.db, client.tenantId, dataset),
    await addReadyAudio(api.db, client.tenantId, dataset),
  ];
  const set: string = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
  return { audio, set, dataset, path: `/api/v1/datasets/${dataset}/annotation-sets/${set}` };
}

describe("annotations that Postgres serializes", () => {
  it("equal the single annotations, in the list and in the set", async () => {
    const client = await api.tenant();
    const { audio, path } = await draftOf(client);
    const annotations = extraDataCases.map((extra_data, i) => ({
      audio_file_id: audio[i % 2],
      artifact_type: i % 2 === 0 ? "click" : "a.b-c_d 1",
      start_ms: 100 - i,
      end_ms: 200,
      confidence: [1, 0, 0.1, 1e-7, 0.123456789012345][i % 5],
      extra_data,
    }));
    await client.post(`${path}/annotations/bulk`, { annotations });
    const listed = (await client.get(`${path}/annotations`)).body;
    expect(listed).toHaveLength(extraDataCases.length);
    for (const line of listed)
      expect(line).toStrictEqual((await client.get(`${path}/annotations/${line.id}`)).body);
    for (const line of listed) expect(line.extra_data).toEqual(extraDataCases[100 - line.start_ms]);
    expect((await client.get(path)).body.annotations).toStrictEqual(listed);
  });

  it("are complete and in order when many have the same start, for any batch size", async () => {
    const client = await api.tenant();
    const { audio, set, dataset, path } = await draftOf(client);
    const place = { tenantId: client.tenantId, datasetId: dataset, setId: set };
    const annotations = Array.from({ length: 50 }, (_, i) => ({
      audio_file_id: audio[i % 2],
      artifact_type: "click",
      start_ms: i % 3,
      end_ms: 10,
    }));
    const { items } = (await client.post(`${path}/annotations/bulk`, { annotations })).body;
    const order = (line: { audio_file_id: string; start_ms: number; id: string }) =>
      `${line.audio_file_id} ${line.start_ms} ${line.id}`;
    const expected = items.map(order).sort();
    for (const size of [1, 7, 25, 50, 51]) {
      const batches: string[] = [];
      for await (const batch of eachAnnotationText(api.db, place, {}, size)) batches.push(batch);
      expect(JSON.parse(`[${batches.join(",")}]`).map(order)).toEqual(expected);
      expect(batches).toHaveLength(Math.ceil(50 / size));
    }
  });

  it("are an empty array for an empty set", async () => {
    const client = await api.tenant();
    const { path } = await draftOf(client);
    expect((await client.get(`${path}/annotations`)).text).toBe("[]");
    expect((await client.get(path)).body.annotations).toEqual([]);
  });
});

describe("training jobs that Postgres serializes", () => {
  it("equal the single jobs, with and without optional values", async () => {
    const client = await api.tenant();
    const { set, path } = await draftOf(client);
    const dataset = path.split("/")[4]!;
    for (const [i, data] of extraDataCases.entries()) {
      const id = await addTrainingJob(api.db, client.tenantId, dataset, set);
      const text = JSON.stringify(data);
      const absent = i % 2 === 0;
      await execute(
        api.db,
        sql.fragment`
        update training_jobs set config = ${text}::jsonb, metrics = ${absent ? null : text}::jsonb,
          status_message = ${absent ? null : text}, error_message = ${text}, platform_job_name = ${absent ? null : "tj"},
          created_at = now() - ${i} * interval '1.000999 second',
          started_at = case when ${absent} then null else '2026-01-02 03:04:05.6789+05:30'::timestamptz end,
          completed_at = '2026-12-31 23:59:59.999999Z'
        where id = ${id}`,
      );
    }
    const page = (await client.get("/api/v1/training-jobs?page_size=5")).body;
    expect(page).toMatchObject({ total: extraDataCases.length, page: 1, page_size: 5, has_more: true });
    const rest = (await client.get("/api/v1/training-jobs?page_size=5&page=2")).body;
    expect(rest).toMatchObject({ total: extraDataCases.length, page: 2, page_size: 5, has_more: false });
    const items = [...page.items, ...rest.items];
    expect(items).toHaveLength(extraDataCases.length);
    for (const item of items)
      expect(item).toStrictEqual((await client.get(`/api/v1/training-jobs/${item.id}`)).body);
    expect(items.filter((item) => item.started_at === "2026-01-01T21:34:05.678Z")).toHaveLength(3);
    const beyond = (await client.get("/api/v1/training-jobs?page=9")).body;
    expect(beyond).toMatchObject({ items: [], total: extraDataCases.length, has_more: false });
  });
});
