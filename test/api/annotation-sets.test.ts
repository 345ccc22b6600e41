// Annotation sets over HTTP: numbers, statistics, publishing, copies and the label tool's export.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { execute, useApi } from "../support/api.ts";
import { useDrafts } from "../support/drafts.ts";

const api = useApi();
const drafts = useDrafts(api);
const { client, audio, sets, draft, label } = drafts;

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
    const labelled = await client.delete(`/api/v1/datasets/${drafts.datasetId}/audio/${audio[0]}`);
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
