// Usage counters of a tenant, which quotas compare with their limits: they stay exact under every change, and a
// transaction that changes them never deadlocks with itself.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";
import { addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
const upload = (size_bytes = 100) => ({ filename: "x.wav", content_type: "audio/wav", size_bytes });
const label = (audio_file_id: string, start_ms = 0) => ({
  audio_file_id,
  artifact_type: "click",
  start_ms,
  end_ms: start_ms + 1,
});

async function usage(client: Client): Promise<Record<string, { used: number }>> {
  return (await client.get("/api/v1/usage")).body.quotas;
}

describe("usage", () => {
  it("equals a count of the rows after every kind of change", async () => {
    const client = await api.tenant();
    const { tenantId } = client;
    const [one, two] = [await makeDataset(client), await makeDataset(client)];
    const files = Array.from({ length: 7 }, (_, i) => upload(100 + i));
    const tickets = (await client.post(`/api/v1/datasets/${one}/audio/upload-urls`, { files })).body.items;
    await client.post(`/api/v1/datasets/${two}/audio/upload-url`, upload(10_000));
    const ids: string[] = tickets.map((ticket: { audio_file_id: string }) => ticket.audio_file_id);
    await client.delete(`/api/v1/datasets/${one}/audio/${ids[0]}`);
    // Like the operator's sweep, and then the deletion of the expired upload.
    await execute(api.db, sql.fragment`update audio_files set status = 'expired' where id = ${ids[1]!}`);
    await execute(api.db, sql.fragment`delete from audio_files where id = ${ids[1]!}`);
    await execute(api.db, sql.fragment`update audio_files set status = 'expired' where id = ${ids[2]!}`);

    const sets = `/api/v1/datasets/${one}/annotation-sets`;
    const set = (await client.post(sets)).body.id;
    const audio = await addReadyAudio(api.db, tenantId, one);
    const annotations = Array.from({ length: 5 }, (_, i) => label(audio, i));
    await client.post(`${sets}/${set}/annotations/bulk`, { annotations });
    const copy = (await client.post(sets, { from_annotation_set_id: set })).body.id;
    await client.post(`${sets}/${copy}/annotations`, label(audio, 50));
    await client.post(`${sets}/${copy}/publish`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    expect(await usage(client)).toMatchObject({
      audio_files_per_dataset: { used: 5 },
      audio_bytes: { used: 103 + 104 + 105 + 106 + 10_000 + 1000 },
      annotations_per_set: { used: 6 },
    });

    const unlabelled = await addReadyAudio(api.db, tenantId, one);
    const draft = (await client.post(sets)).body.id;
    await client.post(`${sets}/${draft}/annotations`, label(unlabelled));
    await client.delete(`/api/v1/datasets/${one}/audio/${unlabelled}`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    await client.delete(`/api/v1/datasets/${one}`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    expect(await usage(client)).toMatchObject({
      audio_files_per_dataset: { used: 1 },
      audio_bytes: { used: 10_000 },
      annotations_per_set: { used: 0 },
    });
    await execute(api.db, sql.fragment`delete from tenants where id = ${tenantId}`);
  });

  it("stays exact under concurrent changes", async () => {
    const client = await api.tenant();
    const datasets = await Promise.all([makeDataset(client), makeDataset(client), makeDataset(client)]);
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const path = `/api/v1/datasets/${datasets[i % 3]}/audio`;
        const ticket = await client.post(`${path}/upload-url`, upload(i + 1));
        expect(ticket.status, ticket.text).toBe(201);
        if (i % 2 === 0) await client.delete(`${path}/${ticket.body.audio_file_id}`);
      }),
    );
    expect(await usage(client)).toMatchObject({
      ...(await counted(client.tenantId)),
      audio_bytes: { used: 930 },
    });
  });
});

it("the total in the list of training jobs is exact, whichever role inserts or deletes the jobs", async () => {
  const client = await api.tenant();
  const total = async (path = "/api/v1/training-jobs") => (await client.get(path)).body.total;
  expect(await total()).toBe(0);
  const jobs = await Promise.all(
    Array.from({ length: 5 }, () => addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID())),
  );
  expect(await total()).toBe(5);
  const [first] = jobs;
  expect((await client.delete(`/api/v1/training-jobs/${first}`)).status).toBe(204);
  await execute(api.db, sql.fragment`delete from training_jobs where id = ${jobs[1]!}`);
  expect(await total()).toBe(3);
  expect(await total("/api/v1/training-jobs?page=2")).toBe(3);
  expect(await total("/api/v1/training-jobs?status=completed")).toBe(3);
  expect(await total("/api/v1/training-jobs?status=failed")).toBe(0);
  await execute(api.db, sql.fragment`delete from tenants where id = ${client.tenantId}`);
});

it("a transaction that changes files of several datasets blocks concurrent uploads and commits without a deadlock", async () => {
  const client = await api.tenant();
  const [one, two] = [await makeDataset(client), await makeDataset(client)];
  const path = (dataset: string) => `/api/v1/datasets/${dataset}/audio/upload-url`;
  const ids: string[] = [];
  for (const dataset of [one, two]) ids.push((await client.post(path(dataset), upload())).body.audio_file_id);
  let late: Promise<Answer> | undefined;
  await api.db.transaction(async (tx) => {
    const expire = (id: string) =>
      tx.query(sql.type(z.object({}))`update audio_files set status = 'expired' where id = ${id}`);
    await expire(ids[0]!);
    late = client.post(path(two), upload());
    await untilLocked(tx);
    await expire(ids[1]!);
  });
  expect((await late)?.status).toBe(201);
  expect(await usage(client)).toMatchObject({
    audio_bytes: { used: 100 },
    audio_files_per_dataset: { used: 1 },
  });
});

/** The values that the triggers maintain, counted from the rows. */
async function counted(tenantId: string) {
  const row = z.object({ bytes: z.number(), files: z.number(), annotations: z.number() });
  const { bytes, files, annotations } = await api.db.one(sql.type(row)`
    select coalesce((select sum(size_bytes) from audio_files where tenant_id = ${tenantId} and status <> 'expired'), 0)::bigint
        as bytes,
      coalesce((select max(n) from (select count(*) as n from audio_files
        where tenant_id = ${tenantId} and status <> 'expired' group by dataset_id) a), 0) as files,
      coalesce((select max(n) from (select count(*) as n from annotations
        where tenant_id = ${tenantId} group by annotation_set_id) b), 0) as annotations`);
  return {
    audio_bytes: { used: bytes },
    audio_files_per_dataset: { used: files },
    annotations_per_set: { used: annotations },
  };
}
