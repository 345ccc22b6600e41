// The object store's functions, on a real S3 server.
import { createHash } from "node:crypto";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { isChanged, isNotFound, isStoreUnavailable, TooLargeError } from "../../src/storage/errors.ts";
import { makeStorage } from "../../src/storage/storage.ts";
import { useStorage } from "../support/s3.ts";

const store = useStorage();

/** The SDK itself, for what the client of the service cannot do. */
const sdk = () =>
  new S3Client({
    endpoint: store.config.PLOSIVE_S3_ENDPOINT,
    region: store.config.PLOSIVE_S3_REGION,
    forcePathStyle: store.config.PLOSIVE_S3_ADDRESSING === "path",
    credentials: {
      accessKeyId: store.config.PLOSIVE_S3_ACCESS_KEY_ID,
      secretAccessKey: store.config.PLOSIVE_S3_SECRET_ACCESS_KEY,
    },
  });

describe("objects", () => {
  it("can be written, measured, read in part and completely, and deleted", async () => {
    await store.storage.write("a/b", "0123456789", "text/plain");
    const head = await store.storage.head("a/b");
    expect(head).toMatchObject({ sizeBytes: 10, contentType: "text/plain" });
    expect(head.etag).not.toBe("");
    expect((await store.storage.read("a/b", { start: 2, end: 4 })).toString()).toBe("234");
    expect((await store.storage.readAll("a/b", 10)).toString()).toBe("0123456789");
    await store.storage.remove("a/b");
    await store.storage.remove("a/b");
    await expect(store.storage.head("a/b")).rejects.toSatisfy(isNotFound);
    await expect(store.storage.read("a/b")).rejects.toSatisfy(isNotFound);
  });

  it("are not read when they are larger than the caller accepts", async () => {
    await store.storage.write("large", "0123456789");
    await expect(store.storage.readAll("large", 9)).rejects.toBeInstanceOf(TooLargeError);
  });

  it("are copied only while their ETag is the one that the caller read", async () => {
    await store.storage.write("from", "first");
    const { etag } = await store.storage.head("from");
    await store.storage.copy("from", "to", { ifMatch: etag });
    expect((await store.storage.read("to")).toString()).toBe("first");
    await store.storage.write("from", "swapped");
    await expect(store.storage.copy("from", "to", { ifMatch: etag })).rejects.toSatisfy(isChanged);
    expect((await store.storage.read("to")).toString()).toBe("first");
  });
});

describe("a digest", () => {
  it("is computed by the store while it copies, on request", async () => {
    await store.storage.write("plain", "0123456789");
    const { etag, checksumSha256 } = await store.storage.head("plain");
    expect(checksumSha256).toBeNull();
    const copied = await store.storage.copy("plain", "counted", { ifMatch: etag, digest: true });
    expect(copied.checksumSha256).toBe(createHash("sha256").update("0123456789").digest("hex"));
    expect(await store.storage.head("counted")).toMatchObject(copied);
  });
});

describe("an upload in parts", () => {
  const put = async (key: string, id: string, body: string, partNumber = 1) => {
    const part = { partNumber, sizeBytes: body.length, expiresSeconds: 60 };
    const url = await store.storage.presignPart(key, id, part);
    expect((await fetch(url, { method: "PUT", body })).status).toBe(200);
  };
  const start = (key: string) => store.storage.startParts(key, { contentType: "audio/wav", metadata: {} });

  it("becomes one object, with the announced type and without a digest of its bytes", async () => {
    const id = await start("parts");
    const first = "a".repeat(5 * 1024 ** 2);
    await put("parts", id, "b", 2);
    await put("parts", id, first);
    const parts = (await store.storage.listParts("parts", id)) ?? [];
    expect(parts).toMatchObject([
      { partNumber: 1, sizeBytes: first.length },
      { partNumber: 2, sizeBytes: 1 },
    ]);
    await store.storage.joinParts("parts", id, parts);
    const head = await store.storage.head("parts");
    expect(head).toMatchObject({
      sizeBytes: first.length + 1,
      contentType: "audio/wav",
      checksumSha256: null,
    });
    const options = { ifMatch: head.etag, digest: true };
    const { checksumSha256 } = await store.storage.copy("parts", "joined", options);
    expect(checksumSha256).toBe(createHash("sha256").update(`${first}b`).digest("hex"));
    expect(await store.storage.listParts("parts", id)).toBeUndefined();
    await store.storage.joinParts("parts", id, parts);
  });

  it("has no digest of its bytes if the store has one of the parts' digests", async () => {
    const object = { Bucket: store.config.PLOSIVE_S3_BUCKET, Key: "composite" };
    const client = sdk();
    const algorithm = { ChecksumAlgorithm: "SHA256" } as const;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...object, ...algorithm }));
    const upload = { ...object, UploadId };
    const part = { ...upload, PartNumber: 1, Body: "x", ...algorithm };
    const { ETag, ChecksumSHA256 } = await client.send(new UploadPartCommand(part));
    const Parts = [{ PartNumber: 1, ETag, ChecksumSHA256 }];
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const head = await client.send(new HeadObjectCommand({ ...object, ChecksumMode: "ENABLED" }));
    client.destroy();
    expect(head.ChecksumSHA256).toMatch(/-1$/);
    expect((await store.storage.head("composite")).checksumSha256).toBeNull();
  });

  it("is not joined of parts that have changed since they were listed", async () => {
    const id = await start("changed");
    await put("changed", id, "one");
    const parts = (await store.storage.listParts("changed", id)) ?? [];
    await put("changed", id, "two");
    await expect(store.storage.joinParts("changed", id, parts)).rejects.toSatisfy(isChanged);
  });

  it("is removed with the object and with all others of the key, and of no other key", async () => {
    const ids = [await start("gone"), await start("gone")];
    const kept = await start("kept");
    await put("gone", ids[0]!, "x");
    await store.storage.write("gone", "x");
    await store.storage.removeUpload("gone");
    await store.storage.removeUpload("gone");
    for (const id of ids) expect(await store.storage.listParts("gone", id)).toBeUndefined();
    await expect(store.storage.head("gone")).rejects.toSatisfy(isNotFound);
    expect(await store.storage.listParts("kept", kept)).toEqual([]);
  });
});

