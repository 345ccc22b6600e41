// Uploads that wait for their confirm, of audio files and of inference files. Called by src/api/upload-routes.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./driver/page.ts";

export type UploadTable = "audio_files" | "inference_files";

/** What an upload request announced, and the state of the upload. */
export const announced = z.object({
  id: z.string(),
  status: z.string(),
  content_type: z.string(),
  size_bytes: z.number(),
  checksum_sha256: z.string().nullable(),
  /** The object store's id of the upload in parts. */
  multipart_id: z.string().nullable(),
});
export type Announced = Readonly<z.infer<typeof announced>>;

/** A condition for a file that waits for its upload. */
export const pending = (tenantId: string, id: string) => sql.fragment`
  tenant_id = ${tenantId} and id = ${id} and status = 'pending_upload' and upload_expires_at > now()`;

/** Keeps why the last confirm was refused, until an upload is confirmed. */
export async function recordRefusedUpload(
  db: Db,
  table: UploadTable,
  tenantId: string,
  id: string,
  reason: string,
): Promise<void> {
  const change = table === "audio_files" ? sql.fragment`, updated_at = now()` : sql.fragment``;
  await db.query(sql.fragment`
    update ${sql.identifier([table])} set error_message = ${reason}${change} where ${pending(tenantId, id)}`);
}

/** Replaces the id of the file's upload in parts. Returns false if the file does not wait for that upload any more. */
export async function replaceParts(
  db: Db,
  table: UploadTable,
  tenantId: string,
  id: string,
  { before, after }: { before: string | null; after: string },
): Promise<boolean> {
  const changed = await db.query(sql.fragment`
    update ${sql.identifier([table])} set multipart_id = ${after}
    where ${pending(tenantId, id)} and multipart_id is not distinct from ${before}::text`);
  return changed.rowCount === 1;
}
