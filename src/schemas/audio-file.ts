// Audio files and the three-step upload in REST. The ticket is the same for inference uploads.
import { z } from "zod";
import { sha256Hex } from "./primitives.ts";
import { count, id, pageQuery, sentence, time } from "./rest.ts";

export const audioStatuses = ["pending_upload", "processing", "ready", "failed", "expired"] as const;
export const embeddingStatuses = ["pending", "processing", "completed", "failed"] as const;

/** Accepted types, and the container that the bytes must then be in. */
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
  .describe("Name of the file, for people: no path is made of it")
  .meta({ examples: ["take-17.wav"] });
const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, { error: "metadata has at most 16 members" })
  .describe("Up to 16 pairs of your own")
  .meta({ maxProperties: 16, examples: [{ microphone: "left" }] });

export const audioFile = z
  .object({
    id: id("Id of the audio file"),
    dataset_id: id("Dataset that it is in"),
    filename,
    content_type: sentence("Type of the audio", "audio/wav"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal; null until known"),
    status: z
      .enum(audioStatuses)
      .describe("How far the file is")
      .meta({ examples: ["ready"] }),
    duration_ms: count(
      "Length in milliseconds: by the header at first, by decoding later",
      60_000,
    ).nullable(),
    sample_rate_hz: count("Samples per second", 44_100).nullable(),
    channels: count("Channels", 1).nullable(),
    codec: sentence("How the sound is coded", "pcm16").nullable(),
    embedding_status: z
      .enum(embeddingStatuses)
      .describe("How far its embedding is")
      .meta({ examples: ["completed"] }),
    embedding_model: sentence("What made the embedding", "dsp-mr1").nullable(),
    embedded_at: time("When the embedding was made").nullable(),
    error_message: z
      .string()
      .nullable()
      .describe("Why the file failed")
      .meta({ examples: [null] }),
    metadata: z
      .record(z.string(), z.string())
      .describe("Your own pairs")
      .meta({ examples: [{ microphone: "left" }] }),
    created_at: time("When the upload was announced"),
    uploaded_at: time("When the upload was confirmed").nullable(),
    updated_at: time("When it was last changed"),
  })
  .meta({ id: "AudioFile" });

/** The body of an upload ticket request. S3 takes 5 GB in one form; the service's own limit is a setting. */
export const uploadBody = z.object({
  filename,
  content_type: z.enum(Object.keys(audioTypes) as AudioType[]).describe("Type of the audio"),
  size_bytes: z
    .int()
    .min(1)
    .max(5_000_000_000)
    .describe("Exact size of the file in bytes")
    .meta({ examples: [5_292_044] }),
  checksum_sha256: sha256Hex.optional().describe("SHA-256 digest; the store then checks it"),
  metadata: metadata.optional(),
});

export const uploadForm = z
  .object({
    method: z.literal("POST"),
    url: sentence("Where to POST the form", "https://store.example/plosive"),
    fields: z
      .record(z.string(), z.string())
      .describe("Form fields to send unchanged, before `file`")
      .meta({
        examples: [{ key: "incoming/…", policy: "eyJleHBpcmF0aW9uIjoi…", "Content-Type": "audio/wav" }],
      }),
    expires_at: time("When the form stops working"),
  })
  .describe("A multipart form: send `fields`, then the bytes as the last field, `file`");

export const audioUpload = z
  .object({
    audio_file_id: id("Id of the audio file"),
    upload: uploadForm,
    max_size_bytes: count("Largest accepted upload", 2_147_483_648),
    audio_file: audioFile,
  })
  .meta({ id: "AudioUpload" });

export const confirmBody = z
  .object({ checksum_sha256: sha256Hex.optional().describe("SHA-256 digest of what was sent") })
  .meta({ id: "ConfirmUpload" });

export const updateAudioFileBody = z
  .object({ filename: filename.optional(), metadata: metadata.optional() })
  .meta({ id: "UpdateAudioFile" });

export const listAudioQuery = z.object({
  ...pageQuery,
  status: z.enum(audioStatuses).optional().describe("Only files with this status"),
  embedding_status: z.enum(embeddingStatuses).optional().describe("Only files with this embedding status"),
  filename: z.string().max(255).optional().describe("Only files whose name contains this"),
});

export const download = z
  .object({
    url: sentence("Signed URL of the bytes", "https://store.example/plosive/audio/…?X-Amz-Signature=…"),
    method: z.literal("GET"),
    expires_at: time("When the URL stops working"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal"),
  })
  .meta({ id: "Download" });

export const waveformQuery = z.object({
  samples_per_pixel: z.int().min(1).max(10_000_000).optional().describe("Coarser than what is stored"),
});

export const waveform = z
  .object({
    version: z.int(),
    channels: z.int().min(1),
    sample_rate: z.int().min(1),
    samples_per_pixel: z.int().min(1),
    bits: z.literal(8),
    length: count("Pairs of minimum and maximum in each channel", 2),
    data: z
      .array(z.int().min(-128).max(127))
      .describe("Minimum, maximum, minimum, maximum, ...")
      .meta({ maxItems: 100_000_000, examples: [[-3, 4, -17, 21]] }),
  })
  .describe("Peaks in the layout of waveform-data.js")
  .meta({ id: "Waveform" });
