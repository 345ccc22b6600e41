// Deletion of inference jobs, whose detections may be millions: what clients and the operator see meanwhile. The tests do the
// work piece by piece, as the loop of controllers/background.ts does.
import { sql } from "slonik";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { isQueuedForPurge } from "../../src/db/adoption.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { doBackgroundWork, oldestBackgroundWork } from "../../src/db/operator/background-work.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { addEndedInference, countRows, makeDataset } from "../support/world.ts";

const api = useApi();
const large = 12_000;
let client: Client;
let dataset: string;

beforeEach(async () => {
  // What another test left is not what this one works on.
  await workAll();
  client = await api.tenant();
  dataset = await makeDataset(client);
});

const work = () => doBackgroundWork(api.operatorPool);
const ended = (detections: number) => addEndedInference(api.db, client, dataset, detections);
const rowsOf = (table: string) => countRows(api.db, table, client.tenantId);

async function workAll(): Promise<number> {
  let pieces = 0;
  while (await work()) pieces++;
  return pieces;
}

describe("the deletion of an inference job with very many detections", () => {
  it("hides the job at once and deletes its detections in pieces, before its files", async () => {
    const url = await ended(large);
    const job = url.slice(-36);
    const file = (await client.get(`${url}/files`)).body.items[0].id;
    expect((await client.delete(url)).status).toBe(204);
    const paths = ["", "/files", `/files/${file}`, `/files/${file}/detections`, "/detections", "/events"];
    for (const path of [...paths, "/export?format=csv"])
      expect([path, (await client.get(`${url}${path}`)).status]).toEqual([path, 404]);
    for (const path of ["/start", "/cancel", "/retry"])
      expect([path, (await client.post(`${url}${path}`)).status]).toEqual([path, 404]);
    const draft = { dataset_id: dataset, create_types: true };
    expect((await client.post(`${url}/to-annotation-set`, draft)).status).toBe(404);
    expect((await client.delete(url)).status).toBe(404);
    expect((await client.get("/api/v1/inference-jobs")).body.total).toBe(0);
    expect(await maybeOneJob(api.operatorPool, "inference", job)).toBeNull();
    expect(await rowsOf("detections")).toBe(large);
    expect(await oldestBackgroundWork(api.operatorPool)).toBeGreaterThan(0);

    expect(await work()).toBe("inference_job");
    expect([await rowsOf("detections"), await rowsOf("inference_files")]).toEqual([large - 5_000, 2]);
    expect(await workAll()).toBe(2);
    for (const table of ["detections", "inference_files", "inference_jobs"])
      expect([table, await rowsOf(table)]).toEqual([table, 0]);
    const log = sql.type(z.object({ id: z.number() }))`select id from job_events where job_id = ${job}`;
    expect(await api.db.anyFirst(log)).toEqual([]);
    expect(await oldestBackgroundWork(api.operatorPool)).toBe(0);
  });

  it("is final, and has the custom resource deleted at once instead of adopted again", async () => {
    const url = await ended(large);
    const job = url.slice(-36);
    await execute(
      api.db,
      sql.fragment`update inference_jobs set resource_name = 'night-shift' where id = ${job}`,
    );
    const resource = { name: "night-shift", uid: job };
    expect(await isQueuedForPurge(api.operatorPool, "inference", resource)).toBe(false);
    expect((await client.delete(url)).status).toBe(204);
    expect(await isQueuedForPurge(api.operatorPool, "inference", resource)).toBe(true);
    await expect(
      execute(api.db, sql.fragment`update inference_jobs set deleted_at = null where id = ${job}`),
    ).rejects.toThrow(/is deleted and stays so/);
    const left = sql.type(z.object({ kind: z.string(), target: z.string() }))`
      select distinct kind, target from leftovers where tenant_id = ${client.tenantId} and target like ${`ij-${job}%`}
      order by kind`;
    await workAll();
    expect(await api.db.any(left)).toEqual([
      { kind: "resource", target: `ij-${job}/night-shift` },
      { kind: "run", target: `ij-${job}` },
    ]);
  });

  it("repeats no upload ticket", async () => {
    const url = await ended(0);
    const { model_id } = (await client.get(url)).body;
    const job = `/api/v1/inference-jobs/${(await client.post("/api/v1/inference-jobs", { model_id })).body.id}`;
    const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
    const ticket = () => client.post(`${job}/files/upload-url`, file, { "Idempotency-Key": "ticket" });
    expect((await ticket()).status).toBe(201);
    await client.post(`${job}/cancel`);
    expect((await ticket()).status).toBe(201);
    await execute(
      api.db,
      sql.fragment`update inference_jobs set total_detections = ${large} where id = ${job.slice(-36)}`,
    );
    expect((await client.delete(job)).status).toBe(204);
    expect((await ticket()).status).toBe(404);
  });
});

describe("the deletion of a small inference job", () => {
  it("is complete when its request ends", async () => {
    const url = await ended(9_998);
    expect((await client.delete(url)).status).toBe(204);
    for (const table of ["detections", "inference_files", "inference_jobs"])
      expect([table, await rowsOf(table)]).toEqual([table, 0]);
    expect(await work()).toBeNull();
  });
});
