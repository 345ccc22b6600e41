// Which audio file of the dataset a foreign document means: by id, or else by a name that only one file has. Used by
// import.ts.
import type { AudioCandidate } from "../../db/audio-file.ts";
import type { AudioReference } from "./format.ts";

export interface AudioIndex {
  readonly byId: ReadonlyMap<string, AudioCandidate>;
  readonly byName: ReadonlyMap<string, readonly AudioCandidate[]>;
}

export function indexAudio(files: readonly AudioCandidate[]): AudioIndex {
  return {
    byId: new Map(files.map((file) => [file.id, file])),
    byName: Map.groupBy(files, (file) => file.filename),
  };
}

/** The file, or why there is none. An id that the dataset does not know is passed over if a name fits: it may be the tool's. */
export function pickAudio(index: AudioIndex, { ids, filenames }: AudioReference): AudioCandidate | string {
  for (const id of ids) {
    const file = index.byId.get(id.toLowerCase());
    if (file !== undefined) return file;
  }
  for (const name of filenames) {
    const files = index.byName.get(name) ?? [];
    if (files.length > 1)
      return `${files.length} audio files of the dataset have this name; tell them apart by audio_file_id`;
    if (files[0] !== undefined) return files[0];
  }
  return "The dataset has no such audio file";
}
