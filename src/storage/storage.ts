// The object store: the only room that imports the S3 SDK. Made once by each main file and passed on as an argument.
// Two addresses for one bucket: URLs for clients are signed for the public endpoint, URLs for pods for the inner one.
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { attachment } from "./attachment.ts";
import { isNotFound, TooLargeError } from "./errors.ts";
import { makePresign } from "./presign.ts";

export interface StorageConfig {
  readonly PLOSIVE_S3_ENDPOINT: string;
  readonly PLOSIVE_S3_PUBLIC_ENDPOINT?: string;
  readonly PLOSIVE_S3_REGION: string;
  readonly PLOSIVE_S3_BUCKET: string;
  readonly PLOSIVE_S3_ACCESS_KEY_ID: string;
  readonly PLOSIVE_S3_SECRET_ACCESS_KEY: string;
}

export interface PostPolicy {
  readonly key: string;
  readonly contentType: string;
  /** Exactly this many bytes. */
  readonly sizeBytes: number;
  /** Hexadecimal; null: the store checks no digest. */
  readonly checksumSha256: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresSeconds: number;
}

export interface ObjectHead {
  readonly sizeBytes: number;
  readonly etag: string;
  readonly contentType: string | null;
  /** Hexadecimal; null when the store has not computed it. */
  readonly checksumSha256: string | null;
}

export type Storage = ReturnType<typeof makeStorage>;

