// Uploads many files, several at a time; the client does the three steps of each upload. Called by play.ts for dataset
// audio and for inference files, and by the end-to-end test.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import type { LocalFile } from "../../client/upload.ts";

export interface Uploaded {
  readonly id: string;
  readonly path: string;
  readonly filename: string;
  readonly sizeBytes: number;
}

const contentTypes: Readonly<Record<string, LocalFile["contentType"]>> = {
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp3: "audio/mpeg",
};

/**
 * Uploads `paths`, at most `parallel` at once. Returns the uploads in the order of `paths`. Rejects at the first
 * failure.
 */
export async function uploadAll(
  paths: readonly string[],
  upload: (file: LocalFile) => Promise<{ id: string }>,
  onProgress: (files: number, bytes: number) => void,
  parallel = 4,
): Promise<Uploaded[]> {
  const done: Uploaded[] = new Array(paths.length);
  const queue = paths.entries();
  let files = 0;
  let bytes = 0;
  const work = async () => {
    // All workers share one iterator, so each path is uploaded once.
    for (const [index, path] of queue) {
      const one = await uploadOne(path, upload).catch((error: Error) => {
        throw new Error(`uploading ${basename(path)}: ${error.message}`, { cause: error });
      });
      done[index] = one;
      files += 1;
      bytes += one.sizeBytes;
      onProgress(files, bytes);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return done;
}

async function uploadOne(
  path: string,
  upload: (file: LocalFile) => Promise<{ id: string }>,
): Promise<Uploaded> {
  const filename = basename(path);
  const contentType = contentTypes[filename.split(".").at(-1) ?? ""];
  if (contentType === undefined) throw new Error(`${filename} has no known audio file extension`);
  const bytes = await openAsBlob(path, { type: contentType });
  const { id } = await upload({ name: filename, bytes, contentType });
  return { id, path, filename, sizeBytes: bytes.size };
}
