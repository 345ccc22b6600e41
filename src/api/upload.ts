// The three-step upload of audio files and inference files: the presigned form of step 1, and the checks and the copy
// of step 3 (confirm). Confirm checks every fact again and does not rely on what the object store enforces. Called by
// the routes of both kinds of files.
import type { ConfirmedAudio, NewUpload } from "../db/audio-file.ts";
import { newId } from "../db/driver/id.ts";
import { type RequireHeld, withLease } from "../db/lease.ts";
import type { AudioQuota } from "../db/quota.ts";
import type { Announced } from "../db/upload.ts";
import { AppError, unsupportedAudio, uploadMismatch, uploadNotFound, validationFailed } from "../errors.ts";
import { type AudioType, audioTypes } from "../schemas/audio-file.ts";
import { isChanged, isNotFound } from "../storage/errors.ts";
import { incomingKey } from "../storage/keys.ts";
import { readAudioHeader } from "./audio-header/read.ts";
import type { AudioFacts } from "./audio-header/types.ts";
import type { HandlerDeps } from "./route.ts";
import { joinParts, uploadSeconds } from "./upload-parts.ts";
import { iso } from "./view.ts";

/**
 * Returns the rows to insert for the requests. Throws validationFailed if a file is larger than the configured limit.
 */
export function toNewUploads(
  deps: HandlerDeps,
  requests: readonly Omit<NewUpload, "id">[],
  locOf: (index: number) => (string | number)[],
): NewUpload[] {
  const max = deps.config.PLOSIVE_UPLOAD_MAX_BYTES;
  const [msg, type] = [`Input should be less than or equal to ${max}`, "less_than_equal"];
  const faults = requests.flatMap((request, i) =>
    request.size_bytes <= max ? [] : [{ loc: [...locOf(i), "size_bytes"], msg, type }],
  );
  if (faults.length > 0) throw validationFailed(faults);
  return requests.map((request) => ({ id: newId(), ...request }));
}

/** Returns the quota of audio files and bytes. */
export const audioQuotaOf = ({ config }: HandlerDeps): AudioQuota => ({
  maxFiles: config.PLOSIVE_QUOTA_AUDIO_FILES,
  maxBytes: config.PLOSIVE_QUOTA_BYTES,
});

