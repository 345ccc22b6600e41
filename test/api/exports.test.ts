// Export of labels in every format, and their import into another set.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { parseCells } from "../../src/api/exchange/delimited.ts";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";
import { csv, type Label, type NamedFile, plain, useExchange } from "./exchange.ts";

const api = useApi();
const exchange = useExchange(api);
const { draft, labels, filled, annotationsOf } = exchange;
let client: Client;
let datasetId: string;
/** Ordered by id, as exports are. */
let audio: NamedFile[];
beforeAll(() => {
  ({ client, datasetId, audio } = exchange.made());
});

const headersOf = ({ headers }: Answer) => [headers.get("content-type"), headers.get("content-disposition")];

describe("an exported and imported set", () => {
  it.each(["", "?flavor=import", "?audio=key", "?flavor=import&audio=key"])(
    "equals the original through the label tool's document%s",
    async (query) => {
      const set = await filled();
      const document = (await client.get(`${set}/export/annotation-tool${query}`)).body;
      for (const body of [document, document.tasks]) {
        const copy = await draft();
        expect((await client.post(`${copy}/import/annotation-tool`, body)).body).toEqual({
          imported: labels().length,
          skipped: 0,
          created_types: [],
          errors: [],
        });
        expect(await annotationsOf(copy)).toEqual(await annotationsOf(set));
      }
    },
  );

  it("equals the original through CSV", async () => {
    const set = await filled();
    const exported = await client.get(`${set}/export/csv`);
    const copy = await draft();
    const imported = await client.post(`${copy}/import/csv`, exported.text, csv);
    expect(imported.body).toMatchObject({ imported: labels().length, skipped: 0, errors: [] });
    expect(await annotationsOf(copy)).toEqual(await annotationsOf(set));
  });

  it("equals the original through CSV with file names only, some of which look like formulas", async () => {
    const set = await filled();
    const { text } = await client.get(`${set}/export/csv`);
    const copy = await draft();
    const nameless = text.replace("audio_file_id", "ignored");
    expect((await client.post(`${copy}/import/csv`, nameless, csv)).body.imported).toBe(labels().length);
    expect(await annotationsOf(copy)).toEqual(await annotationsOf(set));
  });

  it("equals the original through label tracks, except for confidence and extra data", async () => {
    const set = await filled();
    const copy = await draft();
    for (const { id } of audio) {
      const { text } = await client.get(`${set}/export/audacity?audio_file_id=${id}`);
      const imported = await client.post(`${copy}/import/audacity?audio_file_id=${id}`, text, plain);
      expect(imported.body).toMatchObject({ imported: 3, skipped: 0 });
    }
    const left = ["confidence", "extra_data"];
    expect(await annotationsOf(copy, ...left)).toEqual(await annotationsOf(set, ...left));
  });

  it("can be imported twice, and the second import adds nothing", async () => {
    const set = await filled();
    const document = (await client.get(`${set}/export/annotation-tool`)).body;
    const again = await client.post(`${set}/import/annotation-tool`, document);
    expect(again.body).toMatchObject({ imported: 0, skipped: labels().length, errors: [] });
    const { text } = await client.get(`${set}/export/csv`);
    expect((await client.post(`${set}/import/csv`, text, csv)).body).toMatchObject({ imported: 0 });
    expect(await annotationsOf(set)).toHaveLength(labels().length);
  });
});

