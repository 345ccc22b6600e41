// Acts as a user, from uploading voices to scoring the detections, through the REST API only. Called by main.ts, which
// finds the service and prints the commands to explore it.
import type { Detection, InferenceFile } from "../../client/schema.ts";
import { makeBar, type Output } from "./bar.ts";
import { detectionTable, length, megabytes, statisticsTable, trainingCurves } from "./report.ts";
import { type Score, score } from "./score.ts";
import { makeSteps } from "./step.ts";
import { followTraining, lastOf, type ProgressRecord } from "./training.ts";
import { type Uploaded, uploadAll } from "./upload.ts";
import type { User } from "./user.ts";
import { composeVoices, type Part, type VoicesOptions } from "./voices.ts";
import { waitForEmbeddings, waitForInference } from "./waiting.ts";

export interface PlayOptions {
  readonly user: User;
  readonly out: Output;
  readonly voices: VoicesOptions;
  /** Name of the dataset, unique per run. */
  readonly name: string;
  /** The kubectl command line of the cluster, for hints. */
  readonly kubectl: string;
}

export interface Figures {
  readonly ids: {
    dataset: string;
    annotation_set: string;
    training_job: string;
    model: string;
    inference_jobs: string[];
  };
  readonly audio: {
    train_minutes: number;
    test_minutes: number;
    train_speakers: string[];
    test_speakers: string[];
  };
  readonly score: Score;
  readonly false_alarms_per_hour: number;
  readonly progress: ProgressRecord;
  /** Duration of each step. */
  readonly seconds: Record<string, number>;
}

const bulkSize = 1000;
const datasetFilesToScan = 4;

