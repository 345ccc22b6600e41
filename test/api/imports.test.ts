// Import of labels from other tools: accepted labels, reported faults, and documents as untrusted input.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";
import { csv, type Label, type NamedFile, plain, useExchange } from "./exchange.ts";

const api = useApi();
const exchange = useExchange(api);
const { sets, draft, labels, filled, annotationsOf } = exchange;
let client: Client;
let datasetId: string;
/** Ordered by id, as exports are. */
let audio: NamedFile[];
beforeAll(() => {
  ({ client, datasetId, audio } = exchange.made());
});

describe("an import", () => {
  const result = (start: number, end: number, label: string, more: object = {}) => ({
    type: "labels",
    value: { start, end, labels: [label] },
    ...more,
  });
  const task = (data: object, ...results: object[]) => ({ data, annotations: [{ result: results }] });
  const mine = () => ({ audio_file_id: audio[0]!.id });

  it("reports labels that do not fit and stores the others", async () => {
    const set = await draft();
    const answer = await client.post(`${set}/import/annotation-tool`, {
      tasks: [
        task(
          mine(),
          result(0.0005, 1.25, "click"),
          result(2, 1, "click"),
          result(-1, 1, "click"),
          result(0, 10.051, "click"),
          result(0, 1, "pop"),
          result(0, 1, "x".repeat(65)),
          result(0, 1, "=1+1"),
          result(0, 1, "CLICK"),
          result(0, 1, "click", { score: 1.5 }),
          result(0, 1, "click", { meta: { extra_data: { big: "x".repeat(5_000) } } }),
          { type: "choices", value: {} },
        ),
        task({ audio_file_id: randomUUID() }, result(0, 1, "click"), result(0, 1, "click")),
        task({}, result(0, 1, "click"), result(1, 2, "click")),
      ],
    });
    expect([answer.status, answer.body.imported, answer.body.skipped]).toEqual([200, 1, 14]);
    const name =
      "The label is not a valid artifact type; use at most 64 letters (A to Z, a to z), digits, spaces, underscores, dots and hyphens";
    expect(answer.body.errors.map((e: Record<string, unknown>) => [e.task, e.result, e.message])).toEqual([
      [0, 1, "end_ms: end_ms must not be less than start_ms"],
      [0, 2, "start_ms: Input should be greater than or equal to 0"],
      [0, 3, "end_ms: the audio file ends at 10000 ms"],
      [0, 4, "The dataset has no artifact type pop; add it, or import with create_types=true"],
      [0, 5, name],
      [0, 6, name],
      [0, 7, "The dataset has the artifact type click, which differs only in upper and lower case"],
      [0, 8, "confidence: Input should be less than or equal to 1"],
      [0, 9, "extra_data: extra_data takes at most 4096 bytes of JSON"],
      [0, 10, "Only results of type labels are imported"],
      [1, 0, "The dataset has no such audio file"],
      [1, 1, "The dataset has no such audio file"],
      [2, null, "The task names no audio file; data needs audio_file_id, filename or audio"],
    ]);
    expect(await annotationsOf(set)).toMatchObject([{ start_ms: 1, end_ms: 1_250, confidence: 1 }]);
  });

  it("matches a file by name only where one file has that name", async () => {
    const dataset = await makeDataset(client);
    const [one, two, three] = await Promise.all(
      ["a.wav", "b.wav", "b.wav"].map(async (filename) => {
        const id = await addReadyAudio(api.db, client.tenantId, dataset);
        await client.patch(`/api/v1/datasets/${dataset}/audio/${id}`, { filename });
        return id;
      }),
    );
    const set = `/api/v1/datasets/${dataset}/annotation-sets/${(await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id}`;
    const answer = await client.post(`${set}/import/annotation-tool`, [
      task({ filename: "a.wav" }, result(0, 1, "click")),
      task({ audio: "/data/upload/3/0123abcd-a.wav" }, result(1, 2, "click")),
      task({ filename: "b.wav" }, result(0, 1, "click")),
      task({ filename: "b.wav", audio_file_id: two }, result(0, 1, "click")),
      task({ audio: three?.toUpperCase() }, result(0, 1, "click")),
      // A file in another dataset of the same tenant.
      task(mine(), result(0, 1, "click")),
    ]);
    expect(answer.body).toMatchObject({
      imported: 4,
      errors: [
        {
          task: 2,
          message: "Several audio files of the dataset have this name; use audio_file_id to choose one",
        },
        { task: 5, message: "The dataset has no such audio file" },
      ],
    });
    expect((await annotationsOf(set)).map((a) => (a as Label).audio_file_id).sort()).toEqual(
      [one, one, two, three].sort(),
    );
  });

  it("creates the requested artifact types, as far as their names and the limit allow", async () => {
    const dataset = await makeDataset(client, ["click"]);
    const file = await addReadyAudio(api.db, client.tenantId, dataset);
    const set = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
    const path = `/api/v1/datasets/${dataset}/annotation-sets/${set}/import/audacity?audio_file_id=${file}&create_types=true`;
    const track = ["pop", "Pop", " pop ", "Click", "bad/name", "late"]
      .map((label, i) => `${i}\t${label === "late" ? 99 : i}\t${label}\n`)
      .join("");
    const answer = await client.post(path, track, plain);
    expect(answer.body).toMatchObject({
      imported: 2,
      skipped: 4,
      created_types: ["pop"],
      errors: [{ line: 2 }, { line: 4 }, { line: 5 }, { line: 6 }],
    });
    const typesOf = async () =>
      (await client.get(`/api/v1/datasets/${dataset}`)).body.artifact_types.map(
        (t: { name: string }) => t.name,
      );
    expect(await typesOf()).toEqual(["click", "pop"]);
    const many = Array.from({ length: 70 }, (_, i) => `${i % 9}\t9\ttype ${i}\n`).join("");
    const second = await client.post(path, many, plain);
    expect(second.body).toMatchObject({ imported: 62, skipped: 8 });
    expect(second.body.errors[0]).toEqual({
      line: 63,
      message: "The dataset would have more than 64 artifact types",
    });
    expect(await typesOf()).toHaveLength(64);
  });

  it("as a dry run gives the same report and changes nothing", async () => {
    const set = await draft();
    const body = [task(mine(), result(0, 1, "click"), result(0, 1, "new"), result(0, 1, "/"))];
    const before = (await client.get(set)).text;
    const types = (await client.get(`/api/v1/datasets/${datasetId}`)).body.artifact_types;
    const dry = await client.post(`${set}/import/annotation-tool?dry_run=true&create_types=true`, body);
    expect(dry.body).toMatchObject({ imported: 2, skipped: 1, created_types: ["new"] });
    expect((await client.get(set)).text).toBe(before);
    expect(dry.headers.get("x-annotation-set-etag")).toBe((await client.get(set)).headers.get("etag"));
    expect((await client.get(`/api/v1/datasets/${datasetId}`)).body.artifact_types).toEqual(types);
    const wet = await client.post(`${set}/import/annotation-tool`, body);
    expect(wet.body).toMatchObject({ imported: 1, skipped: 2 });
    expect(wet.headers.get("etag")).toBe((await client.get(set)).headers.get("etag"));
  });

  it("is refused for a published set, an unknown set and an unknown file", async () => {
    const set = await filled();
    await client.post(`${set}/publish`);
    const tracks = `${set}/import/audacity?audio_file_id=`;
    const attempts = [
      await client.post(`${set}/import/annotation-tool`, []),
      await client.post(`${set}/import/annotation-tool?dry_run=true`, []),
      await client.post(`${set}/import/csv`, "x", csv),
      await client.post(`${tracks}${audio[0]!.id}`, "x", plain),
    ];
    for (const answer of attempts)
      expect([answer.status, answer.body.code]).toEqual([409, "annotation_set_published"]);
    expect((await client.post(`${tracks}${randomUUID()}`, "x", plain)).body.code).toBe(
      "audio_file_not_found",
    );
    const nowhere = `${sets()}/${randomUUID()}/import`;
    expect((await client.post(`${nowhere}/annotation-tool`, [])).body.code).toBe("annotation_set_not_found");
    const stranger = await api.tenant();
    expect((await stranger.post(`${set}/import/annotation-tool`, [])).body.code).toBe(
      "annotation_set_not_found",
    );
    expect((await stranger.get(`${set}/export/csv`)).body.code).toBe("annotation_set_not_found");
  });

  it("accepts the content type of its format and no other", async () => {
    const set = await draft();
    const attempts: [string, string | undefined, number][] = [
      ["csv", "text/csv", 200],
      ["csv", "text/csv; charset=UTF-8", 200],
      ["csv", "text/csv; charset=utf-16", 415],
      ["csv", "text/plain", 415],
      ["csv", "application/json", 415],
      ["annotation-tool", "text/csv", 415],
      [`audacity?audio_file_id=${audio[0]!.id}`, "text/csv", 415],
    ];
    for (const [path, type, status] of attempts) {
      const answer = await client.post(`${set}/import/${path}`, "artifact_type", { "Content-Type": type! });
      expect([path, type, answer.status]).toEqual([path, type, status]);
    }
    const invalid = await fetch(`${api.url}${set}/import/csv`, {
      method: "POST",
      headers: { "X-API-Key": client.key, ...csv },
      body: new Uint8Array([0xff, 0xfe]),
    });
    expect(invalid.status).toBe(400);
    expect((await client.post(`${set}/import/csv`, "", csv)).body.detail[0].type).toBe("missing");
    const large = await client.post(`${set}/import/csv`, "x".repeat(8 * 1024 * 1024 + 1), csv);
    expect(large.status).toBe(413);
    for (const body of [
      {},
      { tasks: 1 },
      [1],
      "x",
      { tasks: [{ annotations: [{ result: {} }] }] },
      [{ data: { filename: "\u0000" } }],
    ])
      expect((await client.post(`${set}/import/annotation-tool`, body)).status).toBe(422);
  });

  it("ignores a byte order mark", async () => {
    const set = await draft();
    const text = `\ufefffilename,artifact_type,start_ms,end_ms\nplain.wav,click,1,2\n`;
    expect((await client.post(`${set}/import/csv`, text, csv)).body).toMatchObject({
      imported: 1,
      errors: [],
    });
  });

  it("repeated with its Idempotency-Key returns the first report and does nothing, even after changes to the set", async () => {
    const set = await draft();
    const path = `${set}/import/csv?create_types=true`;
    const text = "filename,artifact_type,start_ms,end_ms\nplain.wav,new,1,2\nnone.wav,click,1,2\n";
    const key = { ...csv, "Idempotency-Key": "night" };
    const etag = (await client.get(set)).headers.get("etag")!;
    const first = await client.post(path, text, { ...key, "If-Match": etag });
    expect(first.body).toMatchObject({
      imported: 1,
      skipped: 1,
      created_types: ["new"],
      errors: [{ line: 3 }],
    });
    const [label] = (await client.get(`${set}/annotations`)).body;
    await client.delete(`${set}/annotations/${label.id}`);

    // If-Match still names the state before the first import.
    const again = await client.post(path, text, { ...key, "If-Match": etag });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("etag")).toBe((await client.get(set)).headers.get("etag"));
    expect((await client.get(`${set}/annotations`)).body).toEqual([]);

    const other = await client.post(path, `${text}plain.wav,click,5,6\n`, key);
    expect(other.body.detail).toMatchObject([{ loc: ["header", "Idempotency-Key"] }]);
    await client.delete(set);
    expect((await client.post(path, text, key)).body.code).toBe("annotation_set_not_found");
  });

  it("repeated with its Idempotency-Key lists the first hundred of its errors", async () => {
    const lines = Array.from({ length: 150 }, () => "nobody.wav,click,0,1");
    const body = ["filename,artifact_type,start_ms,end_ms", ...lines].join("\n");
    const path = `${await draft()}/import/csv`;
    const [first, again] = [
      await client.post(path, body, { ...csv, "Idempotency-Key": "faults" }),
      await client.post(path, body, { ...csv, "Idempotency-Key": "faults" }),
    ];
    expect([first.body.skipped, first.body.errors.length]).toEqual([150, 150]);
    expect(again.body).toEqual({ ...first.body, errors: first.body.errors.slice(0, 100) });
  });

  it("has separate Idempotency-Keys for dry runs and for each format", async () => {
    const set = await draft();
    const text = "filename,artifact_type,start_ms,end_ms\nplain.wav,click,1,2\n";
    const key = { ...csv, "Idempotency-Key": "dry" };
    for (const replayed of [null, "true"]) {
      const tried = await client.post(`${set}/import/csv?dry_run=true`, text, key);
      expect(tried.body).toMatchObject({ imported: 1 });
      expect(tried.headers.get("idempotency-replayed")).toBe(replayed);
    }
    expect((await client.get(`${set}/annotations`)).body).toEqual([]);
    expect((await client.post(`${set}/import/csv`, text, key)).status).toBe(422);
    const track = `${set}/import/audacity?audio_file_id=${audio[0]!.id}`;
    const added = await client.post(track, "0\t1\tclick\n", { ...plain, "Idempotency-Key": "dry" });
    expect(added.body).toMatchObject({ imported: 1 });
    const body = { tasks: [] };
    const tool = await client.post(`${set}/import/annotation-tool`, body, { "Idempotency-Key": "dry" });
    expect(tool.body).toMatchObject({ imported: 0 });
    expect(tool.headers.get("idempotency-replayed")).toBeNull();
  });

  it("changes no prototype and stores no __proto__ member", async () => {
    const set = await draft();
    const body = `[{"data":{"audio_file_id":"${audio[0]!.id}","__proto__":{"polluted":1}},"annotations":[{"result":[
      {"type":"labels","value":{"start":0,"end":1,"labels":["click"],"__proto__":{"polluted":1}},
       "meta":{"extra_data":{"constructor":{"prototype":{"polluted":1}},"kept":true}}},
      {"type":"labels","value":{"start":1,"end":2,"labels":["click"]},"meta":{"extra_data":{"__proto__":{"a":1}}}},
      {"type":"labels","value":{"start":2,"end":3,"labels":["click"]},"meta":{"extra_data":{"a":[{"__proto__":1}]}}},
      {"type":"labels","value":{"start":0,"end":1,"labels":["__proto__"]}}]}]}]`;
    const answer = await fetch(`${api.url}${set}/import/annotation-tool?create_types=true`, {
      method: "POST",
      headers: { "X-API-Key": client.key, "Content-Type": "application/json" },
      body,
    });
    // The same message as for the creation of a single annotation.
    const message = "extra_data: a member must not be named __proto__";
    expect(await answer.json()).toMatchObject({
      imported: 1,
      skipped: 3,
      errors: [{ result: 1, message }, { result: 2, message }, { result: 3 }],
    });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const [stored] = (await client.get(`${set}/annotations`)).body;
    expect(Object.keys(stored.extra_data).sort()).toEqual(["constructor", "kept"]);
  });

  it("is limited to 50,000 labels and lists only the first thousand faults", async () => {
    const set = await draft();
    const track = `${set}/import/audacity?audio_file_id=${audio[0]!.id}`;
    const faults = await client.post(track, "0\t1\tnone\n".repeat(1_500), plain);
    expect(faults.body).toMatchObject({ imported: 0, skipped: 1_500 });
    expect(faults.body.errors).toHaveLength(1_000);
    const many = await client.post(track, "0\t1\tclick\n".repeat(50_001), plain);
    expect(many.body.detail).toEqual([
      { loc: ["body"], msg: "Value error, an import takes at most 50000 labels", type: "value_error" },
    ]);
  });

  it("of many batches adds each label once, in any order of the labels", async () => {
    const set = await draft();
    // Every start time occurs twice, and the times go back and forth.
    const lines = Array.from(
      { length: 20_000 },
      (_, n) => `${((n * 7_919) % 9_973) / 1000}\t10.0${n % 5}\tclick\n`,
    );
    const track = `${set}/import/audacity?audio_file_id=${audio[0]!.id}`;
    const text = lines.join("");
    expect((await client.post(track, text, plain)).body).toMatchObject({ imported: 20_000, errors: [] });
    expect((await client.post(track, text, plain)).body).toMatchObject({ imported: 0, skipped: 20_000 });
    const more = `${text}0\t1\tclick\n${lines[0]}`;
    expect((await client.post(track, more, plain)).body).toMatchObject({ imported: 2, skipped: 20_000 });
    expect((await client.get(set)).body.total_annotations).toBe(20_002);
  });

  it("is atomic when many clients import the same labels at once, and adds each label once", async () => {
    const set = await draft();
    const body = [
      task(mine(), ...Array.from({ length: 50 }, (_, i) => result(i / 10, i / 10 + 0.05, "click"))),
    ];
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.post(`${set}/import/annotation-tool`, body)),
    );
    expect(answers.map((answer) => answer.body.imported).sort((a, b) => b - a)).toEqual([50, 0, 0, 0, 0]);
    expect(await annotationsOf(set)).toHaveLength(50);
  });

  it("during a publication is in the published set completely or not at all", async () => {
    const body = [task(mine(), ...Array.from({ length: 40 }, (_, i) => result(i / 10, i / 10, "click")))];
    for (let round = 0; round < 5; round++) {
      const set = await draft();
      const [imported, published] = await Promise.all([
        client.post(`${set}/import/annotation-tool`, body),
        client.post(`${set}/publish`),
      ]);
      expect(imported.body).toMatchObject(
        imported.status === 200 ? { imported: 40 } : { code: "annotation_set_published" },
      );
      const total = imported.status === 200 ? 40 : 0;
      expect(published.body.total_annotations).toBe(total);
      expect((await client.get(set)).body.annotations).toHaveLength(total);
    }
  });

  it("with a stale If-Match changes nothing", async () => {
    const set = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    await client.post(`${set}/annotations`, labels()[0]);
    const body = [task(mine(), result(5, 6, "click"))];
    const stale = await client.post(`${set}/import/annotation-tool`, body, { "If-Match": etag });
    expect(stale.status).toBe(412);
    const fresh = (await client.get(set)).headers.get("etag")!;
    const done = await client.post(`${set}/import/annotation-tool`, body, { "If-Match": fresh });
    expect(done.body.imported).toBe(1);
  });
});
