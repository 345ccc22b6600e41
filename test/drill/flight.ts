// What is in flight during a drill: a training held at its checkpoint, an inference job, an embedding; and what each must have
// become in the end. Called by drill.test.ts and upgrade.test.ts.
import { expect } from "vitest";
import { pods } from "../../src/kube/kinds.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { followTraining } from "../../tools/demo/training.ts";
import type { User } from "../../tools/demo/user.ts";
import type { Voices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings, waitForInference } from "../../tools/demo/waiting.ts";
import { kubectlJson, listOf, until } from "../e2e/cluster.ts";
import { holdAfter, type Pod } from "../e2e/jobs.ts";
import { labelTakes, smallBatches, types, uploadTo } from "../e2e/takes.ts";

export const config = (epochs: number) => ({ artifact_types: types, epochs, seed: 7, ...smallBatches });
const nothing = () => {};

/** What clients had before, and must find afterwards. */
export interface Data {
  readonly datasetId: string;
  readonly setId: string;
  readonly modelId: string;
  readonly detections: readonly string[];
}

export interface Held {
  readonly id: string;
  readonly resume: () => void;
}

export interface Flight {
  readonly training: Held;
  readonly inferenceId: string;
  readonly otherDatasetId: string;
}

export const say = (line: string): void => console.info(`drill: ${line}`);

/** The detections of a job, without their ids. */
export const detectionsOf = async (user: User, inferenceId: string): Promise<string[]> =>
  (await user.listDetections(inferenceId))
    .map(({ inference_file_id: _, id: _id, ...detection }) => JSON.stringify(detection))
    .sort();

/** Trains a model, and lets it find something. */
export async function prepare(user: User, voices: Voices): Promise<Data> {
  const { id: datasetId } = await user.createDataset("drill", types);
  const files = await uploadTo(user, datasetId, voices.train.paths);
  expect((await waitForEmbeddings(user, datasetId, nothing)).failed).toEqual([]);
  const { id: setId } = await labelTakes(user, voices, datasetId, files);
  const training = await user.createTrainingJob(datasetId, setId, config(3));
  expect((await followTraining(user, training.id, nothing)).job).toMatchObject({ status: "completed" });
  const [model] = await user.listModels(training.id);
  const modelId = model!.id;
  const detections = await detectedAnew(user, { datasetId, modelId });
  expect(detections).not.toEqual([]);
  return { datasetId, setId, modelId, detections };
}

/** What the model finds in the dataset now. */
export async function detectedAnew(user: User, data: Pick<Data, "datasetId" | "modelId">): Promise<string[]> {
  const { id } = await inferenceOf(user, data);
  await waitForInference(user, id, nothing);
  return detectionsOf(user, id);
}

const inferenceOf = async (user: User, { datasetId, modelId }: Pick<Data, "datasetId" | "modelId">) =>
  user.createInferenceJob(
    modelId,
    (await user.listAudio(datasetId)).map(({ id }) => id),
  );

export const podOf = (job: string) =>
  until(`a running pod of ${job}`, 300_000, async () =>
    (await listOf<Pod>(pods)).find(
      ({ metadata, status }) => metadata.labels?.["plosive.dev/job"] === job && status.phase === "Running",
    ),
  );

export const resourceOf = (trainingId: string) =>
  kubectlJson<{ status?: JobStatus }>("get", "trainingjob", `tj-${trainingId}`);

/** Starts a training, and stops its worker after the first checkpoint. `resume` lets it continue. */
export async function heldTraining(user: User, { datasetId, setId }: Data): Promise<Held> {
  const { id } = await user.createTrainingJob(datasetId, setId, config(40));
  const resume = await holdAfter(await podOf(`tj-${id}`), "the first checkpoint", async () => {
    const { status } = await resourceOf(id);
    return status?.checkpoint !== undefined;
  });
  return { id, resume };
}

/** Starts all three, and prints their states. */
export async function takeOff(user: User, data: Data, voices: Voices): Promise<Flight> {
  const training = await heldTraining(user, data);
  const other = await user.createDataset(`uploaded last, ${training.id}`, types);
  await uploadTo(user, other.id, voices.train.paths.slice(0, 1));
  const { id: inferenceId } = await inferenceOf(user, data);
  const flight = { training, inferenceId, otherDatasetId: other.id };
  for (const [what, state] of Object.entries(await statesOf(user, flight)))
    say(`in flight: ${what} is ${state}`);
  return flight;
}

export async function statesOf(user: User, flight: Flight): Promise<Record<string, string>> {
  const training = await user.getTrainingJob(flight.training.id);
  const inference = await user.getInferenceJob(flight.inferenceId);
  const [file] = await user.listAudio(flight.otherDatasetId);
  return {
    training: `${training.status} (${training.progress_percent ?? 0} %)`,
    inference: inference.status,
    embedding: file?.embedding_status ?? "no file",
  };
}

/** Waits for their ends. */
export async function land(user: User, flight: Flight): Promise<void> {
  await followTraining(user, flight.training.id, nothing);
  await waitForInference(user, flight.inferenceId, nothing);
  await waitForEmbeddings(user, flight.otherDatasetId, nothing);
}

/** What was in flight has ended as if nothing had happened, once, and what was there is there. */
export async function expectAllDone(user: User, flight: Flight, data: Data): Promise<void> {
  await land(user, flight);
  const states = await statesOf(user, flight);
  for (const [what, state] of Object.entries(states)) say(`${what} is ${state}`);
  expect(states).toEqual({ training: "completed (100 %)", inference: "completed", embedding: "completed" });
  expect(await user.listModels(flight.training.id)).toHaveLength(1);
  expect(await detectionsOf(user, flight.inferenceId)).toEqual(data.detections);
  expect(await detectedAnew(user, data)).toEqual(data.detections);
}
