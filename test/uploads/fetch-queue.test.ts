// The queue of the files that the service fetches from URLs: crashes, several processes, deletions, and the places of tenants
// and hosts.
import { once } from "node:events";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { claimUrlUploads, renewUrlUpload } from "../../src/db/url-upload.ts";
import { isNotFound } from "../../src/storage/errors.ts";
import { execute, useApi } from "../support/api.ts";
import { bytes, config, filesOf, hanging, idOf, sending, useFetching } from "../support/fetching.ts";
import { poll } from "../support/poll.ts";

const api = useApi({ config });
const { client, running, serve, start, request, settled, waiting } = useFetching(api);

describe("the queue of fetches", () => {
  it("goes on after a crash, and what the crash left in the store is deleted", async () => {
    const origin = await serve(sending(bytes));
    const path = await request(`${origin}/a.wav`);
    const incoming = `incoming/${client.tenantId}/${idOf(path)}`;
    const [crashed] = await claimUrlUploads(api.operatorPool, { total: 1, tenant: 1, host: 1 }, 50);
    const left = await api.storage.startParts(incoming, { contentType: "audio/wav", metadata: {} });
    start();
    expect((await settled(path)).status).toBe("processing");
    expect(await api.storage.listParts(incoming, left)).toBeUndefined();
    expect(await renewUrlUpload(api.operatorPool, crashed!, 50)).toBe(false);
  });

  it("is claimed by one process at a time, each file once", async () => {
    const origin = await serve(sending(bytes));
    for (let i = 0; i < 3; i++) await request(`${origin}/${i}.wav`);
    const limits = { total: 8, tenant: 3, host: 8 };
    const claims = await Promise.all(
      Array.from({ length: 4 }, () => claimUrlUploads(api.operatorPool, limits, 60_000)),
    );
    expect(claims.map((claim) => claim.length).sort()).toEqual([0, 0, 0, 3]);
  });

  it("ends a fetch when its file is deleted", async () => {
    let closed: Promise<unknown> | undefined;
    const origin = await serve((request, response, raw) => {
      closed = once(response, "close");
      hanging(request, response, raw);
    });
    const path = await request(`${origin}/a.wav`);
    start({ timing: { leaseMs: 400 } });
    await poll("the fetch to begin", () => closed !== undefined);
    expect((await client.delete(path)).status).toBe(204);
    await closed;
    expect(await waiting()).toEqual([]);
  });

  it("does not count an attempt that ends with its process", async () => {
    let begun = false;
    const origin = await serve((...args) => {
      begun = true;
      hanging(...args);
    });
    await request(`${origin}/a.wav`);
    start();
    await poll("the fetch to begin", () => begun);
    await running.pop()?.stop(0);
    await poll("the file to be due", async () => !(await waiting())[0]?.leased);
    expect(await waiting()).toMatchObject([{ attempts: 0 }]);
  });

  it("does not accept a file that another process has claimed since", async () => {
    const origin = await serve(sending(bytes));
    const path = await request(`${origin}/a.wav`);
    let written = false;
    const storage = {
      ...api.storage,
      writeStream: async (...args: Parameters<typeof api.storage.writeStream>) => {
        await api.storage.writeStream(...args);
        await execute(api.db, sql.fragment`update url_uploads set attempts = 9`);
        written = true;
      },
    };
    start({ storage });
    await poll("the file to be written", () => written);
    await running.pop()?.stop(5_000);
    expect((await client.get(path)).body.status).toBe("pending_upload");
    expect(await waiting()).toMatchObject([{ attempts: 9, leased: true }]);
    const key = `audio/${client.tenantId}/${idOf(path)}`;
    await expect(api.storage.head(key)).rejects.toSatisfy(isNotFound);
  });

  it("drops a file whose time is over", async () => {
    const path = await request("https://files.example.com/a.wav");
    const id = idOf(path);
    await execute(api.db, sql.fragment`update audio_files set upload_expires_at = now() where id = ${id}`);
    start();
    await poll("the row to be dropped", async () => (await waiting()).length === 0);
    expect((await client.get(path)).body.status).toBe("expired");
  });

  it("gives each tenant only a part of the places, so that others do not wait", async () => {
    const slow = await serve(hanging);
    for (let i = 0; i < 5; i++) await request(`${slow}/${i}.wav`);
    const other = await api.tenant();
    const fast = await serve(sending(bytes));
    const path = await request(`${fast}/a.wav`, {}, other, await filesOf(other));
    start({ timing: { timeoutMs: 60_000 } });
    expect((await settled(path, other)).status).toBe("processing");
    // The other tenant's file leaves the queue after its status has changed.
    const leased = async () => (await waiting()).filter((row) => row.leased).length;
    await poll("the places of one tenant", async () => (await leased()) === 2);
  });

  it("shares the places of a host, and all places, among the tenants who wait", async () => {
    const other = await api.tenant();
    const to = await filesOf(other);
    const url = (i: number) => `https://files.example.com/${i}.wav`;
    for (let i = 0; i < 3; i++) await request(url(i));
    for (let i = 0; i < 3; i++) await request(url(i), {}, other, to);
    const claim = async (total: number, tenant: number, host: number) =>
      (await claimUrlUploads(api.operatorPool, { total, tenant, host }, 60_000))
        .map((row) => row.tenant_id)
        .sort();
    expect(await claim(8, 2, 3)).toEqual([client.tenantId, client.tenantId, other.tenantId].sort());
    expect(await claim(8, 2, 3)).toEqual([]);
    expect(await claim(4, 2, 8)).toEqual([other.tenantId]);
    expect(await claim(8, 2, 8)).toEqual([]);
  });

  it("accepts a thousand files of a tenant", async () => {
    const owner = await api.tenant();
    const to = await filesOf(owner);
    const first = idOf(await request("https://files.example.com/a.wav", {}, owner, to));
    await execute(
      api.db,
      sql.fragment`with made as (
        insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, upload_expires_at)
        select gen_random_uuid(), tenant_id, dataset_id, filename, content_type, 0, upload_expires_at
        from audio_files, generate_series(1, 999) where id = ${first} returning tenant_id, id)
      insert into url_uploads (tenant_id, audio_file_id, url, host) select tenant_id, id, '', '' from made`,
    );
    const answer = await owner.post(`${to}/from-url`, { url: "https://files.example.com/b.wav" });
    expect(answer).toMatchObject({ status: 429, body: { code: "quota_exceeded" } });
    const count = await owner.get(`${to}?page_size=1`);
    expect(count.body.total).toBe(1_000);
  });
});
