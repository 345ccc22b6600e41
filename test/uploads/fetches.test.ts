// Files that the service fetches from URLs of real HTTP servers on loopback: outcomes, limits, and what crashes, deletions
// and hostile servers leave.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { claimUrlUploads, renewUrlUpload } from "../../src/db/url-upload.ts";
import { makeLog } from "../../src/log.ts";
import { isNotFound } from "../../src/storage/errors.ts";
import { type Fetches, type FetchesDeps, startFetches } from "../../src/uploads/fetches.ts";
import { makeSecretBox } from "../../src/webhooks/secret.ts";
import { sendDefaults } from "../../src/webhooks/send.ts";
import { type Client, execute, testSettings, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { hostileUrls } from "../support/hostile-urls.ts";
import { poll } from "../support/poll.ts";
import { type Answering, answering, type Receiver, startReceiver } from "../support/receiver.ts";

const allowed = new Set<string>();
const key = randomBytes(32).toString("base64");
const config = testSettings({
  PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: allowed,
  PLOSIVE_WEBHOOK_SECRET_KEY: key,
});
const api = useApi({ config });
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const bytes = wav();
const servers: Receiver[] = [];
const running: Fetches[] = [];
let client: Client;
let files: string;
beforeAll(async () => {
  client = await api.tenant();
  files = await filesOf(client);
});
afterEach(async () => {
  for (const fetches of running.splice(0)) await fetches.stop(0);
  for (const server of servers.splice(0)) await server.stop();
  await execute(api.db, sql.fragment`delete from url_uploads`);
});

const filesOf = async (owner: Client) =>
  `/api/v1/datasets/${(await owner.post("/api/v1/datasets", { name: "d" })).body.id}/audio`;

async function serve(answer: Answering): Promise<string> {
  const server = await startReceiver(answer);
  servers.push(server);
  allowed.add(server.origin);
  return server.origin;
}
const sending =
  (body: Buffer, headers: Record<string, string | number> = {}): Answering =>
  (_, response) =>
    void response.writeHead(200, { "Content-Length": body.length, ...headers }).end(body);
/** Sends the beginning of a file and then nothing. */
const hanging: Answering = (_, response) => {
  response.writeHead(200, { "Content-Length": bytes.length }).write(bytes.subarray(0, 100));
};

function start(more: Partial<FetchesDeps> = {}): FetchesDeps {
  const deps: FetchesDeps = {
    ...sendDefaults,
    db: api.operatorPool,
    storage: api.storage,
    secrets: makeSecretBox(key, randomBytes),
    allowed,
    log: makeLog("test", "silent"),
    registry: new Registry(),
    maxBytes: 10_000_000,
    quotaBytes: 0,
    ...more,
    timing: { pollMs: 20, retryMs: [1, 1], ...more.timing },
  };
  running.push(startFetches(deps));
  return deps;
}

async function request(url: string, more: object = {}, by = client, to = files) {
  const answer = await by.post(`${to}/from-url`, { url, ...more });
  expect(answer.status, answer.text).toBe(201);
  return `${to}/${answer.body.id}`;
}
const settled = async (path: string, by = client) => {
  const read = async () => (await by.get(path)).body;
  await poll("the fetch to end", async () => (await read()).status !== "pending_upload");
  return await read();
};
const waiting = () =>
  api.db.any(
    sql.type(
      z.object({
        audio_file_id: z.string(),
        attempts: z.number(),
        leased: z.boolean(),
        url: z.instanceof(Buffer),
      }),
    )`select audio_file_id, attempts, coalesce(leased_until > now(), false) as leased, url from url_uploads`,
  );
const idOf = (path: string) => path.split("/").at(-1) ?? "";

describe("a file from a URL", () => {
  it("is fetched in the background and then equals a confirmed upload", async () => {
    const origin = await serve(sending(bytes));
    const url = `${origin}/takes/take%2017.wav?X-Signature=secret-4f1e`;
    const answer = await client.post(`${files}/from-url`, { url, metadata: { speaker: "one" } });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        status: "pending_upload",
        filename: "take 17.wav",
        content_type: "audio/wav",
        size_bytes: 0,
        metadata: { speaker: "one" },
      },
    });
    expect(answer.text).not.toContain("secret-4f1e");
    const path = `${files}/${answer.body.id}`;
    const [row] = await waiting();
    expect(row?.url.toString()).not.toContain("secret-4f1e");
    // A client cannot upload it as well.
    for (const step of ["confirm", "parts"])
      expect((await client.post(`${path}/${step}`)).body.code).toBe("request_in_progress");
    const before = (await client.get("/api/v1/usage")).body.quotas.audio_bytes.used;

    start();
    expect(await settled(path)).toMatchObject({
      status: "processing",
      size_bytes: bytes.length,
      checksum_sha256: sha256(bytes),
      duration_ms: 500,
      codec: "pcm16",
      error_message: null,
    });
    await poll("the URL to be deleted", async () => (await waiting()).length === 0);
    const after = (await client.get("/api/v1/usage")).body.quotas.audio_bytes.used;
    expect(after - before).toBe(bytes.length);
    const download = await fetch((await client.get(`${path}/download`)).body.url);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
    await poll("the incoming object to be gone", () =>
      api.storage.head(`incoming/${client.tenantId}/${idOf(path)}`).then(() => false, isNotFound),
    );
  });

  it("of several parts is stored without being held in memory, with its announced digest", async () => {
    const large = Buffer.concat([wav({ durationMs: 0 }), randomBytes(11_000_000)]);
    large.writeUInt32LE(large.length - 8, 4);
    large.writeUInt32LE(large.length - 44, 40);
    // In chunks, without a length.
    const origin = await serve((_, response) => {
      for (let at = 0; at < large.length; at += 999_999) response.write(large.subarray(at, at + 999_999));
      response.end();
    });
    const path = await request(`${origin}/a.wav`, { checksum_sha256: sha256(large) });
    start({ maxBytes: large.length });
    expect(await settled(path)).toMatchObject({ status: "processing", size_bytes: large.length });
    const stored = await api.storage.read(`audio/${client.tenantId}/${idOf(path)}`);
    expect(stored.equals(large)).toBe(true);
  });

  it("is fetched through redirects, at most three", async () => {
    const origin = await serve((received, response) => {
      const left = Number(received.path.slice(1));
      if (left > 0) response.writeHead(302, { Location: `/${left - 1}#fragment` }).end();
      else response.writeHead(200).end(bytes);
    });
    const [near, far] = [
      await request(`${origin}/3`, { content_type: "audio/wav" }),
      await request(`${origin}/4`, { content_type: "audio/wav" }),
    ];
    start();
    expect(await settled(near)).toMatchObject({ status: "processing", filename: "audio" });
    expect((await settled(far)).error_message).toContain("redirects");
  });

  it("is not fetched from a redirect to a URL that the guard refuses, and leaves nothing in the store", async () => {
    const origin = await serve((_, response) => {
      response.writeHead(302, { Location: "http://files.example.com/a.wav" }).end();
    });
    const path = await request(`${origin}/a.wav`);
    start();
    const { status, error_message: reason } = await settled(path);
    expect([status, reason]).toEqual([
      "failed",
      "The file could not be fetched: it redirects to a URL that is not allowed",
    ]);
    const purges = sql.type(z.object({ count: z.number() }))`
      select count(*) as count from leftovers where kind = 'upload' and target = ${idOf(path)}`;
    expect(await api.db.oneFirst(purges)).toBe(1);
  });

  it("is not tried for ever when each attempt ends its process", async () => {
    const origin = await serve(sending(bytes));
    const path = await request(`${origin}/a.wav`);
    await execute(api.db, sql.fragment`update url_uploads set attempts = 3`);
    start();
    expect(await settled(path)).toMatchObject({
      status: "failed",
      error_message: "The file could not be fetched: no attempt came to its end",
    });
  });

  it("has the content type of the request, of a name, or of the response", async () => {
    const typed = (type: string) => serve(sending(bytes, { "Content-Type": type }));
    const named = { filename: "a.FLAC" };
    const url = "https://files.example.com/7f3a?x=/a.wav";
    expect((await client.post(`${files}/from-url`, { url, ...named })).body.content_type).toBe("audio/flac");
    const [path, odd] = [
      await request(`${await typed("Audio/WAV; charset=x")}/7f3a`),
      await request(`${await typed("text/html")}/7f3a`),
    ];
    expect((await client.get(path)).body).toMatchObject({
      filename: "audio",
      content_type: "application/octet-stream",
    });
    start();
    expect(await settled(path)).toMatchObject({ status: "processing", content_type: "audio/wav" });
    expect((await settled(odd)).error_message).toContain("content_type");
  });
});

