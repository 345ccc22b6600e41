// Uploads before they are confirmed: the permitted operations and their expiry.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, clientOf, execute, serveApi, testDeps, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { untilLocked } from "../support/locks.ts";
import { postForm } from "../support/upload.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let datasetId: string;
let files: string;
beforeAll(async () => {
  client = await api.tenant();
  datasetId = await makeDataset(client);
  files = `/api/v1/datasets/${datasetId}/audio`;
});

const bytes = wav();
async function announce() {
  const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length };
  return (await client.post(`${files}/upload-url`, body)).body;
}
/** Ends the time in which the upload can be confirmed. */
const outlive = (id: string) =>
  execute(api.db, sql.fragment`update audio_files set upload_expires_at = now() where id = ${id}`);

describe("an upload that is not confirmed in time", () => {
  it("is shown as expired, is not part of its dataset and can no longer be confirmed", async () => {
    const ticket = await announce();
    const path = `${files}/${ticket.audio_file_id}`;
    expect(await postForm(ticket.upload, bytes)).toBe(201);
    expect((await client.get(path)).body.status).toBe("pending_upload");
    const counted = (await client.get(`/api/v1/datasets/${datasetId}`)).body.audio_file_count;
    await outlive(ticket.audio_file_id);
    expect((await client.get(path)).body.status).toBe("expired");
    expect((await client.get(`/api/v1/datasets/${datasetId}`)).body.audio_file_count).toBe(counted - 1);
    expect(await client.post(`${path}/confirm`)).toMatchObject({
      status: 409,
      body: { code: "upload_expired" },
    });
    expect((await client.get(`${path}/download`)).body.code).toBe("audio_not_ready");
    const idsWith = async (status: string) =>
      (await client.get(`${files}?status=${status}`)).body.items.map((file: { id: string }) => file.id);
    expect(await idsWith("expired")).toContain(ticket.audio_file_id);
    expect(await idsWith("pending_upload")).not.toContain(ticket.audio_file_id);
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
  });

  const refused = { status: 409, body: { code: "upload_expired" } };

  it("is refused also if the time ends while its confirm waits for another one", async () => {
    const waiting = await announce();
    const id: string = waiting.audio_file_id;
    expect(await postForm(waiting.upload, bytes)).toBe(201);
    let confirm: ReturnType<Client["post"]> | undefined;
    // The confirm waits for its lease.
    await api.db.transaction(async (tx) => {
      await tx.query(sql.fragment`
        insert into leases (tenant_id, id, holder, expires_at)
        values (${client.tenantId}, ${id}, ${randomUUID()}, now() + interval '1 hour')`);
      confirm = client.post(`${files}/${id}/confirm`);
      await untilLocked(tx);
      await tx.query(sql.fragment`update audio_files set upload_expires_at = now() where id = ${id}`);
      await tx.query(sql.fragment`delete from leases where id = ${id}`);
    });
    expect(await confirm).toMatchObject(refused);
  });

  it("is refused also if it is marked as expired while its confirm copies it", async () => {
    const copied = await announce();
    expect(await postForm(copied.upload, bytes)).toBe(201);
    const slow = {
      ...api.storage,
      copy: async (...args: Parameters<typeof api.storage.copy>) => {
        const copy = await api.storage.copy(...args);
        await execute(
          api.db,
          sql.fragment`update audio_files set status = 'expired' where id = ${copied.audio_file_id}`,
        );
        return copy;
      },
    };
    const own = await serveApi(testDeps(api.pool, slow));
    try {
      const same = clientOf(own.url, client.key, client.tenantId);
      expect(await same.post(`${files}/${copied.audio_file_id}/confirm`)).toMatchObject(refused);
    } finally {
      await own.stop();
    }
  });

  it("of an inference job answers 404", async () => {
    const training = await addTrainingJob(api.db, client.tenantId, datasetId, datasetId);
    const modelId = await addModel(api.db, client.tenantId, training);
    const job = (await client.post("/api/v1/inference-jobs", { model_id: modelId })).body.id;
    const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length };
    const ticket = (await client.post(`/api/v1/inference-jobs/${job}/files/upload-url`, body)).body;
    const path = `/api/v1/inference-jobs/${job}/files/${ticket.inference_file_id}`;
    expect((await client.get(path)).status).toBe(200);
    await execute(
      api.db,
      sql.fragment`update inference_files set upload_expires_at = now() where id = ${ticket.inference_file_id}`,
    );
    expect((await client.get(path)).status).toBe(404);
    expect((await client.post(`${path}/confirm`)).status).toBe(404);
  });

  it("is not searched by inference", async () => {
    const training = await addTrainingJob(api.db, client.tenantId, datasetId, datasetId);
    const model_id = await addModel(api.db, client.tenantId, training);
    const ticket = await announce();
    await outlive(ticket.audio_file_id);
    const body = { model_id, audio_file_ids: [ticket.audio_file_id] };
    expect((await client.post("/api/v1/inference-jobs", body)).body.code).toBe("audio_not_ready");
  });
});

describe("a label", () => {
  it("requires audio that was uploaded, since its length is unknown before", async () => {
    const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
    const path = `${sets}/${(await client.post(sets)).body.id}/annotations`;
    const ticket = await announce();
    const label = { audio_file_id: ticket.audio_file_id, artifact_type: "click", start_ms: 0, end_ms: 400 };
    const refused = { loc: ["body", "audio_file_id"], type: "value_error" };
    expect((await client.post(path, label)).body.detail).toMatchObject([refused]);
    await outlive(ticket.audio_file_id);
    expect((await client.post(path, label)).body.detail).toMatchObject([refused]);
    const bulk = await client.post(`${path}/bulk`, { annotations: [label] });
    expect(bulk.body.detail).toMatchObject([{ loc: ["body", "annotations", 0, "audio_file_id"] }]);

    const other = await announce();
    await postForm(other.upload, bytes);
    await client.post(`${files}/${other.audio_file_id}/confirm`);
    expect((await client.post(path, { ...label, audio_file_id: other.audio_file_id })).status).toBe(201);
    const long = { ...label, audio_file_id: other.audio_file_id, end_ms: 600 };
    expect((await client.post(path, long)).body.detail).toMatchObject([{ loc: ["body", "end_ms"] }]);
  });

  it("is accepted on audio whose header has no length", async () => {
    const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
    const path = `${sets}/${(await client.post(sets)).body.id}/annotations`;
    const id = await addReadyAudio(api.db, client.tenantId, datasetId, {
      status: "processing",
      embeddingStatus: "pending",
    });
    await execute(api.db, sql.fragment`update audio_files set duration_ms = null where id = ${id}`);
    const label = { audio_file_id: id, artifact_type: "click", start_ms: 5_000, end_ms: 6_000 };
    expect((await client.post(path, label)).status).toBe(201);
  });
});