export async function play({ user, out, voices, name, kubectl }: PlayOptions): Promise<Figures> {
  const say = (line: string) => out.write(`${line}\n`);
  const { step, ms } = makeSteps(say, 8);
  const podsHint = `Check pods and logs: ${kubectl} get pods,jobs; ${kubectl} logs deploy/plosive-operator`;

  const { train, test } = await step(
    {
      name: "compose",
      title: `Composing ${voices.trainMinutes} min of voice for training and ${voices.testMinutes} min of other speakers for testing`,
      hint: "`make deps` installs the recordings (Debian packages asterisk-core-sounds-*-g722), ffmpeg and Python's packages.",
    },
    () => composeVoices(voices),
  );
  const types = [...new Set(train.truth.map((event) => event.artifact_type))].sort();
  say(`  ${describe("training", train)}`);
  say(`  ${describe("held-out test", test)}`);
  say(`  artifacts inserted at known times: ${types.join(", ")}`);

  const { dataset, uploads } = await step(
    {
      name: "upload",
      title: `Uploading ${train.paths.length} files (${megabytes(train.sizeBytes)}) to a new dataset`,
      hint: `Check that this machine can reach the object store. ${podsHint}`,
    },
    async () => {
      const dataset = await user.createDataset(name, types);
      const uploads = await withBar(out, "  uploading", train, (onProgress) =>
        uploadAll(train.paths, (file) => user.upload(dataset.id, file), onProgress),
      );
      return { dataset, uploads };
    },
  );

  await step(
    {
      name: "embed",
      title: "Computing embeddings on the cluster",
      hint: `${kubectl} get embeddingjobs; ${podsHint}`,
    },
    async () => {
      const bar = makeBar(out, "  embedding");
      const embedded = await waitForEmbeddings(user, dataset.id, (settled, total, failed) =>
        bar.update(
          total === 0 ? 0 : settled / total,
          `${settled}/${total} files${failed ? `, ${failed} failed` : ""}`,
        ),
      ).finally(() => bar.end());
      const broken = embedded.failed[0];
      if (broken)
        throw new Error(
          `${embedded.failed.length} files failed; the first is ${broken.filename}: ${broken.error_message}`,
        );
    },
  );

  const set = await step(
    {
      name: "label",
      title: `Labelling ${train.truth.length} artifacts and publishing the annotation set`,
      hint: "Each label must lie within its file and have a type of the dataset; the message above names the invalid label.",
    },
    async () => {
      const draft = await user.createAnnotationSet(dataset.id);
      const idOf = new Map(uploads.map((file) => [file.filename, file.id]));
      const labels = train.truth.map((event) => ({
        audio_file_id: idOf.get(event.file) ?? "",
        artifact_type: event.artifact_type,
        start_ms: event.start_ms,
        end_ms: event.end_ms,
      }));
      for (let i = 0; i < labels.length; i += bulkSize) {
        await user.addAnnotations(dataset.id, draft.id, labels.slice(i, i + bulkSize));
      }
      return user.publish(dataset.id, draft.id);
    },
  );
  say(
    `  version ${set.version}, ${set.total_annotations} labels, ${length(set.total_positive_duration_ms)} of artifacts`,
  );
  say(indent(statisticsTable(set)));

  const { jobId, model, progress } = await step(
    {
      name: "train",
      title: "Training with the default configuration",
      hint: `${kubectl} get trainingjobs -o wide; ${podsHint}`,
    },
    async () => {
      const created = await user.createTrainingJob(dataset.id, set.id, { artifact_types: types });
      say(`  job ${created.id}, ${JSON.stringify(created.config)}`);
      const bar = makeBar(out, "  training");
      const { job, metrics, progress } = await followTraining(user, created.id, (now, metrics) => {
        const [loss, f1] = [lastOf(metrics, /loss/), lastOf(metrics, /f1/)];
        const parts = [
          now.status,
          loss && `epoch ${loss.step}, ${loss.name} ${loss.value.toFixed(4)}`,
          f1 && `${f1.name} ${f1.value.toFixed(3)}`,
          now.status_message,
        ];
        bar.update(now.progress_percent / 100, parts.filter(Boolean).join(", "));
      }).finally(() => bar.end());
      if (job.status !== "completed")
        throw new Error(
          `the training job ended with status ${job.status}: ${job.error_message ?? job.status_message}`,
        );
      const [model] = await user.listModels(job.id);
      if (model === undefined) throw new Error("the training job is completed, but it has no model");
      say(indent(trainingCurves(metrics)));
      return { jobId: job.id, model, progress };
    },
  );
  say(`  model ${model.name} (${megabytes(model.model_size_bytes)}), ${model.object_store_key}`);
  say(`  ${describeProgress(progress)}`);

  const { held, heldJob } = await step(
    {
      name: "infer_upload",
      title: `Detecting artifacts in ${test.paths.length} takes of speakers outside the training data`,
      hint: `${kubectl} get inferencejobs; ${podsHint}`,
    },
    async () => {
      const job = await user.createInferenceJob(model.id);
      await withBar(out, "  uploading", test, (onProgress) =>
        uploadAll(test.paths, (file) => user.uploadForInference(job.id, file), onProgress),
      );
      await user.startInferenceJob(job.id);
      return { heldJob: job.id, held: await detect(user, out, job.id) };
    },
  );

  const stored = await step(
    {
      name: "infer_dataset",
      title: `Detecting artifacts in ${Math.min(datasetFilesToScan, uploads.length)} files of the dataset`,
      hint: `${kubectl} get inferencejobs; ${podsHint}`,
    },
    async () => {
      const some = uploads.slice(0, datasetFilesToScan);
      const job = await user.createInferenceJob(
        model.id,
        some.map((file) => file.id),
      );
      return { jobId: job.id, some, ...(await detect(user, out, job.id)) };
    },
  );
  say(
    `  on takes of the training data: macro F1 ${scoreOn(types, train, stored, stored.some).macroF1.toFixed(2)}`,
  );

  const result = await step(
    { name: "judge", title: "Scoring the detections on held-out speakers against the truth", hint: "" },
    async () => scoreOn(types, test, held),
  );
  const perHour = result.falseAlarms / (test.durationMs / 3_600_000);
  say(indent(detectionTable(result)));
  say(
    `  macro F1 ${result.macroF1.toFixed(3)}; ${result.falseAlarms} false alarms in ${length(test.durationMs)} = ${perHour.toFixed(0)} per hour`,
  );

  return {
    ids: {
      dataset: dataset.id,
      annotation_set: set.id,
      training_job: jobId,
      model: model.id,
      inference_jobs: [heldJob, stored.jobId],
    },
    audio: {
      train_minutes: train.durationMs / 60_000,
      test_minutes: test.durationMs / 60_000,
      train_speakers: [...train.speakers],
      test_speakers: [...test.speakers],
    },
    score: result,
    false_alarms_per_hour: perHour,
    progress,
    seconds: Object.fromEntries([...ms].map(([key, value]) => [key, Math.round(value / 100) / 10])),
  };
}

