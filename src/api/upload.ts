// Upload tickets of audio files and inference files: their limits and their presigned form. Called by the routes of both
// kinds of files.
import type { NewUpload } from "../db/audio-file.ts";
import { newId } from "../db/driver/id.ts";
import type { AudioQuota } from "../db/quota.ts";
import type { Announced } from "../db/upload.ts";
import { validationFailed } from "../errors.ts";
import { incomingKey } from "../storage/keys.ts";
import type { HandlerDeps } from "./route.ts";
import { uploadSeconds } from "./upload-parts.ts";
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
