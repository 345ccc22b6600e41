// Accepts an uploaded file: checks the object against the upload request and copies it to its final key. The check relies on
// nothing that the object store enforces. Called by the confirm step (src/api/upload-routes.ts) and for files that the service
// fetches itself (fetches.ts).
import type { ConfirmedAudio } from "../db/audio-file.ts";
import type { RequireHeld } from "../db/lease.ts";
import type { Announced } from "../db/upload.ts";
import { AppError, unsupportedAudio, uploadMismatch, uploadNotFound } from "../errors.ts";
import { type AudioType, audioTypes } from "../schemas/audio-file.ts";
import { isChanged, isNotFound } from "../storage/errors.ts";
import { incomingKey } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import { readAudioHeader } from "./audio-header/read.ts";
import type { AudioFacts } from "./audio-header/types.ts";

export interface Accept {
  /** Storage key of the confirmed file. No form is ever signed for it. */
  readonly key: string;
  /** Keeps the reason of a refusal in the file's row. */
  readonly recordRefusal: (reason: string) => Promise<void>;
  readonly requireHeld: RequireHeld;
}

/**
 * Checks the uploaded object against the upload request and copies it to its final key, so that a replayed form cannot
 * change audio that is already labelled. Throws uploadNotFound, uploadMismatch or unsupportedAudio. After a mismatch the
 * object is deleted, and the client may upload again. Writes and deletes objects only while it holds the lease: another
 * confirm may have accepted the file since.
 */
export async function acceptUpload(
  storage: Storage,
  tenantId: string,
  announced: Announced,
  claimedSha256: string | undefined,
  { key: finalKey, requireHeld, recordRefusal }: Accept,
): Promise<ConfirmedAudio> {
  const key = incomingKey(tenantId, announced.id);
  try {
    const head = await storage.head(key);
    requireAsAnnounced(announced, head, claimedSha256);
    // Refuses files that are not audio before the copy.
    await readHeader(storage, key, announced);
    const wanted = announced.checksum_sha256 ?? claimedSha256 ?? null;
    const digest = wanted !== null && head.checksumSha256 === null;
    await requireHeld();
    const copied = await storage.copy(key, finalKey, { ifMatch: head.etag, digest });
    const checksumSha256 = head.checksumSha256 ?? copied.checksumSha256 ?? wanted;
    try {
      if (wanted !== null && checksumSha256 !== wanted) throw otherDigest();
      // The header is read again from the final key: a client could have posted the form again in the meantime, but
      // cannot write to the final key.
      const { codec, sampleRateHz, channels, durationMs } = await readHeader(storage, finalKey, announced);
      return { checksumSha256, codec, sampleRateHz, channels, durationMs };
    } catch (error) {
      await requireHeld();
      await storage.remove(finalKey);
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
      await storage.remove(key);
      await recordRefusal(error.message);
    }
    throw error;
  }
}

/** Reads the audio header of the object. Throws unsupportedAudio. */
async function readHeader(storage: Storage, key: string, announced: Announced): Promise<AudioFacts> {
  const header = await readAudioHeader(
    (start, end) => storage.read(key, { start, end }),
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
