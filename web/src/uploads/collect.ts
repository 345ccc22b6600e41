// Turns what was chosen or dropped into sources: files, and everything in folders.
import { contentTypeOf, isHidden } from "./audio-types.ts";
import type { Source } from "./queue.ts";

export interface Collected {
  readonly sources: readonly Source[];
  /** Names of files that are no audio that the service reads. */
  readonly skipped: readonly string[];
}

const sourceOf = (file: File, path: string): Source => ({
  name: file.name.slice(-255),
  path,
  size: file.size,
  lastModified: file.lastModified,
  bytes: file,
});

/** The browser asks its file system for the size of each file while the page waits, so the page answers in between. */
const filesAtOnce = 50;

async function sort(files: readonly (readonly [File, string])[]): Promise<Collected> {
  const sources: Source[] = [];
  const skipped: string[] = [];
  for (const [i, [file, path]] of files.entries()) {
    if (i % filesAtOnce === filesAtOnce - 1) await new Promise((resolve) => setTimeout(resolve));
    if (isHidden(file.name)) continue;
    if (contentTypeOf(file.name) === undefined || file.size === 0) skipped.push(path);
    else sources.push(sourceOf(file, path));
  }
  return { sources, skipped };
}

/** Of <input type="file">, with or without folders. */
export const collectChosen = (list: FileList | null): Promise<Collected> =>
  sort([...(list ?? [])].map((file) => [file, file.webkitRelativePath || file.name] as const));

/** Of a drop. Must be called in the event itself, because the browser forgets the entries afterwards. */
export async function collectDropped(transfer: DataTransfer): Promise<Collected> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  const files: (readonly [File, string])[] = [];
  for (const entry of entries) await walk(entry, files);
  return await sort(files);
}

async function walk(entry: FileSystemEntry, files: (readonly [File, string])[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    files.push([file, entry.fullPath.replace(/^\//, "")]);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives a folder in pieces, and nothing at its end.
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (piece.length === 0) return;
    for (const child of piece) await walk(child, files);
  }
}
