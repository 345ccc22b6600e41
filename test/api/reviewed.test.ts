// Reviewed marks of annotation sets: created, listed, deleted, frozen, copied, and their effect on training.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { isFrozen } from "../../src/db/driver/errors.ts";
import { eachTrainFile, type TrainPiece } from "../../src/db/operator/run.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let stranger: Client;
beforeAll(async () => {
  client = await api.tenant();
  stranger = await api.tenant();
});

async function setup(files = 2) {
  const datasetId = await makeDataset(client);
  const audio: string[] = [];
  for (let i = 0; i < files; i++)
    audio.push(await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 200_000 }));
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const setId: string = (await client.post(sets)).body.id;
  return { datasetId, audio, sets, setId, path: `${sets}/${setId}`, reviewed: `${sets}/${setId}/reviewed` };
}

const idsOf = async (list: string) =>
  (await client.get(list)).body.items.map((item: { audio_file_id: string }) => item.audio_file_id);

describe("a reviewed mark", () => {
  it("is created once, listed and deleted", async () => {
    const { audio, reviewed } = await setup();
    expect((await client.put(`${reviewed}/${audio[0]}`)).status).toBe(204);
    expect((await client.put(`${reviewed}/${audio[0]}`)).status).toBe(204);
    expect((await client.put(`${reviewed}/${audio[1]}`)).status).toBe(204);
    expect((await client.get(reviewed)).body).toMatchObject({ total: 2, page: 1, has_more: false });
    expect((await idsOf(reviewed)).sort()).toEqual([...audio].sort());
    expect((await client.get(`${reviewed}?page=2&page_size=1`)).body.items).toHaveLength(1);
    expect((await client.delete(`${reviewed}/${audio[0]}`)).status).toBe(204);
    expect((await client.delete(`${reviewed}/${audio[0]}`)).status).toBe(404);
    expect(await idsOf(reviewed)).toEqual([audio[1]]);
  });

  it("is answered with 401 without a key, and with 404 for other tenants, unknown sets and files of other datasets", async () => {
    const { audio, sets, reviewed } = await setup();
    const other = await setup();
    expect((await api.as(null).put(`${reviewed}/${audio[0]}`)).status).toBe(401);
    expect((await api.as(null).get(reviewed)).status).toBe(401);
    const unknown = (await client.put(`${sets}/${randomUUID()}/reviewed/${audio[0]}`)).text;
    expect(await stranger.put(`${reviewed}/${audio[0]}`)).toMatchObject({ status: 404, text: unknown });
    expect(await stranger.get(reviewed)).toMatchObject({ status: 404, text: unknown });
    expect((await stranger.delete(`${reviewed}/${audio[0]}`)).status).toBe(404);
    const noFile = (await client.put(`${reviewed}/${randomUUID()}`)).text;
    expect(await client.put(`${reviewed}/${other.audio[0]}`)).toMatchObject({ status: 404, text: noFile });
  });

  it("requires audio that was uploaded", async () => {
    const { datasetId, reviewed } = await setup();
    const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
    const ticket = (await client.post(`/api/v1/datasets/${datasetId}/audio/upload-url`, body)).body;
    const answer = await client.put(`${reviewed}/${ticket.audio_file_id}`);
    expect(answer).toMatchObject({ status: 409, body: { code: "audio_not_ready" } });
  });

  it("changes the set's ETag, and is refused with a stale If-Match", async () => {
    const { audio, path, reviewed } = await setup();
    const etag = (await client.get(path)).headers.get("etag")!;
    const marked = await client.put(`${reviewed}/${audio[0]}`, undefined, { "If-Match": etag });
    expect(marked.status).toBe(204);
    expect((await client.get(path)).headers.get("etag")).toBe(marked.headers.get("x-annotation-set-etag"));
    expect((await client.put(`${reviewed}/${audio[1]}`, undefined, { "If-Match": etag })).status).toBe(412);
    expect((await client.delete(`${reviewed}/${audio[0]}`, { "If-Match": etag })).status).toBe(412);
    const now = (await client.get(path)).headers.get("etag")!;
    expect((await client.delete(`${reviewed}/${audio[0]}`, { "If-Match": now })).status).toBe(204);
  });

  it("is frozen with its set, in the database too", async () => {
    const { datasetId, audio, setId, path, reviewed } = await setup();
    await client.put(`${reviewed}/${audio[0]}`);
    await client.post(`${path}/publish`);
    const published = { status: 409, body: { code: "annotation_set_published" } };
    expect(await client.put(`${reviewed}/${audio[1]}`)).toMatchObject(published);
    expect(await client.delete(`${reviewed}/${audio[0]}`)).toMatchObject(published);
    const missing = { status: 404, body: { code: "audio_file_not_found" } };
    expect(await client.put(`${reviewed}/${randomUUID()}`)).toMatchObject(missing);
    expect(await client.delete(`${reviewed}/${audio[1]}`)).toMatchObject(missing);
    const { tenantId } = client;
    for (const statement of [
      sql.fragment`insert into reviewed_files (tenant_id, dataset_id, annotation_set_id, audio_file_id)
        values (${tenantId}, ${datasetId}, ${setId}, ${audio[1]!})`,
      sql.fragment`delete from reviewed_files where annotation_set_id = ${setId}`,
      sql.fragment`update annotation_sets set status = 'draft' where id = ${setId}`,
      sql.fragment`update annotation_sets set total_annotations = 7 where id = ${setId}`,
    ])
      await expect(execute(api.db, statement)).rejects.toSatisfy(isFrozen);
    expect(await idsOf(reviewed)).toEqual([audio[0]]);
  });

  it("prevents the deletion of its audio once the set is published, and not in a draft", async () => {
    const { datasetId, audio, path, reviewed } = await setup();
    for (const id of audio) await client.put(`${reviewed}/${id}`);
    const file = (id: string) => `/api/v1/datasets/${datasetId}/audio/${id}`;
    const before = (await client.get(path)).headers.get("etag");
    expect((await client.delete(file(audio[0]!))).status).toBe(204);
    expect(await idsOf(reviewed)).toEqual([audio[1]]);
    expect((await client.get(path)).headers.get("etag")).not.toBe(before);
    await client.post(`${path}/publish`);
    expect((await client.delete(file(audio[1]!))).body.code).toBe("audio_in_use");
    expect((await client.delete(`/api/v1/datasets/${datasetId}`)).status).toBe(204);
  });

  it("is copied into a draft that is created from the set", async () => {
    const { audio, sets, setId, path, reviewed } = await setup();
    await client.put(`${reviewed}/${audio[0]}`);
    await client.post(`${path}/publish`);
    const draft = (await client.post(sets, { from_annotation_set_id: setId })).body.id;
    expect(await idsOf(`${sets}/${draft}/reviewed`)).toEqual([audio[0]]);
    expect((await client.put(`${sets}/${draft}/reviewed/${audio[1]}`)).status).toBe(204);
  });
});

