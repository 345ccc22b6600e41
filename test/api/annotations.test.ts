// Annotations over HTTP: validation, bulk requests, and the filters of their list.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { execute, useApi } from "../support/api.ts";
import { useDrafts } from "../support/drafts.ts";

const api = useApi();
const drafts = useDrafts(api);
const { client, audio, draft, label } = drafts;

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
    [
      "with the digits of a few extreme numbers in its extra data is accepted",
      () => label(0, 1, { extra_data: { a: [...Array(6).fill(1e308), ...Array(6).fill(-5e-324)] } }),
      [],
    ],
    [
      "with the digits of many large numbers in its extra data is rejected",
      () => label(0, 1, { extra_data: { a: Array(14).fill(1e308) } }),
      [[["body", "extra_data"], "value_error"]],
    ],
    [
      "with the digits of many small numbers in its extra data is rejected",
      () => label(0, 1, { extra_data: { a: Array(14).fill(5e-324) } }),
      [[["body", "extra_data"], "value_error"]],
    ],
    ["that ends 50 ms after its file, within the tolerance, is accepted", () => label(0, 10_050), []],
  ])("%s", async (_, body, faults) => {
    const set = await draft();
    const answer = await client.post(`${set}/annotations`, body());
    if (faults.length === 0) expect(answer.status).toBe(201);
    else expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
  });

  it("that does not exist is not found in a published set either", async () => {
    const set = await draft();
    const { id } = (await client.post(`${set}/annotations`, label(1, 2))).body;
    await client.post(`${set}/publish`);
    const codesOf = async (id: string) => {
      const path = `${set}/annotations/${id}`;
      const answers = [
        await client.patch(path, { end_ms: 9 }),
        await client.delete(path),
        await client.patch(`${set}/annotations/bulk`, { annotations: [{ id, end_ms: 9 }] }),
      ];
      return answers.map(({ status, body }) => [status, body.code]);
    };
    expect(await codesOf(randomUUID())).toEqual(Array(3).fill([404, "annotation_not_found"]));
    expect(await codesOf(id)).toEqual(Array(3).fill([409, "annotation_set_published"]));
  });

  it("is changed within its file and its types only where the client sends its times or its type", async () => {
    const set = await draft();
    const { id } = (await client.post(`${set}/annotations`, label(8_000, 9_000, { audio_file_id: audio[2] })))
      .body;
    // As after decoding has found less than the header says, and the type was removed.
    await execute(api.db, sql.fragment`update audio_files set duration_ms = 5000 where id = ${audio[2]!}`);
    await execute(api.db, sql.fragment`update annotations set artifact_type = 'gone' where id = ${id}`);
    const changed = async (change: object) => {
      const one = await client.patch(`${set}/annotations/${id}`, change);
      const bulk = await client.patch(`${set}/annotations/bulk`, { annotations: [{ id, ...change }] });
      return [one, bulk].map((answer) =>
        answer.status === 200 ? 200 : faultsOf(answer).map(([loc]) => (loc as string[]).at(-1)),
      );
    };
    expect(await changed({ confidence: 0.5 })).toEqual([200, 200]);
    expect(await changed({ artifact_type: "pop" })).toEqual([["artifact_type"], ["artifact_type"]]);
    expect(await changed({ artifact_type: "hum" })).toEqual([200, 200]);
    expect(await changed({ start_ms: 7_000 })).toEqual([["end_ms"], ["end_ms"]]);
    expect(await changed({ start_ms: 4_000, end_ms: 5_000 })).toEqual([200, 200]);
    expect(await changed({ start_ms: 5_001 })).toEqual([["end_ms"], ["end_ms"]]);
  });

  it("with a fault gets 422, also where there is no such annotation and in a published set", async () => {
    const set = await draft();
    const { id } = (await client.post(`${set}/annotations`, label(1, 2))).body;
    const backwards = { start_ms: 9, end_ms: 8 };
    const change = (id: string, change: object) => [
      client.patch(`${set}/annotations/${id}`, change),
      client.patch(`${set}/annotations/bulk`, { annotations: [{ id, ...change }] }),
    ];
    const add = (body: object) => [
      client.post(`${set}/annotations`, body),
      client.post(`${set}/annotations/bulk`, { annotations: [body] }),
    ];
    const faultyMembers = async (requests: ReturnType<typeof add>) =>
      (await Promise.all(requests)).map(({ status, body }) => [
        status,
        body.code ?? body.detail[0].loc.at(-1),
      ]);
    expect(await faultyMembers(change(randomUUID(), backwards))).toEqual(Array(2).fill([422, "end_ms"]));
    await client.post(`${set}/publish`);
    for (const [requests, member] of [
      [change(id, backwards), "end_ms"],
      [change(id, { artifact_type: "pop" }), "artifact_type"],
      [add(label(1, 2, { artifact_type: "pop" })), "artifact_type"],
      [add(label(1, 2, { audio_file_id: randomUUID() })), "audio_file_id"],
      [add(label(1, 10_051)), "end_ms"],
    ] as const)
      expect(await faultyMembers(requests)).toEqual(Array(2).fill([422, member]));
    expect(await faultyMembers(add(label(1, 2)))).toEqual(Array(2).fill([409, "annotation_set_published"]));
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

  it("keeps extra data with more members than may be sent now, and passes it on as the database's text", async () => {
    const set = await draft();
    const objects = (count: number) => ({ a: Array(count).fill({}) });
    const path = `${set}/annotations/bulk`;
    const [most, refused] = [
      label(1, 2, { extra_data: objects(255) }),
      label(1, 2, { extra_data: objects(256) }),
    ];
    expect(faultsOf(await client.post(path, { annotations: [most, refused] }))).toEqual([
      [["body", "annotations", 1, "extra_data"], "value_error"],
    ]);
    const { id } = (await client.post(path, { annotations: [most] })).body.items[0];
    await execute(
      api.db,
      sql.fragment`update annotations set extra_data = ${sql.jsonb(objects(1_360))} where id = ${id}`,
    );
    const answer = await client.patch(path, { annotations: [{ id, end_ms: 9 }] });
    expect(answer.body.items[0]).toMatchObject({ id, end_ms: 9, extra_data: objects(1_360) });
    expect(answer.text).toContain('"extra_data":{"a": [{}, {}, ');
    const list = await client.get(`${set}/annotations?page=1`);
    expect(list.body).toEqual(answer.body.items);
    expect(list.text).toContain('"extra_data":{"a": [{}, {}, ');
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
      select gen_random_uuid(), ${client.tenantId}, ${drafts.datasetId}, ${setId}, ${audio[0] as string}, 'click', n / 3, n / 3 + 1
      from generate_series(0, 4999) n`,
    );
    const answer = await client.get(`${big}/annotations`);
    const ids = new Set(answer.body.map((item: { id: string }) => item.id));
    expect([answer.body.length, ids.size]).toEqual([5_000, 5_000]);
    expect((await client.get(big)).body.annotations).toEqual(answer.body);
  });
});