/** Presigns the form that the client POSTs to the object store. The signature covers every field. */
export async function signUpload(deps: HandlerDeps, tenantId: string, upload: Announced) {
  const expiresSeconds = uploadSeconds(deps);
  const form = await deps.storage.presignPost({
    key: incomingKey(tenantId, upload.id),
    contentType: upload.content_type,
    sizeBytes: upload.size_bytes,
    checksumSha256: upload.checksum_sha256,
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

interface Confirm<R extends Announced> {
  /** Reads the file's row. */
  readonly read: () => Promise<R>;
  /** Storage key of the confirmed file. No form is ever signed for it. */
  readonly key: string;
  /** Keeps the reason of a refusal in the file's row. */
  readonly recordRefusal: (reason: string) => Promise<void>;
  readonly markUploaded: (audio: ConfirmedAudio) => Promise<unknown>;
}

/**
 * Confirms the upload of one file, alone in all processes, within the tenant's share of confirms, and returns its row. No
 * effect unless the file waits for its upload. Throws as acceptUpload does.
 */
export async function confirmUpload<R extends Announced>(
  deps: HandlerDeps,
  tenantId: string,
  known: R,
  claimedSha256: string | undefined,
  confirm: Confirm<R>,
): Promise<R> {
  if (known.status !== "pending_upload") return known;
  const release = await deps.shares.copies(tenantId, 1);
  try {
    const confirmed = await withLease(deps.db, tenantId, known.id, async (requireHeld) => {
      const file = await confirm.read();
      if (file.status !== "pending_upload") return file;
      await joinParts(deps, tenantId, file);
      const audio = await acceptUpload(deps, tenantId, file, claimedSha256, { ...confirm, requireHeld });
      await confirm.markUploaded(audio);
      return await confirm.read();
    });
    // A failure only costs storage space.
    deps.background("delete a confirmed upload", () => deps.storage.remove(incomingKey(tenantId, known.id)));
    return confirmed;
  } finally {
    release();
  }
}

/**
 * Checks the uploaded object against the upload request and copies it to its final key, so that a replayed form cannot
 * change audio that is already labelled. Throws uploadNotFound, uploadMismatch or unsupportedAudio. After a mismatch the
 * object is deleted, and the client may upload again. Writes and deletes objects only while it holds the lease: another
 * confirm may have accepted the file since.
 */
async function acceptUpload<R extends Announced>(
  deps: HandlerDeps,
  tenantId: string,
  announced: R,
  claimedSha256: string | undefined,
  { key: finalKey, requireHeld, recordRefusal }: Confirm<R> & { requireHeld: RequireHeld },
): Promise<ConfirmedAudio> {
  const key = incomingKey(tenantId, announced.id);
  try {
    const head = await deps.storage.head(key);
    requireAsAnnounced(announced, head, claimedSha256);
    // Refuses files that are not audio before the copy.
    await readHeader(deps, key, announced);
    const wanted = announced.checksum_sha256 ?? claimedSha256 ?? null;
    const digest = wanted !== null && head.checksumSha256 === null;
    await requireHeld();
    const copied = await deps.storage.copy(key, finalKey, { ifMatch: head.etag, digest });
    const checksumSha256 = head.checksumSha256 ?? copied.checksumSha256 ?? wanted;
    try {
      if (wanted !== null && checksumSha256 !== wanted) throw otherDigest();
      // The header is read again from the final key: a client could have posted the form again in the meantime, but
      // cannot write to the final key.
      const { codec, sampleRateHz, channels, durationMs } = await readHeader(deps, finalKey, announced);
      return { checksumSha256, codec, sampleRateHz, channels, durationMs };
    } catch (error) {
      await requireHeld();
      await deps.storage.remove(finalKey);
      throw error;
    }
  } catch (error) {
    if (isNotFound(error))
      throw uploadNotFound(
        "Nothing has been uploaded yet. Post the file to the URL of its upload ticket first; if the object store refused it, its response says why",
      );
    // The form was posted again during the checks.
    if (isChanged(error))
      throw uploadMismatch("The upload changed while it was being confirmed; confirm it again");
    if (error instanceof AppError && error.code !== "request_in_progress") {
      await requireHeld();
      await deps.storage.remove(key);
      await recordRefusal(error.message);
    }
    throw error;
  }
}

/** Reads the audio header of the object. Throws unsupportedAudio. */
async function readHeader(deps: HandlerDeps, key: string, announced: Announced): Promise<AudioFacts> {
  const header = await readAudioHeader(
    (start, end) => deps.storage.read(key, { start, end }),
    announced.size_bytes,
    audioTypes[announced.content_type as AudioType],
  );
  if ("problem" in header) throw unsupportedAudio(header.problem);
  return header;
}

const otherDigest = () =>
  uploadMismatch("The SHA-256 digest of the upload differs from the one in the request");

function requireAsAnnounced(
  announced: Announced,
  head: { sizeBytes: number; contentType: string | null; checksumSha256: string | null },
  claimedSha256: string | undefined,
): void {
  if (head.sizeBytes !== announced.size_bytes)
    throw uploadMismatch(
      `The upload has ${head.sizeBytes} bytes, but its upload request has size_bytes ${announced.size_bytes}`,
    );
  if (head.contentType !== announced.content_type)
    throw uploadMismatch(
      `The upload does not have the content type ${announced.content_type} of its upload request`,
    );
  const digests = [announced.checksum_sha256, claimedSha256, head.checksumSha256].filter(
    (digest) => digest != null,
  );
  if (new Set(digests).size > 1) throw otherDigest();
}