/** Every function rejects with an error that src/storage/errors.ts can name. */
export function makeStorage(config: StorageConfig) {
  const bucket = config.PLOSIVE_S3_BUCKET;
  const inner = client(config, config.PLOSIVE_S3_ENDPOINT);
  const outer = client(config, config.PLOSIVE_S3_PUBLIC_ENDPOINT ?? config.PLOSIVE_S3_ENDPOINT);

  const signer = (endpoint: string) =>
    makePresign({
      endpoint,
      region: config.PLOSIVE_S3_REGION,
      accessKeyId: config.PLOSIVE_S3_ACCESS_KEY_ID,
      secretAccessKey: config.PLOSIVE_S3_SECRET_ACCESS_KEY,
    });
  const presignInner = signer(config.PLOSIVE_S3_ENDPOINT);
  const presignOuter = signer(config.PLOSIVE_S3_PUBLIC_ENDPOINT ?? config.PLOSIVE_S3_ENDPOINT);

  return {
    /** A form that a client may POST to the store once filled with `file` as its last field. Nothing in it is open. */
    async presignPost(policy: PostPolicy): Promise<{ url: string; fields: Record<string, string> }> {
      const fields: Record<string, string> = {
        "Content-Type": policy.contentType,
        success_action_status: "201",
        ...Object.fromEntries(Object.entries(policy.metadata).map(([k, v]) => [`x-amz-meta-${k}`, v])),
      };
      if (policy.checksumSha256 !== null) {
        fields["x-amz-checksum-algorithm"] = "SHA256";
        fields["x-amz-checksum-sha256"] = Buffer.from(policy.checksumSha256, "hex").toString("base64");
      }
      return await createPresignedPost(outer, {
        Bucket: bucket,
        Key: policy.key,
        Expires: policy.expiresSeconds,
        Fields: fields,
        Conditions: [
          ["content-length-range", policy.sizeBytes, policy.sizeBytes],
          ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
        ],
      });
    },

    /** A URL to read one object; with a file name, browsers save it under that name. */
    async presignGet(
      key: string,
      options: { expiresSeconds: number; filename?: string; audience: "client" | "pod" },
    ): Promise<string> {
      const disposition = options.filename === undefined ? undefined : attachment(options.filename);
      const { expiresSeconds, audience } = options;
      const query = { "response-content-disposition": disposition, "x-id": "GetObject" };
      const presign = audience === "client" ? presignOuter : presignInner;
      return presign({ method: "GET", bucket, key, expiresSeconds, query, at: new Date() });
    },

    /** A URL for a pod to write one object, and the headers that it must send with it. */
    async presignPut(
      key: string,
      options: { contentType?: string; expiresSeconds: number },
    ): Promise<{ url: string; headers: Record<string, string> }> {
      const { contentType, expiresSeconds } = options;
      const query = { "x-id": "PutObject" };
      return {
        url: presignInner({ method: "PUT", bucket, key, expiresSeconds, query, contentType, at: new Date() }),
        headers: contentType === undefined ? {} : { "Content-Type": contentType },
      };
    },

    /** Size, ETag and type of an object. */
    async head(key: string): Promise<ObjectHead> {
      const answer = await inner.send(
        new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" }),
      );
      return {
        sizeBytes: answer.ContentLength ?? 0,
        etag: answer.ETag ?? "",
        contentType: answer.ContentType ?? null,
        checksumSha256: hexOrNull(answer.ChecksumSHA256),
      };
    },

    /** Bytes of an object, both ends of the range included; without a range the whole object: mind its size. */
    async read(key: string, range?: { start: number; end: number }): Promise<Buffer> {
      const answer = await inner.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          Range: range === undefined ? undefined : `bytes=${range.start}-${range.end}`,
        }),
      );
      return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    },

    /** The whole object, or TooLargeError before anything is read. */
    async readAll(key: string, maxBytes: number): Promise<Buffer> {
      const answer = await inner.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      if ((answer.ContentLength ?? 0) > maxBytes) {
        (answer.Body as { destroy?: () => void } | undefined)?.destroy?.();
        throw new TooLargeError(`object ${key} has ${answer.ContentLength} bytes, more than ${maxBytes}`);
      }
      return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    },

    /** Writes an object as a whole. */
    async write(key: string, body: Uint8Array | string, contentType?: string): Promise<void> {
      await inner.send(
        new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType }),
      );
    },

    /**
     * Copies within the store, without the bytes passing through this process. isChanged when the ETag differs. On
     * demand the store reads them for their digest; null when it does not tell it.
     */
    async copy(
      from: string,
      to: string,
      options: { ifMatch: string; digest?: boolean },
    ): Promise<{ checksumSha256: string | null }> {
      const answer = await inner.send(
        new CopyObjectCommand({
          Bucket: bucket,
          Key: to,
          CopySource: `${bucket}/${from}`,
          CopySourceIfMatch: options.ifMatch,
          ChecksumAlgorithm: options.digest ? "SHA256" : undefined,
        }),
        // The answer comes when the bytes are copied, and there may be gigabytes of them.
        { requestTimeout: 300_000 },
      );
      return { checksumSha256: hexOrNull(answer.CopyObjectResult?.ChecksumSHA256) };
    },

    /** Deletes an object; one that is not there is no error. */
    async remove(key: string): Promise<void> {
      await inner.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },

    /** Deletes every object whose key begins so. What is written meanwhile may stay. */
    async removeAll(prefix: string): Promise<void> {
      for (let token: string | undefined; ; ) {
        const page = await inner.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
        );
        for (const { Key } of page.Contents ?? [])
          if (Key !== undefined) await inner.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },

    /** Makes the bucket unless it is there. Called by the bootstrap Job and the tests. */
    async ensureBucket(): Promise<void> {
      try {
        await inner.send(new HeadBucketCommand({ Bucket: bucket }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await inner.send(new CreateBucketCommand({ Bucket: bucket }));
      }
    },

    /** Rejects unless the store answers for the bucket. */
    async ping(): Promise<void> {
      await inner.send(new HeadBucketCommand({ Bucket: bucket }));
    },

    /** Closes the sockets. */
    close(): void {
      inner.destroy();
      outer.destroy();
    },
  };
}

function client(config: StorageConfig, endpoint: string): S3Client {
  return new S3Client({
    endpoint,
    region: config.PLOSIVE_S3_REGION,
    forcePathStyle: true,
    credentials: {
      accessKeyId: config.PLOSIVE_S3_ACCESS_KEY_ID,
      secretAccessKey: config.PLOSIVE_S3_SECRET_ACCESS_KEY,
    },
    maxAttempts: 2,
    // The SDK's default adds CRC32 trailers and query members that many S3-compatible servers do not know.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 15_000, throwOnRequestTimeout: true },
  });
}

/** Digests in S3 are Base64, in this service they are hexadecimal. */
function hexOrNull(base64: string | undefined): string | null {
  return base64 === undefined ? null : Buffer.from(base64, "base64").toString("hex");
}