describe("a stream", () => {
  const chunk = Buffer.alloc(1_000_003, "abc");
  async function* stream(chunks: number, failure?: Error) {
    for (let i = 0; i < chunks; i++) yield chunk;
    if (failure !== undefined) throw failure;
  }

  it("becomes an object, whatever the sizes of its chunks are", async () => {
    for (const chunks of [1, 11]) {
      await store.storage.writeStream("streamed", stream(chunks), "audio/wav");
      const whole = Buffer.concat(Array.from({ length: chunks }, () => chunk));
      expect((await store.storage.read("streamed")).equals(whole)).toBe(true);
      expect((await store.storage.head("streamed")).contentType).toBe("audio/wav");
    }
  });

  it("that fails leaves neither an object nor parts", async () => {
    const failure = new Error("cut off");
    await expect(store.storage.writeStream("failed", stream(11, failure), "audio/wav")).rejects.toBe(failure);
    await expect(store.storage.head("failed")).rejects.toSatisfy(isNotFound);
    const client = sdk();
    const list = { Bucket: store.config.PLOSIVE_S3_BUCKET, Prefix: "failed" };
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(list));
    client.destroy();
    expect(Uploads).toEqual([]);
  });
});

describe("signed URLs", () => {
  it("let a pod write exactly one object with exactly the signed content type", async () => {
    const target = await store.storage.presignPut("runs/x/result.json", {
      contentType: "application/json",
      expiresSeconds: 60,
    });
    const other = await fetch(target.url.replace("result.json", "other.json"), { method: "PUT", body: "{}" });
    expect(other.status).toBe(403);
    const wrongType = { "Content-Type": "text/html" };
    expect((await fetch(target.url, { method: "PUT", body: "{}", headers: wrongType })).status).toBe(403);
    const put = await fetch(target.url, { method: "PUT", body: "{}", headers: target.headers });
    expect(put.status).toBe(200);
    expect((await store.storage.head("runs/x/result.json")).contentType).toBe("application/json");
  });

  it("let a client download under the file's own name", async () => {
    await store.storage.write("audio/x", "RIFF");
    const url = await store.storage.presignGet("audio/x", {
      expiresSeconds: 60,
      filename: 'Größe "1".wav',
      audience: "client",
    });
    const answer = await fetch(url);
    expect(await answer.text()).toBe("RIFF");
    expect(answer.headers.get("content-disposition")).toBe(
      `attachment; filename="Gr__e _1_.wav"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.wav`,
    );
  });
});

describe("virtual-host style", () => {
  it("puts the bucket before the host of the public and of the internal endpoint", async () => {
    const storage = makeStorage({
      ...store.config,
      PLOSIVE_S3_ENDPOINT: "http://s3.internal:9000",
      PLOSIVE_S3_PUBLIC_ENDPOINT: "https://s3.example.com/",
      PLOSIVE_S3_ADDRESSING: "virtual",
      PLOSIVE_S3_BUCKET: "plosive",
    });
    const policy = { key: "k", contentType: "a/b", sizeBytes: 1, checksumSha256: null, metadata: {} };
    const form = await storage.presignPost({ ...policy, expiresSeconds: 60 });
    expect(form.url).toBe("https://plosive.s3.example.com/");
    const get = (audience: "client" | "pod") => storage.presignGet("k", { expiresSeconds: 60, audience });
    expect(await get("client")).toMatch(/^https:\/\/plosive\.s3\.example\.com\/k\?/);
    expect(await get("pod")).toMatch(/^http:\/\/plosive\.s3\.internal:9000\/k\?/);
    const put = await storage.presignPut("k", { expiresSeconds: 60 });
    expect(put.url).toMatch(/^http:\/\/plosive\.s3\.internal:9000\/k\?/);
    storage.close();
  });
});

describe("an unreachable store", () => {
  it("causes another error than a missing object", async () => {
    const away = makeStorage({ ...store.config, PLOSIVE_S3_ENDPOINT: "http://localhost:1" });
    await expect(away.ping()).rejects.toSatisfy(isStoreUnavailable);
    await expect(store.storage.head("nothing")).rejects.not.toSatisfy(isStoreUnavailable);
    away.close();
  });
});
