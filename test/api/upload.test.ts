// The three-step upload on a real S3 server, from a correct and from a hostile client.
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { isNotFound } from "../../src/storage/errors.ts";
import { type Client, clientOf, serveApi, testDeps, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { postForm } from "../support/upload.ts";

const api = useApi();
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function datasetOf(client: Client): Promise<string> {
  return (await client.post("/api/v1/datasets", { name: "d" })).body.id;
}

async function ticket(client: Client, datasetId: string, bytes: Buffer, more: object = {}) {
  const answer = await client.post(`/api/v1/datasets/${datasetId}/audio/upload-url`, {
    filename: "take.wav",
    content_type: "audio/wav",
    size_bytes: bytes.length,
    ...more,
  });
  expect(answer.status).toBe(201);
  const path = `/api/v1/datasets/${datasetId}/audio/${answer.body.audio_file_id}`;
  expect(answer.headers.get("location")).toBe(path);
  return { ...answer.body, path };
}

describe("an upload", () => {
  it("takes three steps, and a second confirm has no effect", async () => {
    const client = await api.tenant();
    const dataset = await datasetOf(client);
    const bytes = wav({ durationMs: 1500 });
    const { path, upload, audio_file, audio_file_id } = await ticket(client, dataset, bytes, {
      checksum_sha256: sha256(bytes),
      metadata: { speaker: "one" },
    });
    expect(audio_file).toMatchObject({
      status: "pending_upload",
      metadata: { speaker: "one" },
      duration_ms: null,
    });
    expect((await client.post(`${path}/confirm`)).body).toMatchObject({ code: "upload_not_found" });

    expect(await postForm(upload, bytes)).toBe(201);
    const confirmed = await client.post(`${path}/confirm`, { checksum_sha256: sha256(bytes) });
    expect(confirmed.body).toMatchObject({
      status: "processing",
      embedding_status: "pending",
      duration_ms: 1500,
      sample_rate_hz: 16_000,
      channels: 1,
      codec: "pcm16",
      checksum_sha256: sha256(bytes),
    });
    expect((await client.post(`${path}/confirm`)).body).toEqual(confirmed.body);
    await api.settle();
    await expect(api.storage.head(`incoming/${client.tenantId}/${audio_file_id}`)).rejects.toSatisfy(
      isNotFound,
    );

    const download = await client.get(`${path}/download`);
    const answer = await fetch(download.body.url);
    expect(answer.headers.get("content-disposition")).toContain('filename="take.wav"');
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("can be announced for up to 100 files at once", async () => {
    const client = await api.tenant();
    const dataset = await datasetOf(client);
    const bytes = wav();
    const file = { filename: "a.wav", content_type: "audio/wav", size_bytes: bytes.length };
    const answer = await client.post(`/api/v1/datasets/${dataset}/audio/upload-urls`, {
      files: Array.from({ length: 100 }, (_, i) => ({ ...file, filename: `${i}.wav` })),
    });
    expect(answer.body.total).toBe(100);
    expect(answer.body.items[42].audio_file.filename).toBe("42.wav");
    expect(await postForm(answer.body.items[42].upload, bytes)).toBe(201);
    const tooMany = await client.post(`/api/v1/datasets/${dataset}/audio/upload-urls`, {
      files: Array.from({ length: 101 }, () => file),
    });
    expect(tooMany.body.detail).toEqual([
      {
        loc: ["body", "files"],
        msg: "List should have at most 100 items after validation, not 101",
        type: "too_long",
      },
    ]);
  });

  it("that was confirmed does not change when the form is posted again", async () => {
    const client = await api.tenant();
    const dataset = await datasetOf(client);
    const bytes = wav({ durationMs: 700 });
    const other = Buffer.from(bytes);
    other.fill(0, 44);
    const { path, upload } = await ticket(client, dataset, bytes);
    await postForm(upload, bytes);
    const first = await client.post(`${path}/confirm`);
    await api.settle();
    expect(await postForm(upload, other)).toBe(201);
    expect((await client.post(`${path}/confirm`)).body).toEqual(first.body);
    const { url } = (await client.get(`${path}/download`)).body;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("that many clients confirm at once is copied once, since a later copy could have other bytes", async () => {
    const client = await api.tenant();
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
      const bytes = wav();
      const { path, upload } = await ticket(client, await datasetOf(client), bytes);
      await postForm(upload, bytes);
      const same = clientOf(own.url, client.key, client.tenantId);
      const answers = await Promise.all(Array.from({ length: 8 }, () => same.post(`${path}/confirm`)));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers[0]?.status).toBe(200);
      expect(copies).toBe(1);
    } finally {
      await own.stop();
    }
  });
});

describe("the presigned form", () => {
  it("is valid for one key, type, size and digest, and its policy cannot be changed", async () => {
    const client = await api.tenant();
    const dataset = await datasetOf(client);
    const bytes = wav();
    const { upload } = await ticket(client, dataset, bytes, { checksum_sha256: sha256(bytes) });
    const refuse = async (fields: Record<string, string>, content = bytes) => {
      const status = await postForm({ url: upload.url, fields: { ...upload.fields, ...fields } }, content);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    };
    await refuse({ key: `${upload.fields.key}x` });
    await refuse({ key: `audio/${client.tenantId}/${dataset}` });
    await refuse({ "Content-Type": "text/html" });
    await refuse({}, Buffer.concat([bytes, Buffer.alloc(1)]));
    await refuse({}, bytes.subarray(1));
    const policy = JSON.parse(Buffer.from(upload.fields.Policy, "base64").toString());
    policy.conditions = policy.conditions.filter((condition: unknown) => !Array.isArray(condition));
    await refuse({ Policy: Buffer.from(JSON.stringify(policy)).toString("base64") });
    policy.expiration = "2000-01-01T00:00:00Z";
    await refuse({ Policy: Buffer.from(JSON.stringify(policy)).toString("base64") });
    const swapped = Buffer.from(bytes);
    swapped.fill(0, 44);
    await refuse({}, swapped);
    expect(await postForm(upload, bytes)).toBe(201);
  });
});

/** Writes to the incoming key without the form, as if the store enforced nothing. */
async function smuggle(
  client: Client,
  announced: Buffer,
  sent: Buffer,
  type = "audio/wav",
  more: object = {},
) {
  const { path, audio_file_id } = await ticket(client, await datasetOf(client), announced, more);
  const key = `incoming/${client.tenantId}/${audio_file_id}`;
  await api.storage.write(key, sent, type);
  return { path, key };
}

describe("the confirm step", () => {
  it("detects a wrong size, type or digest that the store accepted", async () => {
    const client = await api.tenant();
    const bytes = wav();
    const swapped = Buffer.from(bytes);
    swapped.fill(0, 44);
    const cases = [
      await smuggle(client, bytes, Buffer.concat([bytes, Buffer.alloc(10)])),
      await smuggle(client, bytes, bytes, "text/html"),
    ];
    for (const { path, key } of cases) {
      const answer = await client.post(`${path}/confirm`);
      expect(answer).toMatchObject({ status: 409, body: { code: "upload_mismatch" } });
      await expect(api.storage.head(key)).rejects.toSatisfy(isNotFound);
      expect((await client.get(path)).body.status).toBe("pending_upload");
    }
    const { path } = await smuggle(client, bytes, bytes, "audio/wav", { checksum_sha256: sha256(bytes) });
    const answer = await client.post(`${path}/confirm`, { checksum_sha256: sha256(swapped) });
    expect(answer).toMatchObject({ status: 409, body: { code: "upload_mismatch" } });
  });

  it.each([
    ["declared at confirm", {}, true],
    ["announced", { checksum_sha256: sha256(Buffer.from("other")) }, false],
  ])("makes the store compute a digest that the client only %s", async (_, announced, claim) => {
    const client = await api.tenant();
    const bytes = wav();
    const { path, key } = await smuggle(client, bytes, bytes, "audio/wav", announced);
    const other = claim ? { checksum_sha256: sha256(Buffer.from("other")) } : undefined;
    const answer = await client.post(`${path}/confirm`, other);
    expect(answer).toMatchObject({ status: 409, body: { code: "upload_mismatch" } });
    await expect(api.storage.head(key)).rejects.toSatisfy(isNotFound);
    await expect(api.storage.head(key.replace("incoming/", "audio/"))).rejects.toSatisfy(isNotFound);
    if (!claim) return;
    await api.storage.write(key, bytes, "audio/wav");
    const again = await client.post(`${path}/confirm`, { checksum_sha256: sha256(bytes) });
    expect(again).toMatchObject({ status: 200, body: { checksum_sha256: sha256(bytes) } });
  });

  it("rejects bytes that are not the announced audio, deletes them and allows another upload", async () => {
    const client = await api.tenant();
    const bytes = wav();
    const garbage = Buffer.alloc(bytes.length, "<html>");
    const { path, key } = await smuggle(client, bytes, garbage);
    const answer = await client.post(`${path}/confirm`);
    expect(answer).toMatchObject({ status: 409, body: { code: "unsupported_audio" } });
    // The record keeps the reason until an upload is confirmed.
    const refused = { status: "pending_upload", error_message: answer.body.detail };
    expect((await client.get(path)).body).toMatchObject(refused);
    await expect(api.storage.head(key)).rejects.toSatisfy(isNotFound);
    await api.storage.write(key, bytes, "audio/wav");
    const accepted = { status: "processing", error_message: null };
    expect((await client.post(`${path}/confirm`)).body).toMatchObject(accepted);
  });

  it("is never reached for a file above the size limit, because the announcement is refused", async () => {
    const client = await api.tenant();
    const dataset = await datasetOf(client);
    const answer = await client.post(`/api/v1/datasets/${dataset}/audio/upload-url`, {
      filename: "x.wav",
      content_type: "audio/wav",
      size_bytes: 2 * 1024 ** 3 + 1,
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([
      {
        loc: ["body", "size_bytes"],
        msg: "Input should be less than or equal to 2147483648",
        type: "less_than_equal",
      },
    ]);
  });
});

it("signs 100 tickets in pieces, between which other requests are served", async () => {
  const client = await api.tenant();
  const dataset = await datasetOf(client);
  let signed = 0;
  const sign = vi.spyOn(api.storage, "presignPost").mockImplementation(async () => {
    signed += 1;
    return { url: "http://store", fields: {} };
  });
  let most = 0;
  let isOver = false;
  const watch = async () => {
    for (let before = 0; !isOver; before = signed) {
      await setImmediate();
      most = Math.max(most, signed - before);
    }
  };
  const watching = watch();
  const files = Array.from({ length: 100 }, (_, i) => ({
    filename: `${i}.wav`,
    content_type: "audio/wav",
    size_bytes: 1_000,
  }));
  const answer = await client.post(`/api/v1/datasets/${dataset}/audio/upload-urls`, { files });
  isOver = true;
  await watching;
  sign.mockRestore();
  expect(answer.body.items.map((item: { audio_file: object }) => item.audio_file)).toMatchObject(
    files.map(({ filename }) => ({ filename })),
  );
  expect(signed).toBe(100);
  expect(most).toBeLessThanOrEqual(10);
});
