// Uploads in parts on a real S3 server: resumed, repeated, interrupted, and from a hostile client.
import { createHash, randomBytes } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { replaceParts } from "../../src/db/upload.ts";
import { isNotFound } from "../../src/storage/errors.ts";
import { type Client, clientOf, execute, serveApi, testDeps, testSettings, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { poll } from "../support/poll.ts";
import { postForm, putPart } from "../support/upload.ts";
import { makeWorld } from "../support/world.ts";

const api = useApi();
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const partBytes = 16 * 1024 ** 2;
let client: Client;
let files: string;
beforeAll(async () => {
  client = await api.tenant();
  files = `/api/v1/datasets/${(await client.post("/api/v1/datasets", { name: "d" })).body.id}/audio`;
});

/** A WAV file of this many bytes of noise. */
function noise(dataBytes: number): Buffer {
  const header = wav({ durationMs: 0 });
  header.writeUInt32LE(36 + dataBytes, 4);
  header.writeUInt32LE(dataBytes, 40);
  return Buffer.concat([header, randomBytes(dataBytes)]);
}
/** A small file, which has one part. */
const small = wav();
/** A file of three parts. */
const large = noise(2 * partBytes + 1_000);

async function ticket(bytes: Buffer, more: object = {}, by = client) {
  const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length, ...more };
  const { audio_file_id: id, upload } = (await by.post(`${files}/upload-url`, body)).body;
  const path = `${files}/${id}`;
  return { id, upload, path, parts: async () => (await by.post(`${path}/parts`)).body };
}
const multipartIdOf = (id: string) =>
  api.db.oneFirst(sql.type(z.object({ multipart_id: z.string() }))`
    select multipart_id from audio_files where id = ${id}`);
const incoming = (id: string) => `incoming/${client.tenantId}/${id}`;

