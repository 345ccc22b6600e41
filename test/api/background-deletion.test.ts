// Deletions that are too large for a request: they hide everything at once, and the background work deletes it in pieces.
// The tests do the work piece by piece, as the loop of controllers/background.ts does.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { oldestBackgroundWork } from "../../src/db/operator/background-work.ts";
import { claimDeliveries } from "../../src/db/webhook-delivery.ts";
import { execute, useApi } from "../support/api.ts";
import { large, useBackgroundWork } from "../support/background.ts";
import { addModel, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
const stage = useBackgroundWork(api);
const { client, work, workAll, setOf, labelsOf, rowsOf, addFiles } = stage;

describe("the deletion of a large draft", () => {
  it("hides the draft at once and deletes its labels in pieces", async () => {
    const { id } = await setOf(large);
    expect((await client.delete(`${stage.sets}/${id}`)).status).toBe(204);
    expect((await client.get(`${stage.sets}/${id}`)).status).toBe(404);
    expect((await client.get(stage.sets)).body.total).toBe(0);
    expect(await labelsOf(id)).toBe(large);
    expect(await oldestBackgroundWork(api.operatorPool)).toBeGreaterThan(0);
    await work();
    expect(await labelsOf(id)).toBe(large - 5_000);
    await workAll();
    expect(await labelsOf(id)).toBe(0);
  });
});

describe("the deletion of an audio file", () => {
  it("is refused while drafts have more labels of it than a request deletes", async () => {
    const { id, audio } = await setOf(100_001);
    const path = `/api/v1/datasets/${stage.dataset}/audio/${audio}`;
    const refused = await api.db.transaction(async (tx) => {
      // A deletion of this label would wait for the end of the transaction, and fail.
      await tx.query(
        sql.unsafe`select from annotations where audio_file_id = ${audio} limit 1 for key share`,
      );
      return await client.delete(path);
    });
    expect(refused).toMatchObject({ status: 409, body: { code: "audio_in_use" } });
    expect(refused.body.detail).toMatch(/more than 100000 labels/);
    expect(await labelsOf(id)).toBe(100_001);
    const one = (await client.get(`${stage.sets}/${id}/annotations?page_size=1`)).body[0].id;
    await client.delete(`${stage.sets}/${id}/annotations/${one}`);
    expect((await client.delete(path)).status).toBe(204);
    expect(await labelsOf(id)).toBe(0);
    expect(await rowsOf("audio_files")).toBe(0);
  });
});

describe("the deletion of a large dataset", () => {
  it("hides all that belongs to it at once and deletes it in pieces, published labels too", async () => {
    const { id, audio } = await setOf(large);
    await client.post(`${stage.sets}/${id}/publish`);
    const url = `/api/v1/datasets/${stage.dataset}`;
    expect((await client.delete(url)).status).toBe(204);
    for (const path of ["", "/audio", `/audio/${audio}`, "/annotation-sets", `/annotation-sets/${id}`])
      expect((await client.get(`${url}${path}`)).status).toBe(404);
    expect((await client.patch(`${url}/audio/${audio}`, { filename: "b.wav" })).status).toBe(404);
    expect((await client.delete(`${url}/audio/${audio}`)).status).toBe(404);
    expect((await client.post(`${url}/annotation-sets`)).status).toBe(404);
    expect((await client.get("/api/v1/usage")).body.quotas.datasets.used).toBe(0);
    expect(await labelsOf(id)).toBe(large);
    expect(await workAll()).toBe(4);
    for (const table of ["datasets", "annotation_sets", "audio_files", "annotations"])
      expect(await rowsOf(table)).toBe(0);
    const left = sql.type(z.object({ target: z.string() }))`
      select target from leftovers where tenant_id = ${client.tenantId} and kind = 'audio'`;
    expect(await api.db.anyFirst(left)).toEqual([audio]);
  });

  it("leaves the reviewed files of its sets to the background too", async () => {
    const { id } = (await client.post(stage.sets)).body;
    await addFiles(id, 6_000);
    expect((await client.delete(`/api/v1/datasets/${stage.dataset}`)).status).toBe(204);
    expect(await rowsOf("reviewed_files")).toBe(6_000);
    await workAll();
    expect(await rowsOf("audio_files")).toBe(0);
  });

  it("is final", async () => {
    await setOf(large);
    await client.delete(`/api/v1/datasets/${stage.dataset}`);
    await expect(
      execute(api.db, sql.fragment`update datasets set deleted_at = null where id = ${stage.dataset}`),
    ).rejects.toThrow(/is deleted and stays so/);
  });

  it("accepts no job on its audio, and repeats no upload ticket", async () => {
    const { audio } = await setOf(large);
    const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
    const ticket = () =>
      client.post(`/api/v1/datasets/${stage.dataset}/audio/upload-url`, file, {
        "Idempotency-Key": "ticket",
      });
    expect((await ticket()).status).toBe(201);
    const other = await makeDataset(client, ["click"]);
    const set = (await client.post(`/api/v1/datasets/${other}/annotation-sets`)).body.id;
    const training = await addTrainingJob(api.db, client.tenantId, other, set);
    const model_id = await addModel(api.db, client.tenantId, training);
    const jobs = "/api/v1/inference-jobs";
    const failed = (await client.post(jobs, { model_id, audio_file_ids: [audio] })).body.id;
    for (const table of ["inference_jobs", "inference_files"])
      await execute(
        api.db,
        sql.fragment`update ${sql.identifier([table])} set status = 'failed' where tenant_id = ${client.tenantId}`,
      );
    expect((await client.delete(`/api/v1/datasets/${stage.dataset}`)).status).toBe(204);
    expect((await client.post(`${jobs}/${failed}/retry`)).body.code).toBe("audio_not_ready");
    expect((await ticket()).status).toBe(404);
    expect((await client.get("/api/v1/usage")).body.quotas.audio_files_per_dataset.used).toBe(0);
    expect((await client.post(jobs, { model_id, dataset_id: stage.dataset })).status).toBe(404);
    expect((await client.post(jobs, { model_id, audio_file_ids: [audio] })).status).toBe(404);
  });
});

describe("the deletion of a webhook with very many deliveries", () => {
  it("hides it at once and deletes the deliveries in pieces", async () => {
    const { id } = (await client.post("/api/v1/webhooks", { url: "https://example.com/" })).body;
    await execute(
      api.db,
      sql.fragment`
        insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
        select gen_random_uuid(), ${client.tenantId}, ${id}, 'evt_' || n, 'model.created', '{}', now()
        from generate_series(1, ${large}::int) n`,
    );
    const left = () =>
      api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
        select count(*) as count from webhook_deliveries where webhook_id = ${id}`);
    expect((await client.delete(`/api/v1/webhooks/${id}`)).status).toBe(204);
    const delivery = await api.db.oneFirst(sql.type(z.object({ id: z.string() }))`
      select id from webhook_deliveries where webhook_id = ${id} limit 1`);
    expect((await client.get(`/api/v1/webhooks/${id}`)).status).toBe(404);
    expect((await client.get(`/api/v1/webhooks/${id}/deliveries`)).status).toBe(404);
    expect((await client.get(`/api/v1/webhooks/${id}/deliveries/${delivery}`)).status).toBe(404);
    expect((await client.get("/api/v1/webhooks")).body.total).toBe(0);
    expect(await left()).toBe(large - 10_000);
    const claim = { now: Date.now(), leaseMs: 60_000, limit: 100, inFlight: [] };
    const limits = { webhook: 100, tenant: 100, host: 100 };
    expect(await claimDeliveries(api.operatorPool, { ...claim, limits })).toEqual([]);
    expect(await workAll()).toBe(1);
    expect(await left()).toBe(0);
  });
});
