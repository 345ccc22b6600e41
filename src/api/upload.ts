// The three-step upload of audio files and inference files: the presigned form of step 1, and the confirm of step 3. Called
// by the routes of both kinds of files.
import type { ConfirmedAudio, NewUpload } from "../db/audio-file.ts";
import { newId } from "../db/driver/id.ts";
import { withLease } from "../db/lease.ts";
import type { AudioQuota } from "../db/quota.ts";
import type { Announced } from "../db/upload.ts";
import { validationFailed } from "../errors.ts";
import { incomingKey } from "../storage/keys.ts";
import { type Accept, acceptUpload } from "../uploads/accept.ts";
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

interface Confirm<R extends Announced> extends Omit<Accept, "requireHeld"> {
  /** Reads the file's row. */
  readonly read: () => Promise<R>;
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
      const accept = { ...confirm, requireHeld };
      const audio = await acceptUpload(deps.storage, tenantId, file, claimedSha256, accept);
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
