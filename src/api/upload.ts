// The three-step upload, shared by audio files and inference files: the signed form of step 1, and the checks and the
// copy of step 3. What the store enforces is never trusted: confirm looks at every fact again.
import type { ConfirmedAudio, NewUpload } from "../db/audio-file.ts";
import { newId } from "../db/id.ts";
import type { AudioQuota } from "../db/quota.ts";
import { AppError, unsupportedAudio, uploadMismatch, uploadNotFound, validationFailed } from "../errors.ts";
import { type AudioType, audioTypes } from "../schemas/audio-file.ts";
import { isChanged, isNotFound } from "../storage/errors.ts";
import { incomingKey } from "../storage/keys.ts";
import { readAudioHeader } from "./audio-header/read.ts";
import type { AudioFacts } from "./audio-header/types.ts";
import type { HandlerDeps } from "./route.ts";
import { iso } from "./view.ts";

export interface UploadRequest {
  readonly filename: string;
  readonly content_type: AudioType;
  readonly size_bytes: number;
  readonly checksum_sha256?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The rows to be for the requests; validationFailed when one is larger than this service takes. */
export function toNewUploads(
  deps: HandlerDeps,
  requests: readonly UploadRequest[],
  locOf: (index: number) => (string | number)[],
): NewUpload[] {
  const max = deps.config.PLOSIVE_UPLOAD_MAX_BYTES;
  const faults = requests.flatMap((request, i) =>
    request.size_bytes <= max
      ? []
      : [
          {
            loc: [...locOf(i), "size_bytes"],
            msg: `Input should be less than or equal to ${max}`,
            type: "less_than_equal",
          },
        ],
  );
  if (faults.length > 0) throw validationFailed(faults);
  return requests.map((request) => ({
    id: newId(),
    filename: request.filename,
    contentType: request.content_type,
    sizeBytes: request.size_bytes,
    checksumSha256: request.checksum_sha256 ?? null,
    metadata: request.metadata ?? {},
  }));
}

/** How much audio a tenant may have. */
export const audioQuotaOf = ({ config }: HandlerDeps): AudioQuota => ({
  maxFiles: config.PLOSIVE_QUOTA_AUDIO_FILES,
  maxBytes: config.PLOSIVE_QUOTA_BYTES,
});

/** What forms leave in the store is looked for an hour after the last one can have been signed (migration 0006). */
const longestFormSeconds = 3_600;

/** The form that the client POSTs to the store: every field of it is signed. */
export async function signUpload(
  deps: HandlerDeps,
  tenantId: string,
  upload: Omit<NewUpload, "filename" | "metadata">,
) {
  const expiresSeconds = Math.min(deps.config.PLOSIVE_UPLOAD_EXPIRY_SECONDS, longestFormSeconds);
  const form = await deps.storage.presignPost({
    key: incomingKey(tenantId, upload.id),
    contentType: upload.contentType,
    sizeBytes: upload.sizeBytes,
    checksumSha256: upload.checksumSha256,
    metadata: { "audio-id": upload.id },
    expiresSeconds,
  });
  return {
    method: "POST" as const,
    url: form.url,
    fields: form.fields,
    expires_at: iso(deps.clock.now() + expiresSeconds * 1000),
  };
}

export interface Announced {
  readonly id: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly checksum_sha256: string | null;
}

/**
 * Checks what was uploaded against what was announced and copies it to `finalKey`, which no form was ever signed for:
 * a replayed form cannot change audio that is already labelled. The caller holds the file's lock, writes the row, and
 * then calls discardUpload. On a mismatch the upload is deleted, and the client may upload again.
 */
export async function acceptUpload(
  deps: HandlerDeps,
  tenantId: string,
  announced: Announced,
  finalKey: string,
  claimedSha256: string | undefined,
): Promise<ConfirmedAudio> {
  const key = incomingKey(tenantId, announced.id);
  try {
    const head = await deps.storage.head(key);
    requireAsAnnounced(announced, head, claimedSha256);
    // Junk is refused before it is copied.
    await readHeader(deps, key, announced);
    const wanted = announced.checksum_sha256 ?? claimedSha256 ?? null;
    const digest = wanted !== null && head.checksumSha256 === null;
    const copied = await deps.storage.copy(key, finalKey, { ifMatch: head.etag, digest });
    const checksumSha256 = head.checksumSha256 ?? copied.checksumSha256 ?? wanted;
    try {
      if (wanted !== null && checksumSha256 !== wanted) throw otherDigest();
      // The form may have been posted again and again meanwhile: what counts is what nobody can write any more.
      const { codec, sampleRateHz, channels, durationMs } = await readHeader(deps, finalKey, announced);
      return { checksumSha256, codec, sampleRateHz, channels, durationMs };
    } catch (error) {
      await deps.storage.remove(finalKey);
      throw error;
    }
  } catch (error) {
    if (isNotFound(error))
      throw uploadNotFound(
        "Nothing has been uploaded yet: post the file to the URL of its ticket first; the object store's answer says why it took nothing",
      );
    // Another form was posted while this one was checked.
    if (isChanged(error)) throw uploadMismatch("The upload changed while it was confirmed; confirm it again");
    if (error instanceof AppError) await deps.storage.remove(key);
    throw error;
  }
}

/** What the header of the object says; unsupportedAudio. */
async function readHeader(deps: HandlerDeps, key: string, announced: Announced): Promise<AudioFacts> {
  const header = await readAudioHeader(
    (start, end) => deps.storage.read(key, { start, end }),
    announced.size_bytes,
    audioTypes[announced.content_type as AudioType],
  );
  if ("problem" in header) throw unsupportedAudio(header.problem);
  return header;
}

const otherDigest = () => uploadMismatch("The SHA-256 digest of the upload is not the announced one");

/** The upload has been copied: what is left of it goes. Its failure costs nothing but space. */
export function discardUpload(deps: HandlerDeps, tenantId: string, id: string): void {
  deps.background("delete a confirmed upload", () => deps.storage.remove(incomingKey(tenantId, id)));
}

function requireAsAnnounced(
  announced: Announced,
  head: { sizeBytes: number; contentType: string | null; checksumSha256: string | null },
  claimedSha256: string | undefined,
): void {
  if (head.sizeBytes !== announced.size_bytes)
    throw uploadMismatch(`The upload has ${head.sizeBytes} bytes, ${announced.size_bytes} were announced`);
  if (head.contentType !== announced.content_type)
    throw uploadMismatch(`The upload is not of the announced type ${announced.content_type}`);
  const digests = [announced.checksum_sha256, claimedSha256, head.checksumSha256].filter(
    (digest) => digest != null,
  );
  if (new Set(digests).size > 1) throw otherDigest();
}