const closing: Answering = (_, response) => void response.socket?.destroy();
const outcomes: readonly (readonly [what: string, answer: Answering, reason: string, attempts: number])[] = [
  ["that does not exist", answering(404), "the host answered 404", 1],
  ["of a host with an internal error", answering(500), "the host answered 500", 3],
  ["of a host that asks for fewer requests", answering(429), "the host answered 429", 3],
  ["of a host that closes the connection", closing, "the connection to the host failed", 3],
  [
    "that ends before its announced length",
    sending(bytes, { "Content-Length": bytes.length + 1 }),
    "connection",
    3,
  ],
  ["that is not audio", sending(Buffer.alloc(bytes.length, "<html>")), "", 1],
  ["that is empty", sending(Buffer.alloc(0)), "no bytes", 1],
  ["that is compressed", sending(bytes, { "Content-Encoding": "gzip" }), "compressed", 1],
  ["that announces too many bytes", sending(Buffer.alloc(100_001)), "larger than 100000 bytes", 1],
  [
    "that has too many bytes without announcing them",
    (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      more();
    },
    "larger than 100000 bytes",
    1,
  ],
  [
    "that redirects into the network",
    answering(302, { Location: "http://169.254.169.254/a" }),
    "not allowed",
    1,
  ],
  ["that redirects to a file", answering(302, { Location: "file:///etc/passwd" }), "not allowed", 1],
  ["that redirects to nowhere", answering(302), "redirects", 1],
  ["that never ends", hanging, "took too long", 3],
];

