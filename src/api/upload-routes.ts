// The routes of the three-step upload, for audio files of datasets and for files of inference jobs: tickets, the parts of
// large files, and the confirm. Called by the routes of both.
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { ConfirmedAudio, NewUpload } from "../db/audio-file.ts";
import { newId } from "../db/driver/id.ts";
import { withLease } from "../db/lease.ts";
import { type Announced, recordRefusedUpload } from "../db/upload.ts";
import { requireNoFetch } from "../db/url-upload.ts";
import { uploadExpired, validationFailed } from "../errors.ts";
import { confirmBody, uploadBody, uploadParts } from "../schemas/audio-file.ts";
import { incomingKey } from "../storage/keys.ts";
import { acceptUpload } from "../uploads/accept.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "./route.ts";
import { holding } from "./shares.ts";
import { joinParts, nextParts, uploadSeconds } from "./upload-parts.ts";
import { iso } from "./view.ts";

export interface UploadRoutes<P extends z.ZodType, F extends z.ZodType, R extends Announced> {
  /** Path of the list of files; `locationOf` has its parameters filled in. */
  readonly path: string;
  readonly params: P;
  readonly locationOf: (params: z.output<P>) => string;
  /** Path of one file. */
  readonly filePath: string;
  readonly fileParams: F;
  /** For the operation ids, as in createAudioUpload. */
  readonly name: string;
  /** Name of the file in tickets. */
  readonly file: "audio_file" | "inference_file";
  readonly ticket: z.ZodType;
  readonly schema: z.ZodType;
  readonly view: (row: R) => unknown;
  readonly conflicts?: readonly string[];
  /** Adds files that wait for their upload, and returns them in order. */
  readonly insert: (call: Call<z.output<P>>, uploads: readonly NewUpload[]) => Promise<readonly R[]>;
  /** Returns the files that an earlier request with the same Idempotency-Key added. */
  readonly many: (call: Call<z.output<P>>, ids: readonly string[]) => Promise<readonly R[]>;
  readonly read: (call: Call<z.output<F>>) => Promise<R>;
  /** Storage key of the confirmed file. No form or URL to upload is ever signed for it. */
  readonly keyOf: (tenantId: string, row: R) => string;
  readonly markUploaded: (call: Call<z.output<F>>, audio: ConfirmedAudio) => Promise<unknown>;
  /** Rejects if the job of the file was started or cancelled without it. */
  readonly requireIncluded?: (call: Call<z.output<F>>, row: R) => Promise<void>;
}

/** Tickets that are signed at once: the SDK takes a third of a millisecond for each. */
const ticketsPerPiece = 5;

