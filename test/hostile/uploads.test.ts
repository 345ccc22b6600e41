// Hostile uploads on a real S3 server: modified forms, false files, and bytes that change during confirm. Confirm
// detects what the store accepted, and a confirmed file never changes.
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Answer,
  type Client,
  clientOf,
  serveApi,
  testDeps,
  testSettings,
  useApi,
} from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { poll } from "../support/poll.ts";
import { postForm } from "../support/upload.ts";
import { acceptedFiles, refusedFiles } from "./table/files.ts";

const api = useApi();
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
let client: Client;
let audio: string;
beforeAll(async () => {
  client = await api.tenant();
  const dataset = (await client.post("/api/v1/datasets", { name: "d" })).body.id;
  audio = `/api/v1/datasets/${dataset}/audio`;
});

interface Ticket {
  readonly path: string;
  readonly id: string;
  readonly upload: { url: string; fields: Record<string, string>; expires_at: string };
}

async function ticketFor(bytes: Buffer, more: object = {}, by: Client = client): Promise<Ticket> {
  const announced = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length, ...more };
  const answer = await by.post(`${audio}/upload-url`, announced);
  expect(answer.status).toBe(201);
  const { audio_file_id: id, upload } = answer.body;
  return { path: `${audio}/${id}`, id, upload };
}

const stored = async (id: string) => await api.storage.read(`audio/${client.tenantId}/${id}`);
const isStored = async (key: string) =>
  await api.storage.head(key).then(
    () => true,
    () => false,
  );

/** Posts parts in exactly this order, text and files alike. */
async function postParts(
  url: string,
  parts: readonly (readonly [name: string, value: string | Buffer, filename?: string])[],
) {
  const body = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === "string") body.append(name, value);
    else body.append(name, new Blob([new Uint8Array(value)]), filename ?? "x.wav");
  }
  const response = await fetch(url, { method: "POST", body });
  await response.arrayBuffer();
  return response.status;
}

const expectRefused = (status: number, what: string) => {
  expect(status, what).toBeGreaterThanOrEqual(400);
  expect(status, what).toBeLessThan(500);
};