describe("a file from a URL", () => {
  it.each(outcomes)("%s fails, with a reason and without its URL", async (_, answer, reason, attempts) => {
    let asked = 0;
    const origin = await serve((...args) => {
      asked += 1;
      answer(...args);
    });
    const path = await request(`${origin}/a.wav?secret-4f1e`);
    const used = (await client.get("/api/v1/usage")).body.quotas.audio_bytes.used;
    start({ maxBytes: 100_000, timing: { timeoutMs: 500 } });
    const failed = await settled(path);
    expect(failed).toMatchObject({ status: "failed", embedding_status: "failed", uploaded_at: null });
    expect(failed.error_message).toContain(reason);
    expect(JSON.stringify(failed)).not.toMatch(/secret-4f1e|127\.0\.0\.1/);
    expect(asked).toBe(attempts);
    expect(await waiting()).toEqual([]);
    expect((await client.get("/api/v1/usage")).body.quotas.audio_bytes.used).toBe(used);
    // The file has no audio.
    expect((await client.get(`${path}/download`)).body.code).toBe("audio_not_ready");
    expect((await client.delete(path)).status).toBe(204);
  });

  it("with another digest than the announced one fails, and its bytes are deleted", async () => {
    const origin = await serve(sending(bytes));
    const path = await request(`${origin}/a.wav`, { checksum_sha256: "0".repeat(64) });
    start();
    expect((await settled(path)).error_message).toContain("SHA-256");
    for (const folder of ["incoming", "audio"])
      await expect(api.storage.head(`${folder}/${client.tenantId}/${idOf(path)}`)).rejects.toSatisfy(
        isNotFound,
      );
  });

  it("that would exceed the quota of bytes fails", async () => {
    const owner = await api.tenant();
    const to = await filesOf(owner);
    const origin = await serve(sending(bytes));
    const path = await request(`${origin}/a.wav`, {}, owner, to);
    start({ quotaBytes: bytes.length - 1 });
    expect((await settled(path, owner)).error_message).toContain("quota");
  });

  it("recovers when a later attempt succeeds", async () => {
    let asked = 0;
    const origin = await serve((...args) => (++asked < 3 ? answering(503) : sending(bytes))(...args));
    const path = await request(`${origin}/a.wav`);
    start();
    expect(await settled(path)).toMatchObject({ status: "processing", error_message: null });
  });

  it.each(hostileUrls.filter(([url]) => !url.includes("\0")))("%j is refused", async (url, refusal) => {
    const answer = await client.post(`${files}/from-url`, { url, content_type: "audio/wav" });
    const msg = `Value error, ${refusal}`;
    expect(answer.body.detail).toEqual([{ loc: ["body", "url"], msg, type: "value_error" }]);
  });

  it("and each of its redirects are resolved, and refused unless every address is public", async () => {
    const location = "https://inner.example.com:8443/a.wav";
    const origin = await serve(answering(302, { Location: location }));
    const paths = [await request(`${origin}/a.wav`), await request(location.replace("inner", "own"))];
    const resolved: string[] = [];
    const addresses = ["93.184.216.34", "10.0.0.1"];
    start({
      timing: { retryMs: [] },
      resolve: async (name) => {
        resolved.push(name);
        return addresses;
      },
    });
    for (const path of paths) expect((await settled(path)).error_message).toContain("no public address");
    expect(resolved.toSorted()).toEqual(["inner.example.com", "own.example.com"]);
  });
});

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
