// Annotation sets and annotations over HTTP: drafts, validation, filters, publishing and the label tool's export.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, execute, useApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let datasetId: string;
let audio: string[];
beforeAll(async () => {
  client = await api.tenant();
  datasetId = await makeDataset(client);
  audio = [];
  for (let i = 0; i < 3; i++)
    audio.push(await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 10_000 }));
  audio.sort();
});

const sets = () => `/api/v1/datasets/${datasetId}/annotation-sets`;
async function draft(): Promise<string> {
  const answer = await client.post(sets());
  expect(answer.headers.get("location")).toBe(`${sets()}/${answer.body.id}`);
  return `${sets()}/${answer.body.id}`;
}
const label = (start_ms: number, end_ms: number, more: object = {}) => ({
  audio_file_id: audio[0],
  artifact_type: "click",
  start_ms,
  end_ms,
  ...more,
});
const faultsOf = (answer: { body: { detail: { loc: unknown[]; type: string }[] } }) =>
  answer.body.detail.map(({ loc, type }) => [loc, type]);

describe("an annotation", () => {
  it("is created with its defaults, read, changed and deleted while its set is a draft", async () => {
    const set = await draft();
    const created = await client.post(`${set}/annotations`, label(5, 5));
    expect(created.body).toMatchObject({
      confidence: 1,
      extra_data: {},
      annotator: null,
      start_ms: 5,
      end_ms: 5,
      updated_at: created.body.created_at,
    });
    const path = created.headers.get("location") as string;
    expect((await client.get(path)).body).toEqual(created.body);
    const changed = await client.patch(path, {
      end_ms: 9,
      extra_data: { by: "me" },
      id: randomUUID(),
      tenant_id: "x",
    });
    const { updated_at } = changed.body;
    expect(changed.body).toEqual({ ...created.body, end_ms: 9, extra_data: { by: "me" }, updated_at });
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(created.body.created_at));
    expect((await client.patch(path, {})).body).toMatchObject({ end_ms: 9, extra_data: { by: "me" } });
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).body.code).toBe("annotation_not_found");
  });

  it.each<[string, () => object, unknown[]]>([
    ["that ends before it starts is rejected", () => label(20, 10), [[["body", "end_ms"], "value_error"]]],
    ["that ends after its file is rejected", () => label(0, 10_051), [[["body", "end_ms"], "value_error"]]],
    [
      "of a type that the dataset does not have is rejected",
      () => label(0, 1, { artifact_type: "pop" }),
      [[["body", "artifact_type"], "value_error"]],
    ],
    [
      "on a file that the dataset does not have is rejected",
      () => label(0, 1, { audio_file_id: randomUUID() }),
      [[["body", "audio_file_id"], "value_error"]],
    ],
    [
      "that ends later than any file that can be uploaded is rejected",
      () => label(0, Number.MAX_SAFE_INTEGER),
      [[["body", "end_ms"], "less_than_equal"]],
    ],
    [
      "that starts before its file is rejected",
      () => label(-1, 1),
      [[["body", "start_ms"], "greater_than_equal"]],
    ],
    [
      "with a confidence above 1 is rejected",
      () => label(0, 1, { confidence: 1.01 }),
      [[["body", "confidence"], "less_than_equal"]],
    ],
    [
      "with a number as a string is rejected",
      () => label(0, 1, { start_ms: "0" }),
      [[["body", "start_ms"], "int_type"]],
    ],
    [
      "with a fraction of a millisecond is rejected",
      () => label(0, 1, { end_ms: 1.5 }),
      [[["body", "end_ms"], "int_type"]],
    ],
    [
      "with too much extra data is rejected",
      () => label(0, 1, { extra_data: { x: "y".repeat(5_000) } }),
      [[["body", "extra_data"], "value_error"]],
    ],
    [
      "with extra data at the depth limit is accepted",
      () => label(0, 1, { extra_data: { a: { a: { a: { a: { a: 1 } } } } } }),
      [],
    ],
    [
      "with extra data below the depth limit is rejected",
      () => label(0, 1, { extra_data: { a: { a: { a: { a: { a: { a: 1 } } } } } } }),
      [[["body", "extra_data"], "value_error"]],
    ],
    [
      "with NUL in its extra data is rejected",
      () => label(0, 1, { extra_data: { a: "\u0000" } }),
      [[["body", "extra_data", "a"], "value_error"]],
    ],
    [
      "with an unpaired surrogate in its extra data is rejected",
      () => label(0, 1, { extra_data: { a: "\ud800" } }),
      [[["body", "extra_data", "a"], "value_error"]],
    ],
    ["that ends 50 ms after its file, within the tolerance, is accepted", () => label(0, 10_050), []],
  ])("%s", async (_, body, faults) => {
    const set = await draft();
    const answer = await client.post(`${set}/annotations`, body());
    if (faults.length === 0) expect(answer.status).toBe(201);
    else expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  });

  it("is created in one bulk request of a thousand, all or none, in the order of the request", async () => {
    const set = await draft();
    const many = Array.from({ length: 1_000 }, (_, i) => label(i, i + 1, { extra_data: { i } }));
    const answer = await client.post(`${set}/annotations/bulk`, { annotations: many });
    expect(answer.body.total).toBe(1_000);
    expect(answer.body.items.map((item: { start_ms: number }) => item.start_ms)).toEqual(
      many.map((line) => line.start_ms),
    );
    const bad = many.map((line, i) => (i === 7 ? { ...line, artifact_type: "pop" } : line));
    const refused = await client.post(`${set}/annotations/bulk`, { annotations: bad });
    expect(faultsOf(refused)).toEqual([[["body", "annotations", 7, "artifact_type"], "value_error"]]);
    expect((await client.get(set)).body.total_annotations).toBe(1_000);
  });
});