export function uploadRoutes<P extends z.ZodType, F extends z.ZodType, R extends Announced>(
  routes: UploadRoutes<P, F, R>,
) {
  const { path, params, locationOf, filePath, fileParams, name, file, view, conflicts = [], many } = routes;
  const table = `${file}s` as const;
  const shared = { params, rate: "uploads", conflicts } as const;
  // An expired upload to an inference job is not found.
  const expired = file === "audio_file" ? ["upload_expired"] : [];

  /** Throws validationFailed if a file is larger than the configured limit. */
  const insert = (
    call: Call<z.output<P>>,
    files: readonly Omit<NewUpload, "id">[],
    locOf: (index: number) => (string | number)[],
  ) => {
    const max = call.deps.config.PLOSIVE_UPLOAD_MAX_BYTES;
    const [msg, type] = [`Input should be less than or equal to ${max}`, "less_than_equal"];
    const faults = files.flatMap((file, i) =>
      file.size_bytes <= max ? [] : [{ loc: [...locOf(i), "size_bytes"], msg, type }],
    );
    if (faults.length > 0) throw validationFailed(faults);
    return routes.insert(
      call,
      files.map((file) => ({ id: newId(), ...file })),
    );
  };
  const ticketOf = async (deps: HandlerDeps, tenantId: string, row: R) => ({
    upload: await signUpload(deps, tenantId, row),
    max_size_bytes: deps.config.PLOSIVE_UPLOAD_MAX_BYTES,
    [`${file}_id`]: row.id,
    [file]: view(row),
  });
  const one = async (call: Call<z.output<P>>, [row]: readonly R[]): Promise<Reply> => ({
    created: [row!.id],
    location: `${locationOf(call.params)}/${row!.id}`,
    body: await ticketOf(call.deps, call.tenantId, row!),
  });
  const all = async (call: Call<z.output<P>>, rows: readonly R[]): Promise<Reply> => {
    const items: object[] = [];
    for (const row of rows) {
      // Between two pieces the event loop serves other requests.
      if (items.length % ticketsPerPiece === 0) await setImmediate();
      items.push(await ticketOf(call.deps, call.tenantId, row));
    }
    return {
      created: rows.map((row) => row.id),
      location: locationOf(call.params),
      body: { items, total: items.length },
    };
  };

  const readOpen = async (call: Call<z.output<F>>) => {
    const row = await routes.read(call);
    if (row.status === "expired") throw uploadExpired();
    if (row.status === "pending_upload") await requireNoFetch(call.deps.db, call.tenantId, row.id);
    return row;
  };
  const readIncluded = async (call: Call<z.output<F>>) => {
    const row = await readOpen(call);
    await routes.requireIncluded?.(call, row);
    return row;
  };
  /** Alone in all processes. No effect unless the file waits for its upload. Throws as acceptUpload does. */
  const confirmAlone = (call: Call<z.output<F>>, id: string, claimedSha256: string | undefined) =>
    withLease(call.deps.db, call.tenantId, id, async (requireHeld) => {
      const { tenantId, deps } = call;
      const row = await readIncluded(call);
      if (row.status !== "pending_upload") return row;
      await joinParts(deps, tenantId, row);
      const key = routes.keyOf(tenantId, row);
      const recordRefusal = (reason: string) => recordRefusedUpload(deps.db, table, tenantId, id, reason);
      const accept = { key, recordRefusal, requireHeld };
      const audio = await acceptUpload(deps.storage, tenantId, row, claimedSha256, accept);
      await routes.markUploaded(call, audio);
      return await readIncluded(call);
    });

  return {
    createUpload: defineRoute("POST", `${path}/upload-url`, {
      ...shared,
      operationId: `create${name}Upload`,
      summary: "Step 1 of 3: request an upload ticket",
      description:
        "Step 2: POST `upload.fields` and then the bytes as `file` to `upload.url`, as multipart/form-data; upload a large file in parts instead, which can be resumed. Step 3: confirm the upload.",
      body: uploadBody.meta({ id: "CreateUpload" }),
      answer: { status: 201, description: "The upload ticket", schema: routes.ticket },
      handler: async (call) => await one(call, await insert(call, [call.body], () => ["body"])),
      idempotent: async (call, ids) => await one(call, await many(call, ids)),
    }),

    createUploads: defineRoute("POST", `${path}/upload-urls`, {
      ...shared,
      operationId: `create${name}Uploads`,
      summary: "Step 1 of 3: request upload tickets for up to 100 files",
      body: z
        .object({ files: z.array(uploadBody).min(1).max(100).describe("The files, at most 100") })
        .meta({ id: "CreateUploads" }),
      answer: {
        status: 201,
        description: "The upload tickets, in the order of the request",
        schema: z
          .object({
            items: z.array(routes.ticket).describe("The upload tickets"),
            total: z.int().describe("Number of upload tickets"),
          })
          .meta({ id: `${name}Uploads` }),
      },
      handler: async (call) =>
        await all(call, await insert(call, call.body.files, (i) => ["body", "files", i])),
      idempotent: async (call, ids) => await all(call, await many(call, ids)),
    }),

    parts: defineRoute("POST", `${filePath}/parts`, {
      operationId: `request${name}UploadParts`,
      summary: "Step 2 of 3 for large files: request URLs for the parts that are missing",
      description:
        "Instead of the form of the upload ticket: PUT the bytes of each part to its URL, ask again until no part is missing, then confirm. The object store keeps the parts until the upload expires, so after an interruption only the missing ones are uploaded.",
      params: fileParams,
      rate: "uploads",
      answer: { status: 200, description: "The next missing parts", schema: uploadParts },
      conflicts: ["request_in_progress", ...expired],
      handler: async (call) => {
        const { tenantId, deps } = call;
        const { id } = await readOpen(call);
        const next = async () => nextParts(deps, table, tenantId, await readOpen(call));
        const body = await holding(deps.shares.copies, tenantId, () =>
          withLease(deps.db, tenantId, id, next),
        );
        return { body };
      },
    }),

    confirm: defineRoute("POST", `${filePath}/confirm`, {
      operationId: `confirm${name}Upload`,
      summary: "Step 3 of 3: confirm the upload; the service checks the file",
      params: fileParams,
      body: confirmBody,
      bodyOptional: true,
      answer: { status: 200, description: "The file", schema: routes.schema },
      conflicts: [
        "upload_not_found",
        "upload_mismatch",
        "unsupported_audio",
        "request_in_progress",
        ...expired,
        ...conflicts,
      ],
      handler: async (call) => {
        const { body, tenantId, deps } = call;
        const known = await readIncluded(call);
        if (known.status !== "pending_upload") return { body: view(known) };
        const confirmed = await holding(deps.shares.copies, tenantId, () =>
          confirmAlone(call, known.id, body.checksum_sha256),
        );
        const incoming = incomingKey(tenantId, known.id);
        // A failure only costs storage space.
        deps.background("delete a confirmed upload", () => deps.storage.remove(incoming));
        return { body: view(confirmed) };
      },
    }),
  };
}

/** Presigns the form that the client POSTs to the object store. The signature covers every field. */
async function signUpload(deps: HandlerDeps, tenantId: string, upload: Announced) {
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
