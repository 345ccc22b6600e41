// Which files are audio that the service reads, by their names. Pure.
import type { CreateUpload } from "../../../client/schema.ts";
import { own } from "../app/own.ts";

type ContentType = CreateUpload["content_type"];

const types: Record<string, ContentType> = {
  wav: "audio/wav",
  wave: "audio/wav",
  flac: "audio/flac",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  oga: "audio/ogg",
  opus: "audio/opus",
};

/** For <input accept>. */
export const accepted = Object.keys(types)
  .map((extension) => `.${extension}`)
  .join(",");

export const contentTypeOf = (name: string): ContentType | undefined =>
  own(types, /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "");

/** Files that systems put into folders and nobody wants to upload. */
export const isHidden = (name: string) => name.startsWith(".") || /^(thumbs\.db|desktop\.ini)$/i.test(name);
