// Step 1 of the three-step upload: the routes that hand out upload tickets, for audio files of datasets and for files of
// inference jobs. Called by the routes of both.
import { z } from "zod";
import type { NewUpload } from "../db/audio-file.ts";
import type { Announced } from "../db/upload.ts";
import { uploadBody } from "../schemas/audio-file.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "./route.ts";
import { signUpload, toNewUploads } from "./upload.ts";

export interface TicketRoutes<P extends z.ZodType, R extends Announced> {
  /** Path of the list of files; `locationOf` has its parameters filled in. */
  readonly path: string;
  readonly params: P;
  readonly locationOf: (params: z.output<P>) => string;
  /** For the operation ids, as in createAudioUpload. */
  readonly name: string;
  readonly schema: z.ZodType;
  readonly conflicts?: readonly string[];
  /** Adds files that wait for their upload, and returns them in order. */
  readonly insert: (call: Call<z.output<P>>, uploads: readonly NewUpload[]) => Promise<readonly R[]>;
  /** Returns the files that an earlier request with the same Idempotency-Key added. */
  readonly many: (call: Call<z.output<P>>, ids: readonly string[]) => Promise<readonly R[]>;
  /** The members of the ticket that name the file. */
  readonly fileOf: (row: R) => Readonly<Record<string, unknown>>;
}

/** Returns the routes for one ticket and for up to 100. */
export function ticketRoutes<P extends z.ZodType, R extends Announced>(routes: TicketRoutes<P, R>) {
  const { path, params, name, schema, conflicts = [], locationOf, many } = routes;
  const common = { params, rate: "uploads", conflicts } as const;
  const insert = (
    call: Call<z.output<P>>,
    files: readonly Omit<NewUpload, "id">[],
    locOf: (i: number) => (string | number)[],
  ) => routes.insert(call, toNewUploads(call.deps, files, locOf));

  const ticketOf = async (deps: HandlerDeps, tenantId: string, row: R) => ({
    upload: await signUpload(deps, tenantId, row),
    max_size_bytes: deps.config.PLOSIVE_UPLOAD_MAX_BYTES,
    ...routes.fileOf(row),
  });
  const one = async (call: Call<z.output<P>>, [row]: readonly R[]): Promise<Reply> => ({
    created: [row!.id],
    location: `${locationOf(call.params)}/${row!.id}`,
    body: await ticketOf(call.deps, call.tenantId, row!),
  });
  const all = async (call: Call<z.output<P>>, rows: readonly R[]): Promise<Reply> => {
    const items = await Promise.all(rows.map((row) => ticketOf(call.deps, call.tenantId, row)));
    return {
      created: rows.map((row) => row.id),
      location: locationOf(call.params),
      body: { items, total: items.length },
    };
  };

  return {
    createUpload: defineRoute("POST", `${path}/upload-url`, {
      ...common,
      operationId: `create${name}Upload`,
      summary: "Step 1 of 3: request an upload ticket",
      description:
        "Step 2: POST `upload.fields` and then the bytes as `file` to `upload.url`, as multipart/form-data; upload a large file in parts instead, which can be resumed. Step 3: confirm the upload.",
      body: uploadBody.meta({ id: "CreateUpload" }),
      answer: { status: 201, description: "The upload ticket", schema },
      handler: async (call) => await one(call, await insert(call, [call.body], () => ["body"])),
      idempotent: async (call, ids) => await one(call, await many(call, ids)),
    }),
    createUploads: defineRoute("POST", `${path}/upload-urls`, {
      ...common,
      operationId: `create${name}Uploads`,
      summary: "Step 1 of 3: request upload tickets for up to 100 files",
      body: z.object({ files: z.array(uploadBody).min(1).max(100) }).meta({ id: "CreateUploads" }),
      answer: {
        status: 201,
        description: "The upload tickets, in the order of the request",
        schema: z.object({ items: z.array(schema), total: z.int() }).meta({ id: `${name}Uploads` }),
      },
      handler: async (call) =>
        await all(call, await insert(call, call.body.files, (i) => ["body", "files", i])),
      idempotent: async (call, ids) => await all(call, await many(call, ids)),
    }),
  };
}
