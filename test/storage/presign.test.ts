// Plosive's signatures compared with the SDK's, the reference: the same URL for the same object at the same time. The
// tests with workers show that a real store accepts them.
import { GetObjectCommand, PutObjectCommand, S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterEach, expect, it, vi } from "vitest";
import { makePresign, makePresignPost } from "../../src/storage/presign.ts";

const key = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const at = new Date("2026-11-22T23:59:59.987Z");
const members = (url: string) => {
  const { origin, pathname, searchParams } = new URL(url);
  return { origin, pathname, members: Object.fromEntries(searchParams) };
};

afterEach(() => void vi.useRealTimers());

it.each([
  ["https://s3.example.com", "path", "audio/one/two", "FwoGZXIvYXdzEBYaD/+="],
  ["https://s3.example.com", "path", "audio/one/two"],
  ["http://127.0.0.1:7070", "path", "odd/ a+b&c=d/é\u{1f50a}/!'()*~._-"],
  ["https://example.com/store/", "path", "models/x/model.onnx"],
  ["https://s3.example.com", "virtual", "audio/one/two"],
  ["http://s3.localhost:7070", "virtual", "odd/ a+b&c=d/é\u{1f50a}/!'()*~._-"],
  ["https://s3.example.com/", "virtual", "a//b"],
  ["https://example.com/store", "virtual", "models/x/model.onnx"],
] as const)(
  "a signed URL for %s in %s style equals the one of the SDK",
  async (endpoint, addressing, path, sessionToken?: string) => {
    const credentials = { ...key, ...(sessionToken === undefined ? {} : { sessionToken }) };
    const region = "eu-north-1";
    const client = new S3Client({
      endpoint,
      region,
      forcePathStyle: addressing === "path",
      credentials,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
    const presign = makePresign({ endpoint, bucket: "plosive", addressing, region });
    const common = { key: path, at, credentials };
    try {
      const object = { Bucket: "plosive", Key: path };
      const disposition = `attachment; filename="a b.wav"; filename*=UTF-8''a%20b.wav`;
      for (const ResponseContentDisposition of [undefined, disposition]) {
        const get = new GetObjectCommand({ ...object, ResponseContentDisposition });
        const query = { "response-content-disposition": ResponseContentDisposition, "x-id": "GetObject" };
        expect(members(presign({ ...common, method: "GET", expiresSeconds: 3600, query }))).toEqual(
          members(await getSignedUrl(client, get, { expiresIn: 3600, signingDate: at })),
        );
      }
      for (const ContentType of [undefined, "application/json"]) {
        const put = new PutObjectCommand({ ...object, ContentType });
        const signableHeaders = new Set(ContentType === undefined ? [] : ["content-type"]);
        const query = { "x-id": "PutObject" };
        const url = await getSignedUrl(client, put, { expiresIn: 60, signingDate: at, signableHeaders });
        const own = presign({
          ...common,
          method: "PUT",
          expiresSeconds: 60,
          query,
          ...(ContentType !== undefined && { headers: { "content-type": ContentType } }),
        });
        expect(members(own)).toEqual(members(url));
      }
      const part = new UploadPartCommand({ ...object, UploadId: "a/b+c", PartNumber: 7, ContentLength: 123 });
      const signableHeaders = new Set(["content-length"]);
      const url = await getSignedUrl(client, part, { expiresIn: 60, signingDate: at, signableHeaders });
      const query = { partNumber: "7", uploadId: "a/b+c", "x-id": "UploadPart" };
      const headers = { "content-length": "123" };
      const own = presign({ ...common, method: "PUT", expiresSeconds: 60, query, headers });
      expect(members(own)).toEqual(members(url));
      const fields = { "Content-Type": "audio/wav", "x-amz-meta-é": 'a"\u{1f50a}' };
      const range: ["content-length-range", number, number] = ["content-length-range", 5, 5];
      vi.useFakeTimers({ toFake: ["Date"], now: at });
      const form = await createPresignedPost(client, {
        ...object,
        ...{ Expires: 60, Fields: fields, Conditions: [range] },
      });
      const ownForm = makePresignPost({ endpoint, bucket: "plosive", addressing, region })({
        ...common,
        ...{ fields, sizeBytes: 5, expiresSeconds: 60 },
      });
      const readable = ({
        url,
        fields: { Policy = "", "X-Amz-Signature": signature, ...rest },
      }: typeof form) => ({
        ...{ url, signature, rest },
        policy: JSON.parse(Buffer.from(Policy, "base64").toString()),
      });
      expect(readable(ownForm)).toEqual(readable(form));
    } finally {
      client.destroy();
    }
  },
);

// Here the SDK silently uses path style, so its URLs would differ from Plosive's.
it.each([
  ["http://127.0.0.1:7070", "plosive"],
  ["http://[::1]:7070", "plosive"],
  ["https://s3.example.com", "plosive.audio"],
])("refuses virtual-host style for %s and bucket %s", (endpoint, bucket) => {
  const make = (addressing: "path" | "virtual") =>
    makePresign({ endpoint, bucket, addressing, region: "eu-north-1" });
  expect(() => make("virtual")).toThrow(Error);
  expect(() => make("path")).not.toThrow();
});