describe("a bulk request", () => {
  it("changes several annotations, and returns them in the order of the request", async () => {
    const set = await draft();
    const made = (
      await client.post(`${set}/annotations/bulk`, {
        annotations: [label(1, 2), label(3, 4, { annotator: "ana" }), label(5, 6)],
      })
    ).body.items;
    const answer = await client.patch(`${set}/annotations/bulk`, {
      annotations: [
        { id: made[2].id.toUpperCase(), artifact_type: "hum", annotator: "ben" },
        { id: made[1].id, end_ms: 9, annotator: null },
      ],
    });
    expect([answer.status, answer.body.total]).toEqual([200, 2]);
    expect(answer.body.items).toMatchObject([
      { id: made[2].id, artifact_type: "hum", start_ms: 5, end_ms: 6, annotator: "ben" },
      { id: made[1].id, artifact_type: "click", start_ms: 3, end_ms: 9, annotator: null },
    ]);
    const { annotations, annotations_by_type } = (await client.get(set)).body;
    expect(annotations).toEqual([made[0], answer.body.items[1], answer.body.items[0]]);
    expect(annotations_by_type).toEqual({ click: 2, hum: 1 });
  });

  it("changes nothing when one of its changes is not possible", async () => {
    const set = await draft();
    const [first, second] = (
      await client.post(`${set}/annotations/bulk`, { annotations: [label(1, 2), label(3, 4)] })
    ).body.items;
    const before = (await client.get(set)).text;
    const change = (...annotations: object[]) => client.patch(`${set}/annotations/bulk`, { annotations });
    const faulty = await change({ id: first.id, end_ms: 9 }, { id: second.id, end_ms: 2 });
    expect(faultsOf(faulty)).toEqual([[["body", "annotations", 1, "end_ms"], "value_error"]]);
    const unknown = await change({ id: first.id, end_ms: 9 }, { id: randomUUID(), end_ms: 9 });
    expect([unknown.status, unknown.body.code]).toEqual([404, "annotation_not_found"]);
    const twice = await change({ id: first.id, end_ms: 9 }, { id: first.id.toUpperCase(), end_ms: 8 });
    expect(faultsOf(twice)).toEqual([[["body", "annotations"], "value_error"]]);
    expect((await client.get(set)).text).toBe(before);
  });

  it("deletes several annotations, ignores ids that the set does not have, and can be repeated", async () => {
    const [set, other] = [await draft(), await draft()];
    const made = (
      await client.post(`${set}/annotations/bulk`, { annotations: [label(1, 2), label(3, 4), label(5, 6)] })
    ).body.items;
    const foreign = (await client.post(`${other}/annotations`, label(1, 2))).body;
    const ids = [made[0].id, made[2].id, foreign.id, randomUUID()];
    const remove = () => client.post(`${set}/annotations/bulk/delete`, { ids });
    expect((await remove()).body).toEqual({ deleted: 2 });
    expect((await remove()).body).toEqual({ deleted: 0 });
    expect((await client.get(set)).body.annotations).toEqual([made[1]]);
    expect((await client.get(other)).body.total_annotations).toBe(1);
  });
});