describe("an upload form", () => {
  it("is rejected without any one of its fields, and with any one of them changed", async () => {
    const bytes = wav();
    const { upload } = await ticketFor(bytes, { checksum_sha256: sha256(bytes) });
    // The URL contains the bucket and is checked too.
    const names = Object.keys(upload.fields).filter((name) => name !== "bucket");
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const { [name]: value = "", ...rest } = upload.fields;
      expectRefused(await postForm({ url: upload.url, fields: rest }, bytes), `without ${name}`);
      const others = ["", "x", `${value}x`, value.slice(1), value.toUpperCase(), value.toLowerCase()];
      for (const other of others.filter((text) => text !== value))
        expectRefused(
          await postForm({ url: upload.url, fields: { ...rest, [name]: other } }, bytes),
          `${name} as ${other}`,
        );
    }
    expect(await postForm(upload, bytes)).toBe(201);
  });

  it.each([
    ["acl", "public-read-write"],
    ["x-amz-acl", "public-read"],
    ["Content-Encoding", "gzip"],
    ["Content-Disposition", "inline"],
    ["Cache-Control", "public, max-age=31536000"],
    ["x-amz-meta-evil", "1"],
    ["x-amz-website-redirect-location", "https://evil.example/"],
    ["x-amz-tagging", "<Tagging/>"],
    ["success_action_redirect", "https://evil.example/"],
    ["x-amz-storage-class", "GLACIER"],
    ["x-amz-server-side-encryption", "aws:kms"],
  ])(
    "with the additional field %s is rejected, or the field has no effect on the stored object",
    async (name, value) => {
      const bytes = wav();
      const { upload, path, id } = await ticketFor(bytes);
      const status = await postForm({ url: upload.url, fields: { ...upload.fields, [name]: value } }, bytes);
      if (status >= 400) return expect(await isStored(`incoming/${client.tenantId}/${id}`)).toBe(false);
      expect((await client.post(`${path}/confirm`)).status).toBe(200);
      const download = await fetch((await client.get(`${path}/download`)).body.url, { redirect: "manual" });
      expect(download.status).toBe(200);
      expect(download.headers.get("content-encoding")).toBeNull();
      expect(download.headers.get("content-disposition")).toMatch(/^attachment/);
      expect(download.headers.get("content-type")).toBe("audio/wav");
      expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
      const open = await fetch(`${upload.url}/audio/${client.tenantId}/${id}`);
      expect(open.status).toBe(403);
    },
  );

  it("with a duplicate field, two files or its file first writes nothing but the announced bytes to its own key", async () => {
    const bytes = wav();
    const other = Buffer.from(bytes);
    other.fill(1, 44);
    const foreign = `audio/${client.tenantId}/00000000-0000-4000-8000-00000000beef`;
    const orders = (fields: [string, string][]): [string, string | Buffer, string?][][] => [
      [...fields, ["key", foreign], ["file", bytes]],
      [["key", foreign], ...fields, ["file", bytes]],
      [...fields, ["file", bytes], ["key", foreign]],
      [...fields, ["file", bytes], ["file", other]],
      [["file", bytes], ...fields],
      [...fields, ["file", bytes, "../../../etc/passwd"]],
      [...fields, ["file", bytes, `${"a".repeat(5_000)}.wav`]],
      [...fields, ["file", "text that is no file"]],
      [...fields],
    ];
    for (const [i, _] of orders([]).entries()) {
      const { upload, path, id } = await ticketFor(bytes);
      const status = await postParts(upload.url, orders(Object.entries(upload.fields))[i] ?? []);
      expect(status, `order ${i}`).toBeLessThan(500);
      expect(await isStored(foreign)).toBe(false);
      const confirmed = await client.post(`${path}/confirm`);
      expect([200, 409], confirmed.text).toContain(confirmed.status);
      if (confirmed.status === 200) expect((await stored(id)).equals(bytes)).toBe(true);
    }
  });

  it("is rejected after its expiry", async () => {
    await withApi({ PLOSIVE_UPLOAD_EXPIRY_SECONDS: 1 }, async (same) => {
      const bytes = wav();
      const { upload, path } = await ticketFor(bytes, {}, same);
      const expiresAt = Date.parse(upload.expires_at);
      await poll("the form to expire", () => Date.now() > expiresAt + 1_000);
      expectRefused(await postForm(upload, bytes), "an expired form");
      expect((await client.post(`${path}/confirm`)).body.code).toBe("upload_not_found");
    });
  });

  it("cannot be extended or reused through changes of its policy", async () => {
    const bytes = wav();
    const { upload } = await ticketFor(bytes);
    const policy = JSON.parse(Buffer.from(upload.fields.Policy!, "base64").toString());
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
    const changes = [
      encode({ ...policy, expiration: "2099-01-01T00:00:00Z" }),
      encode({ ...policy, conditions: [] }),
      encode({ ...policy, conditions: [["starts-with", "$key", ""]] }),
      encode({}),
      `${upload.fields.Policy}IA==`,
      "",
      "e30=",
    ];
    for (const Policy of changes)
      expectRefused(await postForm({ url: upload.url, fields: { ...upload.fields, Policy } }, bytes), Policy);
  });

  it("is not valid for another file or another tenant", async () => {
    const bytes = wav();
    const [mine, next] = [await ticketFor(bytes), await ticketFor(bytes)];
    const stranger = await api.tenant();
    for (const key of [
      next.upload.fields.key!,
      `incoming/${stranger.tenantId}/${mine.id}`,
      `audio/${client.tenantId}/${mine.id}`,
    ])
      expectRefused(
        await postForm({ url: mine.upload.url, fields: { ...mine.upload.fields, key } }, bytes),
        key,
      );
    expect((await stranger.post(`${mine.path}/confirm`)).status).toBe(404);
  });
});

/** The same service with other settings. */
async function withApi(overrides: Parameters<typeof testSettings>[0], work: (same: Client) => Promise<void>) {
  const own = await serveApi({ ...testDeps(api.pool, api.storage), config: testSettings(overrides) });
  try {
    await work(clientOf(own.url, client.key, client.tenantId));
  } finally {
    await own.stop();
  }
}

async function uploaded(bytes: Buffer, type: string): Promise<{ answer: Answer; id: string; path: string }> {
  const { upload, path, id } = await ticketFor(bytes, { content_type: type });
  expect(await postForm(upload, bytes)).toBe(201);
  return { answer: await client.post(`${path}/confirm`), id, path };
}