interface Found {
  readonly files: readonly InferenceFile[];
  readonly detections: readonly Detection[];
}

async function detect(user: User, out: Output, jobId: string): Promise<Found> {
  const bar = makeBar(out, "  detecting");
  const { job, files } = await waitForInference(user, jobId, (now) =>
    bar.update(
      now.total_files === 0 ? 0 : now.processed_files / now.total_files,
      `${now.processed_files}/${now.total_files} files, ${now.status}`,
    ),
  ).finally(() => bar.end());
  const broken = files.find((file) => file.status === "failed");
  if (broken)
    throw new Error(
      `${job.failed_files} files failed; the first is ${broken.filename}: ${broken.error_message}`,
    );
  const detections = await user.listDetections(jobId);
  if (detections.length !== job.total_detections) {
    throw new Error(
      `the job reports ${job.total_detections} detections, but its list has ${detections.length}`,
    );
  }
  return { files, detections };
}

/** Scores the detections of the scanned takes against the truth. */
function scoreOn(types: readonly string[], part: Part, found: Found, only?: readonly Uploaded[]): Score {
  const nameOf = new Map(found.files.map((file) => [file.id, file.filename]));
  const scanned = new Set(only?.map((file) => file.filename));
  return score(
    types,
    part.truth.filter((event) => only === undefined || scanned.has(event.file)),
    found.detections.map((event) => ({ ...event, file: nameOf.get(event.inference_file_id) ?? "" })),
  );
}

async function withBar<T>(
  out: Output,
  label: string,
  part: Part,
  run: (onProgress: (files: number, bytes: number) => void) => Promise<T>,
): Promise<T> {
  const bar = makeBar(out, label);
  const total = `${part.paths.length} files, `;
  bar.update(0, `0/${total}0.0/${megabytes(part.sizeBytes)}`);
  return run((files, bytes) =>
    bar.update(
      bytes / part.sizeBytes,
      `${files}/${total}${(bytes / 1e6).toFixed(1)}/${megabytes(part.sizeBytes)}`,
    ),
  ).finally(() => bar.end());
}

function describe(what: string, part: Part): string {
  return `${what}: ${part.paths.length} takes, ${length(part.durationMs)}, ${part.truth.length} artifacts, speakers ${part.speakers.join(", ")} (${part.languages.join(", ")})`;
}

function describeProgress({
  distinct,
  neverFell,
  hundredExactlyWhenCompleted,
  values,
}: ProgressRecord): string {
  const facts = [
    `had ${distinct} distinct values (${values[0]} to ${values.at(-1)})`,
    neverFell ? "never decreased" : "DECREASED",
    hundredExactlyWhenCompleted ? "was 100 if and only if completed" : "was NOT 100 if and only if completed",
  ];
  return `progress_percent ${facts.join(", ")}`;
}

const indent = (text: string) => text.replaceAll(/^/gm, "  ");
