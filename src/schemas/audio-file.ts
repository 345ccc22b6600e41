// Audio files and the three-step upload in REST. Uploads of inference jobs use the same upload form.
import { z } from "zod";
import { maxMembers, sha256Hex } from "./primitives.ts";
import { count, id, listQuery, sentence, time } from "./rest.ts";

export const audioStatuses = ["pending_upload", "processing", "ready", "failed", "expired"] as const;
export const embeddingStatuses = ["pending", "processing", "completed", "failed"] as const;

/** Accepted content types, and the container format that the bytes must have for each. */
export const audioTypes = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/opus": "ogg",
} as const;

export type AudioType = keyof typeof audioTypes;
export type AudioContainer = (typeof audioTypes)[AudioType];

const filename = z
  .string()
  .min(1)
  .max(255)
  .describe("Name of the file for people; the service never uses it as a path")
  .meta({ examples: ["take-17.wav"] });
const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .check(maxMembers(16))
  .describe("Up to 16 key-value pairs of your own")
  .meta({ maxProperties: 16, examples: [{ microphone: "left" }] });

export const audioFile = z
  .object({
    id: id("Id of the audio file"),
    dataset_id: id("Dataset that contains the audio file"),
    filename,
    content_type: sentence("Content type of the audio", "audio/wav"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal; null until it is known"),
    status: z
      .enum(audioStatuses)
      .describe("State of the file")
      .meta({ examples: ["ready"] }),
    duration_ms: count(
      "Length in milliseconds: from the file header at first, exact after decoding",
      60_000,
    ).nullable(),
    sample_rate_hz: count("Sample rate in Hz", 44_100).nullable(),
    channels: count("Number of channels", 1).nullable(),
    codec: sentence("Codec of the audio", "pcm16").nullable(),
    embedding_status: z
      .enum(embeddingStatuses)
      .describe("State of the file's embedding")
      .meta({ examples: ["completed"] }),
    embedding_model: sentence("Feature specification of the embedding", "dsp-mr1").nullable(),
    embedded_at: time("When the embedding was computed").nullable(),
    error_message: z
      .string()
      .nullable()
      .describe("Why the file failed, or why the service refused to confirm its last upload")
      .meta({ examples: [null] }),
    metadata: z
      .record(z.string(), z.string())
      .describe("Your own key-value pairs")
      .meta({ examples: [{ microphone: "left" }] }),
    created_at: time("When the upload ticket was requested"),
    uploaded_at: time("When the upload was confirmed").nullable(),
    updated_at: time("When the audio file was last changed"),
  })
  .meta({ id: "AudioFile" });

/**
 * The body of a request for an upload ticket. S3 accepts 5 GB in one form; the service has a configured limit of its
 * own.
 */
export const uploadBody = z.object({
  filename,
  content_type: z.enum(Object.keys(audioTypes) as AudioType[]).describe("Content type of the audio"),
  size_bytes: z
    .int()
    .min(1)
    .max(5_000_000_000)
    .describe("Exact size of the file in bytes")
    .meta({ examples: [5_292_044] }),
  checksum_sha256: sha256Hex
    .optional()
    .describe("SHA-256 digest; with it, the object store verifies the upload"),
  metadata: metadata.optional(),
});

export const fromUrlBody = z
  .object({
    url: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        "Public https URL of the file, with a host name, on port 443 or 8443. It may contain a signature: it is stored encrypted, deleted after the fetch and never shown",
      )
      .meta({ examples: ["https://files.example.com/takes/take-17.wav?signature=4f1e"] }),
    filename: filename.optional().describe("Name of the file for people; by default the name in the URL"),
    content_type: uploadBody.shape.content_type
      .optional()
      .describe(
        "Content type of the audio; by default that of the name's extension, or else of the response",
      ),
    checksum_sha256: sha256Hex.optional().describe("SHA-256 digest that the fetched bytes must have"),
    metadata: metadata.optional(),
  })
  .meta({ id: "CreateAudioFromUrl" });

export const uploadForm = z
  .object({
    method: z.literal("POST").describe("Method of the request that sends the form"),
    url: sentence("URL to POST the form to", "https://store.example/plosive"),
    fields: z
      .record(z.string(), z.string())
      .describe("Form fields; send them unchanged, before `file`")
      .meta({
        examples: [{ key: "incoming/…", policy: "eyJleHBpcmF0aW9uIjoi…", "Content-Type": "audio/wav" }],
      }),
    expires_at: time("When the form expires"),
  })
  .describe("A multipart form: send `fields`, then the bytes as the last field, `file`");

export const uploadParts = z
  .object({
    part_size_bytes: count("Size of every part but the last, which is smaller", 16_777_216),
    part_count: count("Number of parts of the file", 20),
    missing_part_count: count(
      "Number of parts that the object store does not have yet; confirm when it is 0",
      7,
    ),
    parts: z
      .array(
        z.object({
          part_number: count("Number of the part, from 1", 14).min(1),
          offset_bytes: count("Position of its first byte in the file", 218_103_808),
          size_bytes: count("Its exact size in bytes", 16_777_216),
          method: z.literal("PUT").describe("Method of the request that sends the part"),
          url: sentence("URL to PUT these bytes to", "https://store.example/plosive/…?partNumber=14&…"),
        }),
      )
      .max(100)
      .describe("The next missing parts; ask again when they are uploaded or their URLs have expired"),
    expires_at: time("When the URLs expire"),
  })
  .meta({ id: "UploadParts" });

export const audioUpload = z
  .object({
    audio_file_id: id("Id of the audio file"),
    upload: uploadForm,
    max_size_bytes: count("Largest accepted upload, in bytes", 2_147_483_648),
    audio_file: audioFile,
  })
  .meta({ id: "AudioUpload" });

export const confirmBody = z
  .object({ checksum_sha256: sha256Hex.optional().describe("SHA-256 digest of the uploaded bytes") })
  .meta({ id: "ConfirmUpload" });

export const updateAudioFileBody = z
  .object({ filename: filename.optional(), metadata: metadata.optional() })
  .meta({ id: "UpdateAudioFile" });

export const listAudioQuery = z.object({
  ...listQuery,
  status: z.enum(audioStatuses).optional().describe("Only files with this status"),
  embedding_status: z.enum(embeddingStatuses).optional().describe("Only files with this embedding status"),
  filename: z.string().max(255).optional().describe("Only files whose name contains this text"),
});

export const download = z
  .object({
    url: sentence("Presigned URL of the bytes", "https://store.example/plosive/audio/…?X-Amz-Signature=…"),
    method: z.literal("GET").describe("Method of the request that fetches the bytes"),
    expires_at: time("When the URL expires"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal"),
  })
  .meta({ id: "Download" });

export const waveformQuery = z.object({
  samples_per_pixel: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe("Samples per pixel; rounded up to a multiple of the stored resolution, never finer"),
});

export const waveform = z
  .object({
    version: z.int().describe("Version of the layout: 2"),
    channels: z.int().min(1).describe("Number of channels"),
    sample_rate: z.int().min(1).describe("Sample rate of the file in Hz"),
    samples_per_pixel: z.int().min(1).describe("Samples that one minimum-maximum pair stands for"),
    bits: z.literal(8).describe("Resolution of `data`"),
    length: count("Number of minimum-maximum pairs per channel", 2),
    data: z
      .array(z.int().min(-128).max(127))
      .describe("Minimum and maximum in turn, interleaved by channel")
      .meta({ maxItems: 100_000_000, examples: [[-3, 4, -17, 21]] }),
  })
  .describe("Peaks in the JSON layout of waveform-data.js")
  .meta({ id: "Waveform" });
