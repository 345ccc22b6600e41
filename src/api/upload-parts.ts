// Step 2 of an upload in parts: which parts the object store lacks, with a presigned URL for each, and joining the parts
// at confirm. The store keeps the parts, so a client that crashed asks again and goes on. Called by upload-routes.ts.
import { type Announced, replaceParts, type UploadTable } from "../db/upload.ts";
import { requestInProgress, uploadMismatch, uploadNotFound } from "../errors.ts";
import { isChanged, isNotFound } from "../storage/errors.ts";
import { incomingKey } from "../storage/keys.ts";
import type { StoredPart } from "../storage/parts.ts";
import type { HandlerDeps } from "./route.ts";
import { iso } from "./view.ts";

/**
 * Lifetime of an upload form and of the URL of a part. The purge looks for uploaded objects an hour after the last form can
 * have been signed (migration 0006), so none may be valid for longer.
 */
export const uploadSeconds = ({ config }: HandlerDeps) =>
  Math.min(config.PLOSIVE_UPLOAD_EXPIRY_SECONDS, 3_600);

/** S3 requires 5 MiB of each part but the last, and allows 10,000 parts: 160 GiB. */
const partBytes = 16 * 1024 ** 2;
const partsPerAnswer = 100;

/** Returns the numbers and sizes of all parts of the file. */
function partsOf({ size_bytes: size }: Announced) {
  return Array.from({ length: Math.ceil(size / partBytes) }, (_, i) => ({
    partNumber: i + 1,
    offsetBytes: i * partBytes,
    sizeBytes: Math.min(partBytes, size - i * partBytes),
  }));
}

/** A part counts only with its exact size, so parts of another release's size are uploaded again. */
function missingOf(file: Announced, stored: readonly StoredPart[]) {
  const sizes = new Map(stored.map((part) => [part.partNumber, part.sizeBytes]));
  return partsOf(file).filter((part) => sizes.get(part.partNumber) !== part.sizeBytes);
}

/**
 * Returns the next parts to upload, with their URLs; none if all are in the store or the upload is confirmed. The caller
 * holds the file's lease, so no confirm joins the parts meanwhile.
 */
export async function nextParts(deps: HandlerDeps, table: UploadTable, tenantId: string, file: Announced) {
  const upload = file.status === "pending_upload" ? await openUpload(deps, table, tenantId, file) : undefined;
  const missing = upload === undefined ? [] : missingOf(file, upload.stored);
  const expiresSeconds = uploadSeconds(deps);
  const key = incomingKey(tenantId, file.id);
  return {
    part_size_bytes: partBytes,
    part_count: partsOf(file).length,
    missing_part_count: missing.length,
    parts: await Promise.all(
      missing.slice(0, partsPerAnswer).map(async (part) => ({
        part_number: part.partNumber,
        offset_bytes: part.offsetBytes,
        size_bytes: part.sizeBytes,
        method: "PUT" as const,
        url: await deps.storage.presignPart(key, upload?.id ?? "", { ...part, expiresSeconds }),
      })),
    ),
    expires_at: iso(deps.clock.now() + expiresSeconds * 1000),
  };
}

/** Returns the upload in parts; undefined if its parts are joined. Starts one unless the store has one. */
async function openUpload(
  { db, storage }: HandlerDeps,
  table: UploadTable,
  tenantId: string,
  file: Announced,
) {
  const key = incomingKey(tenantId, file.id);
  const before = file.multipart_id;
  if (before !== null) {
    const stored = await storage.listParts(key, before);
    if (stored !== undefined) return { id: before, stored };
    // A confirm joined the parts and ended before it accepted or refused them.
    if (await exists(storage.head(key))) return undefined;
  }
  const id = await storage.startParts(key, {
    contentType: file.content_type,
    metadata: { "audio-id": file.id },
  });
  // The client learns of the upload only after it is recorded. The purge of the file's upload finds it by its key.
  if (await replaceParts(db, table, tenantId, file.id, { before, after: id })) return { id, stored: [] };
  throw requestInProgress("Another request for the same upload is still in progress");
}

const exists = (head: Promise<unknown>) =>
  head.then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );

/** Joins the parts to the object that confirm checks. Throws uploadNotFound while parts are missing. */
export async function joinParts({ storage }: HandlerDeps, tenantId: string, file: Announced): Promise<void> {
  if (file.multipart_id === null) return;
  const key = incomingKey(tenantId, file.id);
  const stored = await storage.listParts(key, file.multipart_id);
  // Joined before, or not begun: then the client may have posted the form.
  if (stored === undefined || stored.length === 0) return;
  const missing = missingOf(file, stored);
  // Then the client may have gone back to the form.
  if (missing.length > 0 && (await exists(storage.head(key)))) return;
  if (missing.length > 0)
    throw uploadNotFound(
      `${missing.length} of ${partsOf(file).length} parts are missing, the first is part ${missing[0]?.partNumber}; ask for the missing parts and upload them`,
    );
  const parts = stored.slice(0, partsOf(file).length);
  await storage.joinParts(key, file.multipart_id, parts).catch((error: unknown) => {
    if (isChanged(error))
      throw uploadMismatch(
        "A part was uploaded again while the upload was being confirmed; confirm it again",
      );
    throw error;
  });
}
