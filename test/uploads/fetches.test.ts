// Files that the service fetches from URLs of real HTTP servers on loopback: outcomes, limits, and what hostile servers get.
import { createHash, randomBytes } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isNotFound } from "../../src/storage/errors.ts";
import { execute, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { bytes, config, filesOf, hanging, idOf, sending, useFetching } from "../support/fetching.ts";
import { hostileUrls } from "../support/hostile-urls.ts";
import { poll } from "../support/poll.ts";
import { type Answering, answering } from "../support/receiver.ts";

const api = useApi({ config });
const fetching = useFetching(api);
const { client, serve, start, request, settled, waiting } = fetching;
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe("a file from a URL", () => {
  it("is fetched in the background and then equals a confirmed upload", async () => {
    const origin = await serve(sending(bytes));
    const url = `${origin}/takes/take%2017.wav?X-Signature=secret-4f1e`;
    const answer = await client.post(`${fetching.files}/from-url`, { url, metadata: { speaker: "one" } });
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
    const path = `${fetching.files}/${answer.body.id}`;
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

  it("is fetched at half of the process's speed, also with another one of its tenant", async () => {
    const large = Buffer.concat([wav({ durationMs: 0 }), randomBytes(500_000)]);
    const origin = await serve(sending(large));
    const paths = [await request(`${origin}/a.wav`), await request(`${origin}/b.wav`)];
    const began = performance.now();
    start({ timing: { bytesPerSecond: 1_000_000 } });
    for (const path of paths) await settled(path);
    expect(performance.now() - began).toBeGreaterThan(1_900);
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
    expect((await client.post(`${fetching.files}/from-url`, { url, ...named })).body.content_type).toBe(
      "audio/flac",
    );
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
    // Only a host that never ends meets the time limit: on a busy machine, a shorter one would end other attempts too.
    const { registry } = start({
      maxBytes: 100_000,
      timing: { timeoutMs: answer === hanging ? 500 : 60_000 },
    });
    const failed = await settled(path);
    expect(failed).toMatchObject({ status: "failed", embedding_status: "failed", uploaded_at: null });
    expect(failed.error_message).toContain(reason);
    expect(JSON.stringify(failed)).not.toMatch(/secret-4f1e|127\.0\.0\.1/);
    const results = (await registry.getSingleMetric("plosive_url_uploads_total")!.get()).values;
    expect(results).toMatchObject([
      { labels: { result: "fetched" }, value: 0 },
      { labels: { result: "postponed" }, value: attempts - 1 },
      { labels: { result: "failed" }, value: 1 },
    ]);
    // On a busy machine, a short time limit may be over before the request.
    if (answer !== hanging) expect(asked).toBe(attempts);
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
    const answer = await client.post(`${fetching.files}/from-url`, { url, content_type: "audio/wav" });
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