describe("the list of annotations", () => {
  let set: string;
  beforeAll(async () => {
    set = await draft();
    const annotations = [
      label(1_000, 2_000, { confidence: 0.5, annotator: "ana" }),
      label(3_000, 3_000),
      label(2_000, 4_000, { artifact_type: "hum", confidence: 0.9 }),
      label(0, 100, { audio_file_id: audio[1] }),
    ];
    await client.post(`${set}/annotations/bulk`, { annotations });
  });
  const starts = async (query: string) => {
    const answer = await client.get(`${set}/annotations?${query}`);
    expect(answer.status).toBe(200);
    return [
      Number(answer.headers.get("x-total-count")),
      answer.body.map((item: { start_ms: number }) => item.start_ms),
    ];
  };

  it("is a bare array ordered by file, start and id", async () => {
    expect(await starts("")).toEqual([4, [1_000, 2_000, 3_000, 0]]);
  });

  it.each<[string, number[]]>([
    ["artifact_type=hum", [2_000]],
    ["artifact_type=hum&artifact_type=click", [1_000, 2_000, 3_000, 0]],
    ["artifact_type=none", []],
    ["min_confidence=0.9", [2_000, 3_000, 0]],
    ["max_confidence=0.5", [1_000]],
    ["annotator=ana", [1_000]],
    // The window is half-open: a region that ends at its start or begins at its end is outside. A point at its start is
    // inside.
    ["start_ms=2000&end_ms=3000", [2_000]],
    ["start_ms=3000&end_ms=3001", [2_000, 3_000]],
    ["start_ms=1999&end_ms=2000", [1_000]],
    ["start_ms=4000", []],
    ["end_ms=1000", [0]],
  ])("is filtered by %s", async (query, expected) => {
    expect(await starts(query)).toEqual([expected.length, expected]);
  });

  it("is filtered by file, and has pages when the request asks for them", async () => {
    expect(await starts(`audio_file_id=${audio[1]}`)).toEqual([1, [0]]);
    expect(await starts("page=2&page_size=3")).toEqual([4, [0]]);
    expect(await starts("page=9&page_size=3")).toEqual([4, []]);
  });

  it("contains each annotation once when the list needs several batches", async () => {
    const big = await draft();
    const setId = big.split("/").at(-1) as string;
    await execute(
      api.db,
      sql.fragment`
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
      select gen_random_uuid(), ${client.tenantId}, ${datasetId}, ${setId}, ${audio[0] as string}, 'click', n / 3, n / 3 + 1
      from generate_series(0, 4999) n`,
    );
    const answer = await client.get(`${big}/annotations`);
    const ids = new Set(answer.body.map((item: { id: string }) => item.id));
    expect([answer.body.length, ids.size]).toEqual([5_000, 5_000]);
    expect((await client.get(big)).body.annotations).toEqual(answer.body);
  });
});

