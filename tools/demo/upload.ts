// The three-step upload of many files, several at a time. Called by main.ts for dataset audio and for inference files,
// and by the end-to-end test.
import { openAsBlob, statSync } from "node:fs";
import { basename } from "node:path";
import type { NewFile } from "./client.ts";
import type { Upload } from "./shapes.ts";

export interface Ticket {
  readonly id: string;
  readonly upload: Upload;
}

export interface Steps {
  /** Step 1: announces the file, gets an id and a signed form. */
  request(file: NewFile): Promise<Ticket>;
  /** Step 3: says that the file is there. */
  confirm(id: string): Promise<unknown>;
}

export interface Uploaded {
  readonly id: string;
  readonly path: string;
  readonly filename: string;
  readonly sizeBytes: number;
}

const contentTypes: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp3: "audio/mpeg",
};

/** Uploads `paths`, at most `parallel` at once; the result is in the order of `paths`. Stops at the first failure. */
export async function uploadAll(
  paths: readonly string[],
  steps: Steps,
  onProgress: (files: number, bytes: number) => void,
  parallel = 4,
): Promise<Uploaded[]> {
  const done: Uploaded[] = new Array(paths.length);
  const queue = paths.entries();
  let files = 0;
  let bytes = 0;
  const work = async () => {
    // All workers draw from one iterator: each path is taken once.
    for (const [index, path] of queue) {
      const one = await uploadOne(path, steps).catch((error: Error) => {
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

async function uploadOne(path: string, steps: Steps): Promise<Uploaded> {
  const filename = basename(path);
  const contentType = contentTypes[filename.split(".").at(-1) ?? ""];
  if (contentType === undefined) throw new Error(`${filename} is not of a known audio format`);
  const sizeBytes = statSync(path).size;
  const { id, upload } = await steps.request({ filename, content_type: contentType, size_bytes: sizeBytes });

  const form = new FormData();
  for (const [name, value] of Object.entries(upload.fields)) form.append(name, value);
  // S3 reads no field after the file: it has to be the last one.
  form.append("file", await openAsBlob(path, { type: contentType }), filename);
  const answer = await fetch(upload.url, {
    method: upload.method,
    body: form,
    signal: AbortSignal.timeout(300_000),
  }).catch((error: unknown) => {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`the object store at ${new URL(upload.url).origin} did not take ${filename}: ${cause}`);
  });
  if (!answer.ok) {
    const text = (await answer.text()).slice(0, 300);
    throw new Error(`the object store refused ${filename} with ${answer.status}: ${text}`);
  }
  await answer.body?.cancel();
  await steps.confirm(id);
  return { id, path, filename, sizeBytes };
}