describe("an export", () => {
  it("is a download with a content type and a file name, and is never rendered as a page", async () => {
    const set = await filled();
    await client.patch(`/api/v1/datasets/${datasetId}`, { name: "tëst: ../音" });
    const { version } = (await client.get(set)).body;
    const dispositionOf = (extension: string) =>
      `attachment; filename="t_st_ .._ v${version}.${extension}"; filename*=UTF-8''t%C3%ABst_%20.._%E9%9F%B3%20v${version}.${extension}`;
    const withName = (name: string) => name.replace("_ v", "__ v");
    const answers = [
      [
        await client.get(`${set}/export/csv`),
        "text/csv; charset=utf-8; header=present",
        dispositionOf("csv"),
      ],
      [
        await client.get(`${set}/export/dcase`),
        "text/tab-separated-values; charset=utf-8",
        dispositionOf("tsv"),
      ],
      [
        await client.get(`${set}/export/annotation-tool`),
        "application/json; charset=utf-8",
        dispositionOf("json"),
      ],
    ] as const;
    for (const [answer, type, disposition] of answers) {
      expect(headersOf(answer)).toEqual([type, withName(disposition)]);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const first = audio[0]!;
    const track = await client.get(`${set}/export/audacity?audio_file_id=${first.id}`);
    expect(headersOf(track)).toEqual([
      "text/plain; charset=utf-8",
      `attachment; filename="plain.txt"; filename*=UTF-8''plain.txt`,
    ]);
    const captions = await client.get(`${set}/export/webvtt?audio_file_id=${first.id}`);
    expect(headersOf(captions)[0]).toBe("text/vtt; charset=utf-8");
    expect(captions.text).toMatch(/^WEBVTT\n\n[0-9a-f-]{36}\n00:00:00.000 --> 00:00:00.001\nclick\n/);
  });

  it("supports the filters of the list", async () => {
    const set = await filled();
    const lines = async (query: string) =>
      [...parseCells((await client.get(`${set}/export/dcase?${query}`)).text, "\t")].length - 1;
    expect(await lines("artifact_type=click")).toBe(audio.length);
    expect(await lines("max_confidence=0.5")).toBe(audio.length);
    expect(await lines(`audio_file_id=${audio[0]!.id}`)).toBe(3);
    expect(await lines(`audio_file_id=${randomUUID()}`)).toBe(0);
    expect(await lines("start_ms=0&end_ms=2")).toBe(2);
    const tool = (await client.get(`${set}/export/annotation-tool?artifact_type=click&end_ms=1`)).body;
    expect(tool.tasks).toHaveLength(1);
  });

  it("in a format whose times belong to one file requires that file", async () => {
    const set = await draft();
    for (const format of ["audacity", "webvtt"]) {
      const missing = await client.get(`${set}/export/${format}`);
      expect(missing.body.detail).toEqual([
        { loc: ["query", "audio_file_id"], msg: "Field required", type: "missing" },
      ]);
      const unknown = await client.get(`${set}/export/${format}?audio_file_id=${randomUUID()}`);
      expect([unknown.status, unknown.body.code]).toEqual([404, "audio_file_not_found"]);
    }
  });

  it("has signed URLs that are valid for a day", async () => {
    const set = await filled();
    const { tasks } = (await client.get(`${set}/export/annotation-tool?end_ms=1`)).body;
    const url = new URL(tasks[0].data.audio);
    expect(url.pathname).toMatch(new RegExp(`/audio/${client.tenantId}/${audio[0]!.id}$`));
    expect(url.searchParams.get("X-Amz-Expires")).toBe("86400");
  });

  it("of several batches is complete, with one task per file", async () => {
    const set = await draft();
    await execute(
      api.db,
      sql.fragment`
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
      select gen_random_uuid(), ${client.tenantId}, ${datasetId}, ${set.split("/").at(-1)!}, ${audio[0]!.id}, 'click', n, n + 1
      from generate_series(0, 4999) n`,
    );
    const { tasks } = (await client.get(`${set}/export/annotation-tool?audio=key`)).body;
    expect(tasks).toHaveLength(1);
    const starts = tasks[0].annotations[0].result.map(
      (result: { value: { start: number } }) => result.value.start,
    );
    expect(starts).toEqual(Array.from({ length: 5_000 }, (_, n) => n / 1000));
    expect((await client.get(`${set}/export/csv`)).text.split("\r\n")).toHaveLength(5_002);
    const track = await client.get(`${set}/export/audacity?audio_file_id=${audio[0]!.id}`);
    expect(new Set(track.text.trimEnd().split("\n")).size).toBe(5_000);
    const listed = (await client.get(`${set}/annotations?audio_file_id=${audio[0]!.id}`)).body;
    expect(listed.map((annotation: Label) => annotation.start_ms / 1000)).toEqual(starts);
  });
});