describe("an annotation set", () => {
  it("has a number within its dataset, and a number is never reused", async () => {
    const first = (await client.post(sets())).body;
    const second = (await client.post(sets())).body;
    expect(second.version).toBe(first.version + 1);
    await client.delete(`${sets()}/${first.id}`);
    await client.delete(`${sets()}/${second.id}`);
    expect((await client.post(sets())).body.version).toBe(second.version + 1);
    expect((await client.get(`${sets()}/${first.id}`)).body.code).toBe("annotation_set_not_found");
  });

  it("gets its own number when many clients create sets at once", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => client.post(sets())));
    expect(new Set(made.map((answer) => answer.body.version)).size).toBe(10);
  });

  it("has live counts while it is a draft and stored statistics once it is published", async () => {
    const set = await draft();
    await client.post(`${set}/annotations/bulk`, {
      annotations: [label(0, 100), label(50, 150), label(7, 7, { artifact_type: "hum" })],
    });
    const statistics = {
      total_annotations: 3,
      total_positive_duration_ms: 200,
      annotations_by_type: { click: 2, hum: 1 },
    };
    expect((await client.get(set)).body).toMatchObject({
      ...statistics,
      status: "draft",
      published_at: null,
    });
    const published = await client.post(`${set}/publish`);
    expect(published.body).toMatchObject({ ...statistics, status: "published" });
    expect(published.body.annotations).toBeUndefined();
    expect((await client.get(set)).body).toMatchObject(published.body);
    expect((await client.get(`${sets()}?status=published&page_size=1`)).body.items[0]).toEqual(
      published.body,
    );
  });

  it("can be published without annotations, and rejects a second publish", async () => {
    const set = await draft();
    expect((await client.post(`${set}/publish`)).body).toMatchObject({
      total_annotations: 0,
      annotations_by_type: {},
    });
    expect((await client.post(`${set}/publish`)).body.code).toBe("annotation_set_published");
  });

  it("rejects every change after its publication, through the API and in the database", async () => {
    const set = await draft();
    const setId = set.split("/").at(-1) as string;
    const created = await client.post(`${set}/annotations`, label(1, 2));
    const path = created.headers.get("location") as string;
    await client.post(`${set}/publish`);
    const before = (await client.get(set)).text;
    const attempts = [
      await client.post(`${set}/annotations`, label(3, 4)),
      await client.post(`${set}/annotations/bulk`, { annotations: [label(3, 4)] }),
      await client.patch(path, { end_ms: 9 }),
      await client.patch(`${set}/annotations/bulk`, { annotations: [{ id: created.body.id, end_ms: 9 }] }),
      await client.post(`${set}/annotations/bulk/delete`, { ids: [created.body.id] }),
      await client.delete(path),
      await client.delete(set),
    ];
    for (const answer of attempts)
      expect(answer).toMatchObject({ status: 409, body: { code: "annotation_set_published" } });
    const statements = [
      sql.fragment`update annotations set end_ms = 9 where annotation_set_id = ${setId}`,
      sql.fragment`delete from annotations where annotation_set_id = ${setId}`,
      sql.fragment`insert into annotations select gen_random_uuid(), tenant_id, dataset_id, annotation_set_id,
        audio_file_id, artifact_type, 5, 6, 1, '{}', now() from annotations where annotation_set_id = ${setId}`,
    ];
    for (const statement of statements) await expect(execute(api.db, statement)).rejects.toThrow(/published/);
    expect((await client.get(set)).text).toBe(before);
    const labelled = await client.delete(`/api/v1/datasets/${datasetId}/audio/${audio[0]}`);
    expect(labelled.body.code).toBe("audio_in_use");
  });

  it("has statistics that match its rows when it is published during concurrent writes", async () => {
    const set = await draft();
    const writes = Array.from({ length: 20 }, (_, i) => client.post(`${set}/annotations`, label(i, i + 10)));
    const [published] = await Promise.all([client.post(`${set}/publish`), ...writes]);
    const now = (await client.get(set)).body;
    expect(now.annotations.length).toBe(published.body.total_annotations);
    expect(now.total_positive_duration_ms).toBe(now.annotations.length * 10);
  });

  it("is created with the annotations of another set on request", async () => {
    const set = await draft();
    await client.post(`${set}/annotations/bulk`, {
      annotations: [label(1, 2, { annotator: "ana" }), label(3, 4, { confidence: 0.5 })],
    });
    await client.post(`${set}/publish`);
    const copy = (await client.post(sets(), { from_annotation_set_id: set.split("/").at(-1) })).body;
    expect(copy).toMatchObject({ status: "draft", total_annotations: 2 });
    const members = (list: { start_ms: number; confidence: number; annotator: string | null }[]) =>
      list.map((a) => [a.start_ms, a.confidence, a.annotator]);
    const annotations = (await client.get(`${sets()}/${copy.id}`)).body.annotations;
    expect(members(annotations)).toEqual(members((await client.get(set)).body.annotations));
  });

  it("is exported as the label tool's document, with times in seconds and one task per file", async () => {
    const set = await draft();
    const labels = [
      label(1_250, 1_310),
      label(2_000, 2_000, { artifact_type: "hum" }),
      label(0, 5, { audio_file_id: audio[1] }),
    ];
    const created = (await client.post(`${set}/annotations/bulk`, { annotations: labels })).body.items;
    const document = (await client.get(`${set}/export/annotation-tool`)).body;
    expect(
      document.tasks.map((task: { data: { audio_file_id: string } }) => task.data.audio_file_id),
    ).toEqual([audio[0], audio[1]]);
    expect(document.tasks[0]).toMatchObject({
      id: 1,
      annotations: [
        {
          completed_by: 1,
          was_cancelled: false,
          ground_truth: false,
          result: [
            {
              id: created[0].id,
              from_name: "label",
              to_name: "audio",
              type: "labels",
              value: { start: 1.25, end: 1.31, labels: ["click"] },
            },
            { id: created[1].id, value: { start: 2, end: 2, labels: ["hum"] } },
          ],
        },
      ],
    });
    expect(document.tasks[0].data.audio).toContain(`/audio/${client.tenantId}/${audio[0]}?`);
    const plain = (await client.get(`${set}/export/annotation-tool?flavor=import&audio=key`)).body;
    expect(plain.tasks[0].annotations[0]).not.toHaveProperty("completed_by");
    expect(plain.tasks[1].data.audio).toBe(audio[1]);
  });
});
