// Uploads in parts (multipart uploads of S3). storage.ts adds these functions to the client.
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { isNotFound } from "./errors.ts";
import type { Presign } from "./presign.ts";

export interface StoredPart {
  readonly partNumber: number;
  readonly sizeBytes: number;
  readonly etag: string;
}

/** Limit for requests after which the store copies or joins a whole object, which may have gigabytes. */
export const wholeObjectMs = 300_000;

/** With 10,000 parts an object of 5 GB needs parts of 0.5 MB; S3 requires 5 MiB of each but the last. */
const streamPartBytes = 5 * 1024 ** 2;

interface PartsDeps {
  readonly client: S3Client;
  readonly bucket: string;
  readonly presign: Presign;
}

export function partsOf({ client, bucket: Bucket, presign }: PartsDeps) {
  return {
    /** Starts an upload in parts and returns its id. The object exists when its parts are joined. */
    async startParts(
      Key: string,
      options: { contentType: string; metadata: Record<string, string> },
    ): Promise<string> {
      const { contentType: ContentType, metadata: Metadata } = options;
      const command = new CreateMultipartUploadCommand({ Bucket, Key, ContentType, Metadata });
      return (await client.send(command)).UploadId ?? "";
    },

    /** Presigns a URL for a client to write one part of exactly `sizeBytes`. */
    async presignPart(
      key: string,
      uploadId: string,
      {
        partNumber,
        sizeBytes,
        expiresSeconds,
      }: Record<"partNumber" | "sizeBytes" | "expiresSeconds", number>,
    ): Promise<string> {
      const query = { partNumber: String(partNumber), uploadId, "x-id": "UploadPart" };
      const headers = { "content-length": String(sizeBytes) };
      return await presign({ method: "PUT", key, expiresSeconds, query, headers });
    },

    /** Returns the parts that the store has, in order; undefined if the upload was joined or aborted. */
    async listParts(Key: string, UploadId: string): Promise<readonly StoredPart[] | undefined> {
      const parts: StoredPart[] = [];
      try {
        for (let PartNumberMarker: string | undefined; ; ) {
          const page = await client.send(new ListPartsCommand({ Bucket, Key, UploadId, PartNumberMarker }));
          for (const { PartNumber = 0, Size = 0, ETag = "" } of page.Parts ?? [])
            parts.push({ partNumber: PartNumber, sizeBytes: Size, etag: ETag });
          if (!page.IsTruncated) return parts;
          PartNumberMarker = page.NextPartNumberMarker;
        }
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },

    /**
     * Writes an object from a stream, of which it keeps one part in memory. Aborts the upload when the stream or the store
     * fails. What a crashed process leaves is found by removeUpload.
     */
    async writeStream(Key: string, stream: AsyncIterable<Buffer>, ContentType: string): Promise<void> {
      const upload = { Bucket, Key };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...upload, ContentType }));
      try {
        const Parts: CompletedPart[] = [];
        for await (const Body of inPieces(stream, streamPartBytes)) {
          const PartNumber = Parts.length + 1;
          const command = new UploadPartCommand({ ...upload, UploadId, PartNumber, Body });
          Parts.push({ PartNumber, ETag: (await client.send(command)).ETag });
        }
        const command = new CompleteMultipartUploadCommand({
          ...upload,
          UploadId,
          MultipartUpload: { Parts },
        });
        await client.send(command, { requestTimeout: wholeObjectMs });
      } catch (error) {
        await client.send(new AbortMultipartUploadCommand({ ...upload, UploadId })).catch(() => {});
        throw error;
      }
    },

    /**
     * Makes the object of the parts. No effect if the upload was joined or aborted before. Rejects with an isChanged error
     * when a part has been written again since it was listed.
     */
    async joinParts(Key: string, UploadId: string, parts: readonly StoredPart[]): Promise<void> {
      const Parts = parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
      const command = new CompleteMultipartUploadCommand({
        Bucket,
        Key,
        UploadId,
        MultipartUpload: { Parts },
      });
      await client.send(command, { requestTimeout: wholeObjectMs }).catch(unlessNotFound);
    },

    /**
     * Deletes what was uploaded under a key: the object, and the parts of every upload in parts, including one whose id was
     * never recorded. A part that arrives meanwhile may remain until the next call.
     */
    async removeUpload(Key: string): Promise<void> {
      // First, because credentials of an older installation may not list uploads in parts.
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
      // MinIO lists only the uploads of one whole key. A page has 1,000; a second one of a key is rare already.
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
      for (const { UploadId } of Uploads)
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(unlessNotFound);
    },
  };
}

/** Joins and cuts the chunks of a stream; the last piece may be smaller. */
async function* inPieces(stream: AsyncIterable<Buffer>, size: number): AsyncIterable<Buffer> {
  let piece = Buffer.allocUnsafe(size);
  let used = 0;
  for await (const chunk of stream) {
    for (let taken = 0; taken < chunk.length; ) {
      const copied = chunk.copy(piece, used, taken);
      taken += copied;
      used += copied;
      if (used < size) continue;
      yield piece;
      piece = Buffer.allocUnsafe(size);
      used = 0;
    }
  }
  if (used > 0) yield piece.subarray(0, used);
}

function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
