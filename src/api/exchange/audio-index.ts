// Finds the audio file of the dataset that an imported label refers to: by id, or else by a file name that only one
// file has. Used by import.ts.
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

/**
 * Returns the file, or a sentence about why there is none. Ignores unknown ids if a name matches: they may be the
 * tool's.
 */
export function pickAudio(index: AudioIndex, { ids, filenames }: AudioReference): AudioCandidate | string {
  for (const id of ids) {
    const file = index.byId.get(id.toLowerCase());
    if (file !== undefined) return file;
  }
  for (const name of filenames) {
    const files = index.byName.get(name) ?? [];
    if (files.length > 1)
      return `${files.length} audio files of the dataset have this name; use audio_file_id to choose one`;
    if (files[0] !== undefined) return files[0];
  }
  return "The dataset has no such audio file";
}
