// Makes the response of an export: a stream, and the file name under which browsers save it. Called by the export
// routes.
import { attachment } from "../../storage/attachment.ts";
import type { Call, HandlerDeps, Reply } from "../route.ts";
import type { RegionFile, Regions, WriteOptions } from "./format.ts";
import { type FormatName, formats } from "./formats.ts";

export interface Export extends Omit<WriteOptions, "audioOf"> {
  readonly regions: Regions;
  /** File name without extension. */
  readonly name: string;
  readonly audio?: "url" | "key";
}

export function replyOfExport({ deps }: Call, formatName: FormatName, what: Export): Reply {
  const { regions, name, audio = "url", ...options } = what;
  const { contentType, extension, write } = formats[formatName];
  return {
    contentType,
    headers: { "Content-Disposition": attachment(`${safeName(name)}.${extension}`) },
    stream: write(regions, { ...options, audioOf: (file) => audioOf(deps, file, audio) }),
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
