// The audio of the end-to-end tests: takes with known artifacts, which are uploaded, embedded and labelled as a user
// would, and files that cannot be decoded.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Uploaded, uploadAll } from "../../tools/demo/upload.ts";
import type { User } from "../../tools/demo/user.ts";
import { composeVoices, type Voices, type VoicesOptions } from "../../tools/demo/voices.ts";
import { waitForEmbeddings } from "../../tools/demo/waiting.ts";
import type { Account } from "./accounts.ts";
import { once } from "./shared.ts";

export const takes: VoicesOptions = { trainMinutes: 5.5, testMinutes: 1, seed: 11 };
export const types = ["click", "hum", "plosive"];
/** Trainings whose models no test judges: as many steps as by default, a third of the work. */
export const smallBatches = { batch_size: 8, stride_ms: 1000 };
/** Trainings with it on the shared dataset produce the same model, byte by byte. */
export const referenceConfig = { artifact_types: types, epochs: 4, seed: 7, ...smallBatches };

/** A FLAC file with a valid header and invalid audio: only a full decode detects the damage. */
export function corruptFile(voices: Voices, folder: string, name: string): string {
  const good = voices.train.paths.find((path) => path.endsWith(".flac"));
  if (good === undefined) throw new Error("none of the takes is FLAC");
  const bytes = readFileSync(good);
  // A fixed pattern instead of random bytes: the same file in every run. It has no frame's sync code (0xFFF8).
  for (let i = 512; i < bytes.length; i++) bytes[i] = (i * 31) & 0x7f;
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

export const uploadTo = (user: User, datasetId: string, paths: readonly string[]): Promise<Uploaded[]> =>
  uploadAll(
    paths,
    (file) => user.upload(datasetId, file),
    () => {},
  );

/** A published annotation set of the artifacts that were mixed into the files. */
export async function labelTakes(
  user: User,
  voices: Voices,
  datasetId: string,
  files: readonly Uploaded[],
  kinds: readonly string[] = types,
) {
  const idOf = new Map(files.map((file) => [file.filename, file.id]));
  const set = await user.createAnnotationSet(datasetId);
  const wanted = voices.train.truth.filter(
    ({ file, artifact_type }) => idOf.has(file) && kinds.includes(artifact_type),
  );
  await user.addAnnotations(
    datasetId,
    set.id,
    wanted.map(({ file, artifact_type, start_ms, end_ms }) => ({
      audio_file_id: idOf.get(file) ?? "",
      artifact_type,
      start_ms,
      end_ms,
    })),
  );
  return user.publish(datasetId, set.id);
}

/** What a training job needs. */
export interface Trainable {
  readonly datasetId: string;
  readonly annotationSetId: string;
  readonly files: readonly Uploaded[];
}

/** The later test files train on this dataset instead of making one. */
export const shareTrainable = (made: Trainable) => once("trainable", async () => made);

/** The dataset of the shared account, with embeddings and labels of the takes; training needs five minutes of audio. */
export const sharedTrainable = ({ user }: Account): Promise<Trainable> =>
  once("trainable", async () => {
    const voices = await composeVoices(takes);
    const { id: datasetId } = await user.createDataset("end to end", types);
    const files = await uploadTo(user, datasetId, voices.train.paths);
    const { failed } = await waitForEmbeddings(user, datasetId, () => {});
    if (failed.length > 0) throw new Error(`${failed.length} takes could not be embedded`);
    const { id: annotationSetId } = await labelTakes(user, voices, datasetId, files);
    return { datasetId, annotationSetId, files };
  });