describe("training", () => {
  it("treats marked and labelled files as reviewed, and cuts labels at the end of the audio", async () => {
    const { datasetId, audio, setId, path, reviewed } = await setup(4);
    const [labelled, marked, silent, cut] = audio;
    const label = (id: string, start_ms: number, end_ms: number) =>
      client.post(`${path}/annotations`, { audio_file_id: id, artifact_type: "click", start_ms, end_ms });
    await label(labelled!, 10, 20);
    await client.put(`${reviewed}/${marked}`);
    await label(cut!, 100_000, 150_000);
    await label(cut!, 190_000, 199_000);
    // The decoded audio is shorter than its header declared.
    await execute(api.db, sql.fragment`update audio_files set duration_ms = 120000 where id = ${cut!}`);
    await client.post(`${path}/publish`);
    const config = { artifact_types: ["click"] };
    const answer = await client.post("/api/v1/training-jobs", {
      dataset_id: datasetId,
      annotation_set_id: setId,
      config,
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { status_message: "2 annotations reach beyond the end of the audio and are cut there" },
    });
    const events = (await client.get(`/api/v1/training-jobs/${answer.body.id}/events`)).body.items;
    expect(events).toContainEqual(expect.objectContaining({ level: "warning", type: "message" }));
    const pieces: TrainPiece[] = [];
    for await (const piece of eachTrainFile(api.db, answer.body.id)) pieces.push(piece);
    const seen = (id: string | undefined) => {
      const { file, labels } = pieces.find((piece) => piece.file?.id === id)!;
      const annotations = JSON.parse(`[${labels}]`) as { start_ms: number; end_ms: number }[];
      return [file?.reviewed, annotations.map(({ start_ms, end_ms }) => [start_ms, end_ms])];
    };
    expect(seen(labelled)).toEqual([true, [[10, 20]]]);
    expect(seen(marked)).toEqual([true, []]);
    expect(seen(silent)).toEqual([false, []]);
    expect(seen(cut)).toEqual([true, [[100_000, 120_000]]]);
  });

  it("is refused when all labels of a type are beyond the end of their audio", async () => {
    const { datasetId, audio, setId, path } = await setup(3);
    const label = { audio_file_id: audio[0], artifact_type: "click", start_ms: 190_000, end_ms: 199_000 };
    await client.post(`${path}/annotations`, label);
    await client.post(`${path}/publish`);
    await execute(api.db, sql.fragment`update audio_files set duration_ms = 150000 where id = ${audio[0]!}`);
    const body = { dataset_id: datasetId, annotation_set_id: setId, config: { artifact_types: ["click"] } };
    expect((await client.post("/api/v1/training-jobs", body)).body.code).toBe("no_annotations");
  });
});