describe("an upload in parts", () => {
  it("goes on with the missing parts after an interruption, and ends like any other upload", async () => {
    const { id, path, parts } = await ticket(large, { checksum_sha256: sha256(large) });
    const first = await parts();
    expect(first).toMatchObject({ part_size_bytes: partBytes, part_count: 3, missing_part_count: 3 });
    const sizes = first.parts.map((part: { size_bytes: number }) => part.size_bytes);
    expect(sizes).toEqual([partBytes, partBytes, 1_044]);
    expect(await putPart(first.parts[2], large)).toBe(200);
    expect(await putPart(first.parts[0], large)).toBe(200);
    const early = await client.post(`${path}/confirm`);
    expect(early).toMatchObject({ status: 409, body: { code: "upload_not_found" } });
    expect(early.body.detail).toContain("part 2");
    // The refusal neither deletes what the store has nor stays in the record.
    expect((await client.get(path)).body.error_message).toBeNull();

    const rest = await parts();
    expect(rest).toMatchObject({ part_count: 3, missing_part_count: 1, parts: [{ part_number: 2 }] });
    expect(await putPart(rest.parts[0], large)).toBe(200);
    expect(await parts()).toMatchObject({ missing_part_count: 0, parts: [] });
    const confirmed = await client.post(`${path}/confirm`);
    expect(confirmed).toMatchObject({
      status: 200,
      body: {
        status: "processing",
        codec: "pcm16",
        checksum_sha256: sha256(large),
        size_bytes: large.length,
      },
    });
    expect((await client.post(`${path}/confirm`)).body).toEqual(confirmed.body);
    expect(await parts()).toMatchObject({ part_count: 3, missing_part_count: 0, parts: [] });
    await api.settle();
    await expect(api.storage.head(incoming(id))).rejects.toSatisfy(isNotFound);
    expect(await api.storage.listParts(incoming(id), await multipartIdOf(id))).toBeUndefined();
    const { url } = (await client.get(`${path}/download`)).body;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large)).toBe(true);
  });

  it("has one upload in the store however many requests begin it, and many confirms copy it once", async () => {
    let copies = 0;
    const counting = {
      ...api.storage,
      copy: async (...args: Parameters<typeof api.storage.copy>) => {
        copies += 1;
        return await api.storage.copy(...args);
      },
    };
    const own = await serveApi(testDeps(api.pool, counting));
    try {
      const same = clientOf(own.url, client.key, client.tenantId);
      const { path, parts } = await ticket(small, {}, same);
      const begun = await Promise.all(Array.from({ length: 6 }, parts));
      const ids = begun.map((answer) => new URL(answer.parts[0].url).searchParams.get("uploadId"));
      expect(new Set(ids).size).toBe(1);
      await putPart(begun[0].parts[0], small);
      const answers = await Promise.all(Array.from({ length: 6 }, () => same.post(`${path}/confirm`)));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers[0]?.status).toBe(200);
      expect(copies).toBe(1);
    } finally {
      await own.stop();
    }
  });

  it("of an inference job takes the same steps", async () => {
    const { inferenceJobId } = await makeWorld(client, api.db);
    const list = `/api/v1/inference-jobs/${inferenceJobId}/files`;
    const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: small.length };
    const path = `${list}/${(await client.post(`${list}/upload-url`, body)).body.inference_file_id}`;
    const { parts } = (await client.post(`${path}/parts`)).body;
    expect(await putPart(parts[0], small)).toBe(200);
    const confirmed = await client.post(`${path}/confirm`, { checksum_sha256: sha256(small) });
    expect(confirmed).toMatchObject({
      status: 200,
      body: { status: "queued", checksum_sha256: sha256(small) },
    });
    expect((await client.post(`${path}/parts`)).body.missing_part_count).toBe(0);
  });

  it("gets new URLs when the old ones have expired", async () => {
    const config = testSettings({ PLOSIVE_UPLOAD_EXPIRY_SECONDS: 1 });
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config });
    try {
      const same = clientOf(own.url, client.key, client.tenantId);
      const { path, parts } = await ticket(small, {}, same);
      const old = await parts();
      const expiresAt = Date.parse(old.expires_at);
      await poll("the URL to expire", () => Date.now() > expiresAt + 1_000);
      expect(await putPart(old.parts[0], small)).toBe(403);
      expect(await putPart((await client.post(`${path}/parts`)).body.parts[0], small)).toBe(200);
      expect((await same.post(`${path}/confirm`)).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  it("that was begun does not hinder the upload of the form", async () => {
    const { path, upload, parts } = await ticket(large);
    const begun = await parts();
    expect(await putPart(begun.parts[2], large)).toBe(200);
    expect(await postForm(upload, large)).toBe(201);
    const confirmed = await client.post(`${path}/confirm`, { checksum_sha256: sha256(large) });
    expect(confirmed).toMatchObject({ status: 200, body: { size_bytes: large.length } });
  });

  it("begins anew after its bytes were refused", async () => {
    const { id, path, parts } = await ticket(small, { checksum_sha256: sha256(small) });
    const other = Buffer.from(small).fill(0, 44);
    await putPart((await parts()).parts[0], other);
    const refused = await client.post(`${path}/confirm`);
    expect(refused).toMatchObject({ status: 409, body: { code: "upload_mismatch" } });
    expect((await client.get(path)).body.error_message).toBe(refused.body.detail);
    await expect(api.storage.head(incoming(id))).rejects.toSatisfy(isNotFound);
    expect((await client.post(`${path}/confirm`)).body.code).toBe("upload_not_found");
    const anew = await parts();
    expect(anew.missing_part_count).toBe(1);
    await putPart(anew.parts[0], small);
    expect((await client.post(`${path}/confirm`)).body).toMatchObject({ error_message: null });
  });

  it("is known to be complete when a confirm ended after it had joined the parts", async () => {
    const { id, path, parts } = await ticket(small);
    await putPart((await parts()).parts[0], small);
    const uploadId = await multipartIdOf(id);
    const stored = await api.storage.listParts(incoming(id), uploadId);
    await api.storage.joinParts(incoming(id), uploadId, stored!);
    await api.storage.joinParts(incoming(id), uploadId, stored!);
    expect(await parts()).toMatchObject({ missing_part_count: 0, parts: [] });
    expect((await client.post(`${path}/confirm`)).status).toBe(200);
  });

  it("is refused once the upload has expired or the file is deleted", async () => {
    const expired = await ticket(small);
    await execute(
      api.db,
      sql.fragment`update audio_files set upload_expires_at = now() where id = ${expired.id}`,
    );
    expect(await expired.parts()).toMatchObject({ code: "upload_expired" });
    const deleted = await ticket(small);
    await deleted.parts();
    await client.delete(deleted.path);
    expect(await deleted.parts()).toMatchObject({ code: "audio_file_not_found" });
  });
});

