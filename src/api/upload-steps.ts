// Steps 2 and 3 of the three-step upload: the routes for the parts of large files and for the confirm, for audio files of
// datasets and for files of inference jobs. Called by the routes of both.
import type { z } from "zod";
import type { ConfirmedAudio } from "../db/audio-file.ts";
import type { Db } from "../db/driver/page.ts";
import { withLease } from "../db/lease.ts";
import { type Announced, recordRefusedUpload, type UploadTable } from "../db/upload.ts";
import { requireNoFetch } from "../db/url-upload.ts";
import { uploadExpired } from "../errors.ts";
import { confirmBody, uploadParts } from "../schemas/audio-file.ts";
import { defineRoute } from "./route.ts";
import { confirmUpload } from "./upload.ts";
import { nextParts } from "./upload-parts.ts";

export interface UploadSteps<P extends z.ZodType, R extends Announced> {
  /** Path of one file. */
  readonly path: string;
  readonly params: P;
  /** For the operation ids, as in confirmAudioUpload. */
  readonly name: string;
  readonly schema: z.ZodType;
  readonly conflicts: readonly string[];
  readonly table: UploadTable;
  readonly read: (db: Db, tenantId: string, params: z.output<P>) => Promise<R>;
  /** Storage key of the confirmed file. No form or URL to upload is ever signed for it. */
  readonly keyOf: (tenantId: string, row: R) => string;
  readonly markUploaded: (
    db: Db,
    tenantId: string,
    params: z.output<P>,
    audio: ConfirmedAudio,
  ) => Promise<unknown>;
  readonly view: (row: R) => unknown;
}

export function uploadSteps<P extends z.ZodType, R extends Announced>(steps: UploadSteps<P, R>) {
  const { path, params, name, schema, conflicts, table, view } = steps;
  const readOpen = async (db: Db, tenantId: string, of: z.output<P>) => {
    const file = await steps.read(db, tenantId, of);
    if (file.status === "expired") throw uploadExpired();
    if (file.status === "pending_upload") await requireNoFetch(db, tenantId, file.id);
    return file;
  };

  return {
    parts: defineRoute("POST", `${path}/parts`, {
      operationId: `request${name}UploadParts`,
      summary: "Step 2 of 3 for large files: request URLs for the parts that are missing",
      description:
        "Instead of the form of the upload ticket: PUT the bytes of each part to its URL, ask again until no part is missing, then confirm. The object store keeps the parts until the upload expires, so after an interruption only the missing ones are uploaded.",
      params,
      rate: "uploads",
      answer: { status: 200, description: "The next missing parts", schema: uploadParts },
      conflicts: ["request_in_progress", ...conflicts.filter((code) => code === "upload_expired")],
      handler: async ({ params: of, tenantId, deps }) => {
        const { id } = await readOpen(deps.db, tenantId, of);
        const release = await deps.shares.copies(tenantId, 1);
        try {
          const body = await withLease(deps.db, tenantId, id, async () =>
            nextParts(deps, table, tenantId, await readOpen(deps.db, tenantId, of)),
          );
          return { body };
        } finally {
          release();
        }
      },
    }),

    confirm: defineRoute("POST", `${path}/confirm`, {
      operationId: `confirm${name}Upload`,
      summary: "Step 3 of 3: confirm the upload; the service checks the file",
      params,
      body: confirmBody,
      bodyOptional: true,
      answer: { status: 200, description: "The file", schema },
      conflicts: [
        "upload_not_found",
        "upload_mismatch",
        "unsupported_audio",
        "request_in_progress",
        ...conflicts,
      ],
      handler: async ({ params: of, body, tenantId, deps }) => {
        const { db } = deps;
        const known = await readOpen(db, tenantId, of);
        const confirmed = await confirmUpload(deps, tenantId, known, body.checksum_sha256, {
          read: () => steps.read(db, tenantId, of),
          key: steps.keyOf(tenantId, known),
          recordRefusal: (reason) => recordRefusedUpload(db, table, tenantId, known.id, reason),
          markUploaded: (audio) => steps.markUploaded(db, tenantId, of, audio),
        });
        return { body: view(confirmed) };
      },
    }),
  };
}
