// An export as the answer to a request: streamed, and saved by browsers under a name that people know again. Called by the
// export routes.
import { attachment } from "../../storage/attachment.ts";
import type { HandlerDeps, Reply } from "../route.ts";
import type { RegionFile, Regions, WriteOptions } from "./format.ts";
import { type FormatName, formats } from "./formats.ts";

export interface Export {
  readonly regions: Regions;
  readonly kind: WriteOptions["kind"];
  /** Without its extension. */
  readonly name: string;
  readonly flavor?: "full" | "import";
  readonly audio?: "url" | "key";
  readonly modelName?: string;
}

export function sendExport(deps: HandlerDeps, formatName: FormatName, what: Export): Reply {
  const format = formats[formatName];
  const options: WriteOptions = {
    kind: what.kind,
    audioOf: (file) => audioOf(deps, file, what.audio ?? "url"),
    flavor: what.flavor ?? "full",
    modelName: what.modelName ?? "",
  };
  return {
    contentType: format.contentType,
    headers: { "Content-Disposition": attachment(`${harmless(what.name)}.${format.extension}`) },
    stream: format.write(what.regions, options),
  };
}

/** The name of a file without the part behind its last dot, so that take-17.wav gets take-17.vtt. */
export const stemOf = (filename: string) => filename.replace(/(?<=.)\.[^.]*$/, "");

/**
 * What no file system takes, or takes for a folder or a hidden file, becomes an underscore; so does what turns the
 * direction of writing, behind which an extension can hide.
 */
const harmless = (name: string) =>
  name.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069/\\:*?"<>|]/gu, "_").replace(/^\.+/, "_");

async function audioOf(deps: HandlerDeps, file: RegionFile, form: "url" | "key"): Promise<string> {
  if (form === "key") return file.id;
  return await deps.storage.presignGet(file.objectKey, {
    expiresSeconds: deps.config.PLOSIVE_EXPORT_EXPIRY_SECONDS,
    filename: file.filename,
    audience: "client",
  });
}
