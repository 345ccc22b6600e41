// Makes the response of an export: a stream, and the file name under which browsers save it. Called by the export
// routes.
import { attachment } from "../../storage/attachment.ts";
import type { Call, HandlerDeps, Reply } from "../route.ts";
import type { RegionFile, Regions, WriteOptions } from "./format.ts";
import { type FormatName, formats } from "./formats.ts";

export interface Export {
  readonly regions: Regions;
  readonly kind: WriteOptions["kind"];
  /** File name without extension. */
  readonly name: string;
  readonly flavor?: "full" | "import";
  readonly audio?: "url" | "key";
  readonly modelName?: string;
}

export function replyOfExport({ deps }: Call, formatName: FormatName, what: Export): Reply {
  const format = formats[formatName];
  const options: WriteOptions = {
    kind: what.kind,
    audioOf: (file) => audioOf(deps, file, what.audio ?? "url"),
    flavor: what.flavor ?? "full",
    modelName: what.modelName ?? "",
  };
  return {
    contentType: format.contentType,
    headers: { "Content-Disposition": attachment(`${safeName(what.name)}.${format.extension}`) },
    stream: format.write(what.regions, options),
  };
}

/** Removes the extension of a file name, so that the export of take-17.wav is called take-17.vtt. */
export const stemOf = (filename: string) => filename.replace(/(?<=.)\.[^.]*$/, "");

/**
 * Replaces by an underscore: characters that file systems refuse, path separators, leading dots (hidden files), and
 * Unicode controls of the text direction, which can disguise an extension.
 */
const safeName = (name: string) =>
  name.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069/\\:*?"<>|]/gu, "_").replace(/^\.+/, "_");

async function audioOf(deps: HandlerDeps, file: RegionFile, form: "url" | "key"): Promise<string> {
  if (form === "key") return file.id;
  return await deps.storage.presignGet(file.objectKey, {
    expiresSeconds: deps.config.PLOSIVE_EXPORT_EXPIRY_SECONDS,
    filename: file.filename,
    audience: "client",
  });
}
