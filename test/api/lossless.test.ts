// Data that clients store freely (extra data, metadata) are returned exactly as sent, or refused; the service never
// changes them silently. Also JSON values that JavaScript cannot represent.
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { addAltered } from "../../src/api/lossless.ts";
import type { Faults } from "../../src/errors.ts";
import { type Client, useApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let dataset: string;
let annotations: string;
let audio: string;
beforeAll(async () => {
  client = await api.tenant();
  dataset = `/api/v1/datasets/${await makeDataset(client)}`;
  audio = await addReadyAudio(api.db, client.tenantId, dataset.split("/").at(-1)!);
  annotations = `${dataset}/annotation-sets/${(await client.post(`${dataset}/annotation-sets`)).body.id}/annotations`;
});

async function send(method: string, path: string, body: string) {
  const answer = await fetch(api.url + path, {
    method,
    headers: { "X-API-Key": client.key, "Content-Type": "application/json" },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

const annotation = (extra: string) =>
  `{"audio_file_id":"${audio}","artifact_type":"click","start_ms":1,"end_ms":2,"extra_data":${extra}}`;

const kept = "the number cannot be stored exactly; send it as a string";
const named = "a member must not be named __proto__";

describe("extra data", () => {
  it.each([
    ["1e400", '{"a":1e400}', ["a"], kept],
    ["-1e400", '{"a":{"b":[0,-1E+400]}}', ["a", "b", 1], kept],
    ["a number of 400 digits", `{"a":${"9".repeat(400)}}`, ["a"], kept],
    ["2^53 + 1", '{"a":9007199254740993}', ["a"], kept],
    ["a 20-digit id", '{"id":12345678901234567890}', ["id"], kept],
    ["a negative 20-digit id", '{"id":-12345678901234567890}', ["id"], kept],
    ["__proto__", '{"__proto__":{"a":1}}', [], named],
    ["an escaped __proto__", '{"a":{"\\u005f_proto__":1}}', ["a"], named],
  ])("with %s is refused, with the place and the reason", async (_, extra, where, why) => {
    const item = (loc: (string | number)[]) => ({
      loc: [...loc, "extra_data", ...where],
      msg: `Value error, ${why}`,
      type: "value_error",
    });
    const one = await send("POST", annotations, annotation(extra));
    expect([one.status, JSON.parse(one.text)]).toEqual([422, { detail: [item(["body"])] }]);
    const many = `{"annotations":[${annotation("{}")},${annotation(extra)}]}`;
    const bulk = await send("POST", `${annotations}/bulk`, many);
    expect(JSON.parse(bulk.text).detail).toEqual([item(["body", "annotations", 1])]);
    expect((await client.get(annotations)).body).toEqual([]);
  });

  it.each([
    ['{"a":9007199254740991,"b":-9007199254740991}'],
    ['{"a":9007199254740992,"b":1e20,"c":1e+308,"d":0.1,"e":-1.5e-7}'],
    ['{"a":"12345678901234567890","b":"1e400","c":"__proto__","d":"\\\\\\"1e400"}'],
    ['{"constructor":{"prototype":1},"a":null,"b":true}'],
  ])("is returned as sent: %s", async (extra) => {
    const made = await send("POST", annotations, annotation(extra));
    expect(made.status, made.text).toBe(201);
    const { id, extra_data } = JSON.parse(made.text);
    expect(extra_data).toEqual(JSON.parse(extra));
    expect((await client.get(`${annotations}/${id}`)).body.extra_data).toEqual(JSON.parse(extra));
    await client.delete(`${annotations}/${id}`);
  });

  it("is also checked in a change, and a refused change has no effect", async () => {
    const { id } = (await client.post(annotations, JSON.parse(annotation('{"a":1}')))).body;
    const answer = await send("PATCH", `${annotations}/${id}`, '{"end_ms":3,"extra_data":{"a":1e999}}');
    expect(answer.status).toBe(422);
    expect((await client.get(`${annotations}/${id}`)).body).toMatchObject({
      end_ms: 2,
      extra_data: { a: 1 },
    });
    await client.delete(`${annotations}/${id}`);
  });
});

describe("the metadata of an audio file", () => {
  it("must not have a member __proto__", async () => {
    const body =
      '{"filename":"x.wav","content_type":"audio/wav","size_bytes":1,"metadata":{"__proto__":"a"}}';
    const answer = await send("POST", `${dataset}/audio/upload-url`, body);
    expect(JSON.parse(answer.text).detail).toEqual([
      { loc: ["body", "metadata"], msg: `Value error, ${named}`, type: "value_error" },
    ]);
  });
});

describe("other JSON members", () => {
  it("have the bounds of their schema, and unknown members can have any value", async () => {
    const path = `${dataset}/audio/upload-url`;
    const size = (text: string) =>
      send("POST", path, `{"filename":"x.wav","content_type":"audio/wav","size_bytes":${text}}`);
    for (const [text, types] of [
      ["1e400", ["int_type"]],
      // Beyond every integer, and beyond the largest upload.
      ["12345678901234567890", ["less_than_equal", "less_than_equal"]],
      ["1.5", ["int_type"]],
    ] as const) {
      const { detail } = JSON.parse((await size(text)).text);
      const loc = ["body", "size_bytes"];
      expect(detail).toEqual(
        types.map((type) => ({ loc, type, msg: expect.stringMatching(/^Input should be /) })),
      );
    }
    for (const text of ["20.0", "2e1", "200e-1"]) {
      const answer = await size(text);
      expect([answer.status, JSON.parse(answer.text).audio_file.size_bytes]).toEqual([201, 20]);
    }
    const unknown = '{"name":"x","unknown":1e400,"__proto__":{"id":9007199254740993}}';
    expect((await send("POST", "/api/v1/datasets", unknown)).status).toBe(201);
  });
});

describe("the scan for altered values", () => {
  const schema = z.object({ a: z.record(z.string(), z.unknown()).optional() });

  // So long that quadratic time would exceed the timeout of the test.
  it("scans 8 MiB of any content in linear time", () => {
    const fill = (part: string) =>
      `{"a":{"x":[${Array(Math.floor((8 * 2 ** 20) / (part.length + 1)))
        .fill(part)
        .join(",")}]}}`;
    const long = `"${"\\\\".repeat(4_000_000)}"`;
    for (const [part, faults] of [
      ["1e400", 100],
      ["1", 0],
      ['"\\\\\\""', 0],
      [long, 0],
      [`"${"a".repeat(1000)}"`, 0],
      ["9".repeat(5000), 100],
      ["{}", 0],
    ] as const) {
      const found: Faults = { items: [], total: 0 };
      addAltered(found, schema, fill(part), ["body"]);
      expect(found.items.length, part.slice(0, 10)).toBe(faults);
    }
  });
});

describe("an import", () => {
  const beyond = ["1e400", "12345678901234567890", "-9007199254740993"];
  const draft = async () =>
    `${dataset}/annotation-sets/${(await client.post(`${dataset}/annotation-sets`)).body.id}`;

  it("from the label tool reports numbers that cannot be stored exactly", async () => {
    const results = beyond.map(
      (number) =>
        `{"type":"labels","value":{"start":0,"end":1,"labels":["click"]},"meta":{"extra_data":{"a":[${number}]}}}`,
    );
    const body = `[{"data":{"audio_file_id":"${audio}"},"annotations":[{"result":[${results}]}]}]`;
    const { text } = await send("POST", `${await draft()}/import/annotation-tool`, body);
    expect(JSON.parse(text)).toMatchObject({ imported: 0, skipped: 3, errors: [{}, {}, {}] });
  });

  it("from the label tool with such numbers may have null where an object is optional", async () => {
    const result = '{"type":"labels","value":{"start":0,"end":1,"labels":["click"]}}';
    const body = `[{"data":null,"id":${"9".repeat(20)},"annotations":[{"result":[${result}]}]}]`;
    const { status, text } = await send("POST", `${await draft()}/import/annotation-tool`, body);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ imported: 0, skipped: 1 });
  });

  it("from CSV reports them too, and parses numbers as the API does", async () => {
    const set = await draft();
    const rows = [
      ...beyond.map((number) => `click,0,1,1,"{""a"":${number}}"`),
      `click,0,1,1,"{""__proto__"":1}"`,
      `click,0,1,1,"{""a"":${"[".repeat(200_000)}${"]".repeat(200_000)}}"`,
      "click,0,1,0x1,",
      "click,0x0,0b1,1,",
      'click,1e3,2000.0,.5,"{""a"":-9007199254740991,""b"":1e-7}"',
    ];
    const head = "audio_file_id,artifact_type,start_ms,end_ms,confidence,extra_data";
    const text = [head, ...rows.map((row) => `${audio},${row}`)].join("\n");
    const { body } = await client.post(`${set}/import/csv`, text, { "Content-Type": "text/csv" });
    expect(body.errors.map((error: { line: number }) => error.line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect((await client.get(`${set}/annotations`)).body).toMatchObject([
      { start_ms: 1000, end_ms: 2000, confidence: 0.5, extra_data: { a: -9007199254740991, b: 1e-7 } },
    ]);
  });
});
