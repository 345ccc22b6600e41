// What people judge in the dashboard: a dataset with a real recording, two trained models, and what each of them found.
// Rows of ended jobs as the operator leaves them. Called by test/web/judging.test.ts and every-page.ts.
import { sql } from "slonik";
import { numberEvents } from "../../src/db/event.ts";
import { type Client, execute, type TestApi } from "./api.ts";
import { wav } from "./audio.ts";
import { newDataset } from "./dashboard-page.ts";
import { addModel, addReadyAudio, addTrainingJob } from "./world.ts";

/** What a model may claim to have found: a page must show it as text. */
export const hostileType = `<img src=x onerror="document.title='hit'">`;

export interface Judged {
  readonly datasetId: string;
  readonly setId: string;
  /** A file of the dataset with its bytes and its peaks. */
  readonly recordingId: string;
  readonly trainingId: string;
  readonly models: readonly [a: string, b: string];
  readonly jobs: readonly [a: string, b: string];
}

type Found = readonly [type: string, startMs: number, endMs: number, confidence: number];

export const foundByA: readonly Found[] = [
  ["click", 1_000, 1_040, 0.9],
  ["click", 2_000, 2_040, 0.75],
  ["hum", 3_000, 4_000, 0.65],
  [hostileType, 4_500, 4_600, 0.55],
];
const foundByB: readonly Found[] = [
  ["click", 1_010, 1_050, 0.8],
  ["hum", 3_100, 3_900, 0.7],
  ["click", 5_000, 5_040, 0.6],
];

const metrics = {
  overall: { f1: 0.91, precision: 0.93, recall: 0.89, psds: 0.71, few_events: true },
  per_type: {
    click: { precision: 0.95, recall: 0.9, f1: 0.92, ap: 0.96, threshold: 0.55, support: 42 },
    hum: { precision: 0.9, recall: null, f1: 0.8, threshold: 0.4, support: 3, few_events: true },
  },
  confusion: { click: { click: 40, none: 2 }, hum: { click: 1, hum: 2 } },
  history: [1, 2, 3].map((epoch) => ({
    epoch,
    train_loss: 1 / epoch,
    val_loss: 1.2 / epoch,
    val_f1: epoch / 4,
  })),
};

const recordingMs = 6_000;

export async function makeJudged(api: TestApi, client: Client): Promise<Judged> {
  const { tenantId } = client;
  const datasetId = await newDataset(client);
  const recording = await addRecording(api, client, datasetId);
  const long = await addReadyAudio(api.db, tenantId, datasetId, { durationMs: 400_000 });
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const setId: string = (await client.post(sets, {})).body.id;
  for (const artifact_type of ["click", "hum"])
    await client.post(`${sets}/${setId}/annotations`, {
      audio_file_id: long,
      artifact_type,
      start_ms: 100,
      end_ms: 200,
    });
  await client.post(`${sets}/${setId}/publish`);
  const trained = async (name: string) => {
    const training = await addTrainingJob(api.db, tenantId, datasetId, setId);
    const model = await addModel(api.db, tenantId, training);
    await execute(
      api.db,
      sql.fragment`update models set name = ${name}, eval_metrics = ${sql.jsonb(metrics)} where id = ${model}`,
    );
    return { training, model };
  };
  const [a, b] = [await trained("Voices <b>A</b>"), await trained("Voices B")];
  await addCurves(api, client, a.training);
  return {
    datasetId,
    setId,
    recordingId: recording,
    trainingId: a.training,
    models: [a.model, b.model],
    jobs: [
      await searched(api, client, a.model, recording, foundByA),
      await searched(api, client, b.model, recording, foundByB),
    ],
  };
}

/** A ready file of a dataset with its bytes and its peaks: a tone that is half as loud in the second half. */
async function addRecording(api: TestApi, client: Client, datasetId: string): Promise<string> {
  const peaksKey = `peaks/${client.tenantId}/recording.json`;
  const length = recordingMs / 10;
  const data = Array.from({ length }, (_, i) => (i < length / 2 ? [-100, 100] : [-50, 50])).flat();
  const peaks = {
    version: 2,
    channels: 1,
    sample_rate: 16_000,
    samples_per_pixel: 160,
    bits: 8,
    length,
    data,
  };
  await api.storage.write(peaksKey, JSON.stringify(peaks));
  const id = await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: recordingMs, peaksKey });
  await api.storage.write(`audio/${client.tenantId}/${id}`, wav({ durationMs: recordingMs }));
  return id;
}

export async function addCurves(api: TestApi, { tenantId }: Client, trainingId: string): Promise<void> {
  await execute(
    api.db,
    sql.fragment`
    insert into training_metrics (training_job_id, tenant_id, name, step, value)
    select ${trainingId}::uuid, ${tenantId}::uuid, name, step, 1.0 / step
    from unnest('{val_f1,train_loss,val_loss}'::text[]) name, generate_series(1, 3) step`,
  );
}

/** An ended job of the model on this file. */
async function searched(
  api: TestApi,
  client: Client,
  model_id: string,
  audioFileId: string,
  found: readonly Found[],
): Promise<string> {
  const jobs = "/api/v1/inference-jobs";
  const job: string = (await client.post(jobs, { model_id, audio_file_ids: [audioFileId] })).body.id;
  const file: string = (await client.get(`${jobs}/${job}/files`)).body.items[0].id;
  for (const [ordinal, [type, start, end, confidence]] of found.entries())
    await execute(
      api.db,
      sql.fragment`
      insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms,
        end_ms, confidence)
      values (gen_random_uuid(), ${client.tenantId}, ${job}, ${file}, ${ordinal}, ${type}, ${start}, ${end},
        ${confidence})`,
    );
  await execute(
    api.db,
    sql.fragment`update inference_files set status = 'completed', detection_count = ${found.length} where id = ${file}`,
  );
  await execute(
    api.db,
    sql.fragment`
    update inference_jobs set status = 'completed', progress_percent = 100, processed_files = 1,
      total_detections = ${found.length}, started_at = now() - interval '1 minute', completed_at = now()
    where id = ${job}`,
  );
  return job;
}

/** Changes a training job as the operator does, and tells the event stream. */
export async function moveTraining(
  api: TestApi,
  id: string,
  status: string,
  percent: number,
  message: string,
): Promise<void> {
  await execute(
    api.db,
    sql.fragment`
    update training_jobs set status = ${status}, progress_percent = ${percent}, status_message = ${message},
      started_at = coalesce(started_at, now() - interval '1 minute'),
      error_message = case when ${status} = 'failed' then ${message} end,
      completed_at = case when ${status} in ('failed', 'cancelled', 'completed') then now() end
    where id = ${id}`,
  );
  while ((await numberEvents(api.pool))?.more !== false);
}