describe("the record of an upload in parts", () => {
  it("changes only from the upload that the caller read, and while the file waits for it", async () => {
    const { id, path, parts } = await ticket(small);
    const replace = (before: string | null, after: string) =>
      replaceParts(api.pool.asTenant(client.tenantId), "audio_files", client.tenantId, id, { before, after });
    expect(await replace("x", "first")).toBe(false);
    expect(await replace(null, "first")).toBe(true);
    expect(await replace(null, "second")).toBe(false);
    expect(await replace("first", "second")).toBe(true);
    await putPart((await parts()).parts[0], small);
    expect((await client.post(`${path}/confirm`)).status).toBe(200);
    expect(await replace(await multipartIdOf(id), "third")).toBe(false);
  });
});

describe("the URL of a part", () => {
  it("is valid for one key, one upload, one part and one length", async () => {
    const [{ parts, path }, other] = [await ticket(small), await ticket(small)];
    const part = (await parts()).parts[0];
    const otherPart = (await other.parts()).parts[0];
    const otherId = new URL(otherPart.url).searchParams.get("uploadId") ?? "";
    const changed = (change: (url: URL) => void) => {
      const url = new URL(part.url);
      change(url);
      return { ...part, url: url.href };
    };
    const forged = [
      changed((url) => url.searchParams.set("partNumber", "2")),
      changed((url) => url.searchParams.set("uploadId", otherId)),
      changed((url) => url.searchParams.set("X-Amz-Expires", "86400")),
      changed((url) => url.searchParams.set("X-Amz-SignedHeaders", "host")),
      changed((url) => url.searchParams.delete("partNumber")),
      changed((url) => {
        url.pathname = new URL(otherPart.url).pathname;
      }),
      changed((url) => {
        url.pathname = url.pathname.replace("/incoming/", "/audio/");
      }),
    ];
    const refused = expect.toSatisfy((status: number) => [403, 405].includes(status));
    for (const wrong of forged) expect(await putPart(wrong, small), wrong.url).toEqual(refused);
    for (const body of [Buffer.concat([small, Buffer.alloc(1)]), small.subarray(1), Buffer.alloc(0)])
      expect(await putPart(part, small, body)).toBe(403);
    for (const method of ["GET", "DELETE", "POST"])
      expect((await fetch(part.url, { method })).status).toEqual(refused);
    expect((await parts()).missing_part_count).toBe(1);
    expect(await putPart(part, small)).toBe(200);
    expect((await client.post(`${path}/confirm`)).status).toBe(200);
    // The parts are joined: the URL has no upload any more.
    expect(await putPart(part, small)).toBe(404);
  });

  it("counts for nothing if the store accepted another size or number in spite of it", async () => {
    const { id, path, parts } = await ticket(small);
    await parts();
    const uploadId = await multipartIdOf(id);
    const smuggle = async (partNumber: number, bytes: Buffer) => {
      const size = { partNumber, sizeBytes: bytes.length, expiresSeconds: 60 };
      const url = await api.storage.presignPart(incoming(id), uploadId, size);
      expect(await putPart({ offset_bytes: 0, size_bytes: bytes.length, url }, bytes)).toBe(200);
    };
    await smuggle(1, small.subarray(1));
    await smuggle(2, small);
    expect((await client.post(`${path}/confirm`)).body.code).toBe("upload_not_found");
    const again = await parts();
    expect(again.missing_part_count).toBe(1);
    await putPart(again.parts[0], small);
    expect((await client.post(`${path}/confirm`)).status).toBe(200);
    expect((await api.storage.read(`audio/${client.tenantId}/${id}`)).equals(small)).toBe(true);
  });
});