describe("an uploaded file", () => {
  it.each(refusedFiles)(
    "that is %s is refused and deleted, and can be uploaded again",
    async (_, type, bytes) => {
      const { answer, id, path } = await uploaded(bytes, type);
      expect(answer).toMatchObject({ status: 409, body: { code: "unsupported_audio" } });
      expect(answer.body.detail).toMatch(/^[A-Z0-9].{10,120}$/);
      expect(await isStored(`incoming/${client.tenantId}/${id}`)).toBe(false);
      expect(await isStored(`audio/${client.tenantId}/${id}`)).toBe(false);
      expect((await client.get(path)).body).toMatchObject({ status: "pending_upload", duration_ms: null });
    },
  );

  it.each(acceptedFiles)("with %s gets the facts that its bytes have", async (_, type, bytes, facts) => {
    const { answer, id } = await uploaded(bytes, type);
    expect([answer.status, answer.body]).toMatchObject([200, { status: "processing", ...facts }]);
    expect((await stored(id)).equals(bytes)).toBe(true);
  });

  it("of zero bytes cannot be announced", async () => {
    const answer = await client.post(`${audio}/upload-url`, {
      filename: "x",
      content_type: "audio/wav",
      size_bytes: 0,
    });
    expect(answer.status).toBe(422);
  });
});

describe("an upload that changes during confirm", () => {
  it("is stored in one version, with the facts of that version", async () => {
    // Both have the same size; the second declares twice the sample rate.
    const slow = wav({ durationMs: 1_000, sampleRateHz: 8_000 });
    const fast = wav({ durationMs: 500, sampleRateHz: 16_000 });
    expect(slow.length).toBe(fast.length);
    const outcomes = new Map<number, number>();
    for (let round = 0; round < 25; round++) {
      const { upload, path, id } = await ticketFor(slow);
      expect(await postForm(upload, slow)).toBe(201);
      const [answer] = await Promise.all([
        client.post(`${path}/confirm`),
        postForm(upload, fast),
        postForm(upload, slow),
        postForm(upload, fast),
      ]);
      outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1);
      const last = answer.status === 200 ? answer : await client.post(`${path}/confirm`);
      if (answer.status !== 200)
        expect(answer).toMatchObject({ status: 409, body: { code: expect.stringMatching(/^upload_/) } });
      expect(last.status).toBe(200);
      const kept = await stored(id);
      const expected = kept.equals(slow)
        ? { sample_rate_hz: 8_000, duration_ms: 1_000 }
        : { sample_rate_hz: 16_000, duration_ms: 500 };
      expect(kept.equals(slow) || kept.equals(fast)).toBe(true);
      expect(last.body).toMatchObject(expected);
      if (last.body.checksum_sha256 !== null) expect(last.body.checksum_sha256).toBe(sha256(kept));
      await api.settle();
      expect(await postForm(upload, fast)).toBe(201);
      expect((await client.post(`${path}/confirm`)).body).toEqual(last.body);
      expect((await stored(id)).equals(kept)).toBe(true);
    }
    console.info("confirmed while the form was posted again:", Object.fromEntries(outcomes));
  });

  it("is in the purge queue for the time after the form's expiry if the form is posted again", async () => {
    const { upload, id, path } = await ticketFor(wav());
    const rows = () =>
      api.db.any(sql.type(z.object({ later: z.boolean() }))`
        select try_at > now() + interval '50 minutes' as later from leftovers
        where kind = 'upload' and at_once and tenant_id = ${client.tenantId} and target = ${id}`);
    await postForm(upload, wav());
    expect(await rows()).toEqual([]);
    expect((await client.post(`${path}/confirm`)).status).toBe(200);
    expect(await postForm(upload, wav())).toBe(201);
    expect(await rows()).toEqual([{ later: true }]);
  });

  it("and a concurrent deletion leave the complete file or none", async () => {
    const bytes = wav();
    for (let round = 0; round < 10; round++) {
      const { upload, path, id } = await ticketFor(bytes);
      await postForm(upload, bytes);
      const [confirmed, deleted] = await Promise.all([client.post(`${path}/confirm`), client.delete(path)]);
      expect([200, 404, 409], confirmed.text).toContain(confirmed.status);
      expect([204, 409], deleted.text).toContain(deleted.status);
      expect((await client.get(path)).status).toBe(deleted.status === 204 ? 404 : 200);
      if (deleted.status === 409) expect(await isStored(`audio/${client.tenantId}/${id}`)).toBe(true);
    }
  });
});

afterAll(() => api.settle());
