// The object store client. Only src/storage imports the S3 SDK. Each main file makes one client and passes it on as an
// argument. A bucket has two endpoints: URLs for clients are presigned for the public one, URLs for pods for the
// internal one.
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetBucketCorsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { type Addressing, bucketUrl } from "./addressing.ts";
import { attachment } from "./attachment.ts";
import { lastingCredentials } from "./credentials.ts";
import { isNotFound, TooLargeError } from "./errors.ts";
import { partsOf, wholeObjectMs } from "./parts.ts";
import { makePresign, type Presign } from "./presign.ts";

export interface StorageConfig {
  readonly PLOSIVE_S3_ENDPOINT: string;
  readonly PLOSIVE_S3_PUBLIC_ENDPOINT?: string;
  /** The style of the bucket's address at both endpoints. */
  readonly PLOSIVE_S3_ADDRESSING: Addressing;
  readonly PLOSIVE_S3_REGION: string;
  readonly PLOSIVE_S3_BUCKET: string;
  /** Without a key: the credentials that the SDK finds, such as those of the pod's workload identity. */
  readonly PLOSIVE_S3_ACCESS_KEY_ID?: string | undefined;
  readonly PLOSIVE_S3_SECRET_ACCESS_KEY?: string | undefined;
}

export interface PostPolicy {
  readonly key: string;
  readonly contentType: string;
  /** The upload must have exactly this many bytes. */
  readonly sizeBytes: number;
  /** Hexadecimal. Null: the store does not verify a digest. */
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

/**
 * Makes the client. Its functions reject with errors that src/storage/errors.ts classifies. Throws if the addressing does
 * not fit the endpoints or the bucket.
 */
export function makeStorage(config: StorageConfig) {
  const bucket = config.PLOSIVE_S3_BUCKET;
  const internal = client(config, config.PLOSIVE_S3_ENDPOINT);
  const publicEndpoint = config.PLOSIVE_S3_PUBLIC_ENDPOINT ?? config.PLOSIVE_S3_ENDPOINT;
  const external = client(config, publicEndpoint);
  const credentials = lastingCredentials(internal.config.credentials);
  // It only presigns forms, which would otherwise end with credentials that the SDK still considers fresh.
  external.config.credentials = credentials;

  const signer = (endpoint: string): Presign => {
    const [region, addressing] = [config.PLOSIVE_S3_REGION, config.PLOSIVE_S3_ADDRESSING];
    const presign = makePresign({ endpoint, bucket, addressing, region });
    return async (request) => presign({ ...request, at: new Date(), credentials: await credentials() });
  };
  const presignInternal = signer(config.PLOSIVE_S3_ENDPOINT);
  const presignExternal = signer(publicEndpoint);

  /** Returns size, ETag, content type and digest of an object. */
  const head = async (key: string): Promise<ObjectHead> => {
    const answer = await internal.send(
      new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" }),
    );
    return {
      sizeBytes: answer.ContentLength ?? 0,
      etag: answer.ETag ?? "",
      contentType: answer.ContentType ?? null,
      checksumSha256: hexOrNull(answer.ChecksumSHA256),
    };
  };

  return {
    ...partsOf({ client: internal, bucket, presign: presignExternal }),

    /** The origin of all URLs that clients get. */
    publicOrigin: bucketUrl({
      endpoint: publicEndpoint,
      bucket,
      addressing: config.PLOSIVE_S3_ADDRESSING,
    }).origin,

    /**
     * Presigns a form. The client adds `file` as its last field and posts it to the store. The policy fixes every other
     * field and the size.
     */
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
      return await createPresignedPost(external, {
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

    /** Presigns a URL to read one object. With a file name, browsers save the object under that name. */
    async presignGet(
      key: string,
      options: { expiresSeconds: number; filename?: string; audience: "client" | "pod" },
    ): Promise<string> {
      const disposition = options.filename === undefined ? undefined : attachment(options.filename);
      const { expiresSeconds, audience } = options;
      const query = { "response-content-disposition": disposition, "x-id": "GetObject" };
      const presign = audience === "client" ? presignExternal : presignInternal;
      return await presign({ method: "GET", key, expiresSeconds, query });
    },

    /** Presigns a URL for a pod to write one object, and returns the headers that the pod must send. */
    async presignPut(
      key: string,
      options: { contentType?: string; expiresSeconds: number },
    ): Promise<{ url: string; headers: Record<string, string> }> {
      const { contentType, expiresSeconds } = options;
      const query = { "x-id": "PutObject" };
      return {
        url: await presignInternal({
          method: "PUT",
          key,
          expiresSeconds,
          query,
          headers: contentType === undefined ? {} : { "content-type": contentType },
        }),
        headers: contentType === undefined ? {} : { "Content-Type": contentType },
      };
    },

    head,

    /** Reads a range of bytes, both ends included. Without a range it reads the whole object into memory. */
    async read(key: string, range?: { start: number; end: number }): Promise<Buffer> {
      const answer = await internal.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          Range: range === undefined ? undefined : `bytes=${range.start}-${range.end}`,
        }),
      );
      return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    },

    /** Reads the whole object; rejects with TooLargeError, before it reads the body, if it exceeds `maxBytes`. */
    async readAll(key: string, maxBytes: number): Promise<Buffer> {
      const answer = await internal.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      if ((answer.ContentLength ?? 0) > maxBytes) {
        (answer.Body as { destroy?: () => void } | undefined)?.destroy?.();
        throw new TooLargeError(`object ${key} has ${answer.ContentLength} bytes, more than ${maxBytes}`);
      }
      return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
    },

    /** Writes an object in one request. */
    async write(key: string, body: Uint8Array | string, contentType?: string): Promise<void> {
      await internal.send(
        new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType }),
      );
    },

    /**
     * Copies an object inside the store; the bytes do not pass through this process. Rejects with an isChanged error
     * when the ETag differs from `ifMatch`. With `digest` the store computes SHA-256; null when it cannot.
     */
    async copy(
      from: string,
      to: string,
      options: { ifMatch: string; digest?: boolean },
    ): Promise<{ checksumSha256: string | null }> {
      const answer = await internal.send(
        new CopyObjectCommand({
          Bucket: bucket,
          Key: to,
          CopySource: `${bucket}/${from}`,
          CopySourceIfMatch: options.ifMatch,
          ChecksumAlgorithm: options.digest ? "SHA256" : undefined,
        }),
        { requestTimeout: wholeObjectMs },
      );
      const checksumSha256 = hexOrNull(answer.CopyObjectResult?.ChecksumSHA256);
      if (checksumSha256 !== null || !options.digest) return { checksumSha256 };
      // MinIO computes the digest, but its response to the copy does not contain it.
      return { checksumSha256: (await head(to)).checksumSha256 };
    },

    /** Deletes an object. Deleting an object that does not exist is not an error. */
    async remove(key: string): Promise<void> {
      await internal.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },

    /** Deletes every object whose key begins with `prefix`. It may miss objects that are written while it runs. */
    async removeAll(prefix: string): Promise<void> {
      for (let token: string | undefined; ; ) {
        const page = await internal.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
        );
        for (const { Key } of page.Contents ?? [])
          if (Key !== undefined) await internal.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },

    /** Creates the bucket unless it exists. Called by the bootstrap Job and the tests. */
    async ensureBucket(): Promise<void> {
      try {
        await internal.send(new HeadBucketCommand({ Bucket: bucket }));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await internal.send(new CreateBucketCommand({ Bucket: bucket }));
      }
    },

    /**
     * Lets web pages send uploads to the bucket and play audio from it, as the dashboard does: a presigned URL or form is
     * needed all the same. Returns false if the bucket has CORS rules of its own, which stay as they are.
     */
    async allowPages(): Promise<boolean> {
      try {
        await internal.send(new GetBucketCorsCommand({ Bucket: bucket }));
        return false;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      const rule = {
        AllowedOrigins: ["*"],
        AllowedMethods: ["GET", "HEAD", "POST", "PUT"],
        AllowedHeaders: ["*"],
        MaxAgeSeconds: 3_600,
      };
      const put = { Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } };
      await internal.send(new PutBucketCorsCommand(put));
      return true;
    },

    /** Rejects unless the store is reachable and the bucket exists. */
    async ping(): Promise<void> {
      await internal.send(new HeadBucketCommand({ Bucket: bucket }));
    },

    /** Closes the sockets. */
    close(): void {
      internal.destroy();
      external.destroy();
    },
  };
}

function client(config: StorageConfig, endpoint: string): S3Client {
  const { PLOSIVE_S3_ACCESS_KEY_ID: accessKeyId, PLOSIVE_S3_SECRET_ACCESS_KEY: secretAccessKey = "" } =
    config;
  return new S3Client({
    // In virtual-host style the SDK joins an endpoint's path and a key without regard to a slash that is already there.
    endpoint: endpoint.replace(/\/$/, ""),
    region: config.PLOSIVE_S3_REGION,
    forcePathStyle: config.PLOSIVE_S3_ADDRESSING === "path",
    ...(accessKeyId === undefined ? {} : { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: 2,
    // By default the SDK adds CRC32 trailers and query parameters that many S3-compatible servers do not support.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 15_000, throwOnRequestTimeout: true },
  });
}

/**
 * S3 encodes digests in Base64, this service in hexadecimal. The digest of an upload in parts may be that of the parts'
 * digests, with the number of parts behind it, which is not the digest of the bytes.
 */
function hexOrNull(base64: string | undefined): string | null {
  return base64 === undefined || base64.includes("-") ? null : Buffer.from(base64, "base64").toString("hex");
}
