// The service goes back to an earlier moment, is installed anew, and is restored on an empty cluster, each while jobs run. Prints
// what was in flight, and what became of it. docs/backup.md is the guide.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { pods } from "../../src/kube/kinds.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { kubectl as at } from "../../tools/chart.ts";
import type { ClusterPlace } from "../../tools/cluster/place.ts";
import { followTraining } from "../../tools/demo/training.ts";
import type { User } from "../../tools/demo/user.ts";
import { composeVoices, type Voices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings, waitForInference } from "../../tools/demo/waiting.ts";
import type { S3Server } from "../../tools/s3.ts";
import { firstUser } from "../e2e/accounts.ts";
import { kubectl, kubectlJson, listOf, until } from "../e2e/cluster.ts";
import { holdAfter, type Pod } from "../e2e/jobs.ts";
import { step } from "../e2e/steps.ts";
import { labelTakes, smallBatches, takes, types, uploadTo } from "../e2e/takes.ts";
import { follow } from "./guide.ts";
import { contentsOf, type Database, digestsOf, startDatabase, startStore } from "./servers.ts";
import * as service from "./service.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-drill-"));
chmodSync(folder, 0o755);

let voices: Voices;
let place: ClusterPlace;
let database: Database;
let store: S3Server;
let user: User;

beforeAll(async () => {
  [voices, place] = await Promise.all([composeVoices(takes), service.startCluster()]);
  const { hostAddress } = place.addresses;
  database = await startDatabase(join(folder, "database"), hostAddress);
  store = await startStore(join(folder, "store"), hostAddress);
  await database.baseBackup();
  service.createNamespace(place);
  service.createSecrets(place, database, store);
  await service.installService(place, store);
  user = await firstUser();
});
afterAll(async () => {
  await service.stopCluster();
  await Promise.all([database?.stop(), store?.stop(), copy?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const config = (epochs: number) => ({ artifact_types: types, epochs, seed: 7, ...smallBatches });
const say = (line: string) => console.info(`drill: ${line}`);
const nothing = () => {};

interface Data {
  readonly datasetId: string;
  readonly setId: string;
  readonly modelId: string;
  readonly detections: unknown;
}
/** What clients had before the backup and must find after each restore. */
let data: Data;
/** In flight at the moment of the backup: a training, detections, and an embedding. */
let flight: { trainingId: string; inferenceId: string; otherDatasetId: string };
/** Created after the backup; it goes on while the database goes back. */
let late: { id: string; resume: () => void };
/** The bucket of the backup. */
let copy: S3Server;
let backup: { time: string; rows: Record<string, string>; objects: Record<string, string> };
/** Runs commands of docs/backup.md on what is there now. */
const guide = (start: string, replace?: Record<string, string>) =>
  follow(
    { folder, kubeconfig: place.kubeconfig, ownerUrl: database.urlOf("owner"), bucket: store, copy },
    start,
    replace,
  );

const found = async (inferenceId: string) =>
  (await user.listDetections(inferenceId))
    .map(({ inference_file_id: _, id: _id, ...detection }) => JSON.stringify(detection))
    .sort();

const prepared = step("a model is trained and has found something", [], async () => {
  const { id: datasetId } = await user.createDataset("drill", types);
  const files = await uploadTo(user, datasetId, voices.train.paths);
  expect((await waitForEmbeddings(user, datasetId, nothing)).failed).toEqual([]);
  const { id: setId } = await labelTakes(user, voices, datasetId, files);
  const training = await user.createTrainingJob(datasetId, setId, config(3));
  expect((await followTraining(user, training.id, nothing)).job).toMatchObject({ status: "completed" });
  const [model] = await user.listModels(training.id);
  const inference = await user.createInferenceJob(
    model!.id,
    files.map(({ id }) => id),
  );
  await waitForInference(user, inference.id, nothing);
  const detections = await found(inference.id);
  expect(detections).not.toEqual([]);
  data = { datasetId, setId, modelId: model!.id, detections };
});

/** The states of what was in flight. */
async function states(): Promise<Record<string, string>> {
  const training = await user.getTrainingJob(flight.trainingId);
  const inference = await user.getInferenceJob(flight.inferenceId);
  const [file] = await user.listAudio(flight.otherDatasetId);
  return {
    training: `${training.status} (${training.progress_percent ?? 0} %)`,
    inference: inference.status,
    embedding: file?.embedding_status ?? "no file",
  };
}

const podOf = (job: string) =>
  until(`a running pod of ${job}`, 300_000, async () =>
    (await listOf<Pod>(pods)).find(
      ({ metadata, status }) => metadata.labels?.["plosive.dev/job"] === job && status.phase === "Running",
    ),
  );

/** Starts a training, and stops its worker after the first checkpoint. `resume` lets it continue. */
async function heldTraining(): Promise<{ id: string; resume: () => void }> {
  const { id } = await user.createTrainingJob(data.datasetId, data.setId, config(40));
  const resume = await holdAfter(await podOf(`tj-${id}`), "the first checkpoint", async () => {
    const { status } = await resourceOf(id);
    return status?.checkpoint !== undefined;
  });
  return { id, resume };
}

const resourceOf = (trainingId: string) =>
  kubectlJson<{ status?: JobStatus }>("get", "trainingjob", `tj-${trainingId}`);

const backedUp = step(
  "the database, the bucket and the secrets are copied while jobs run",
  [prepared],
  async () => {
    const training = await heldTraining();
    const other = await user.createDataset("drill, uploaded last", types);
    const [file] = await uploadTo(user, other.id, voices.train.paths.slice(0, 1));
    const all = await user.listAudio(data.datasetId);
    const inference = await user.createInferenceJob(
      data.modelId,
      all.map(({ id }) => id),
    );
    flight = { trainingId: training.id, inferenceId: inference.id, otherDatasetId: other.id };
    expect(file).toBeDefined();
    for (const [what, state] of Object.entries(await states())) say(`in flight: ${what} is ${state}`);

    copy = await startStore(join(folder, "copy"), "127.0.0.1");
    await database.atOneMoment(async ({ time, snapshot, rows }) => {
      await guide("now=", { pg_dump: `pg_dump --snapshot ${snapshot}` });
      const during = await states();
      expect(during.training).toMatch(/^running/);
      for (const state of [during.inference, during.embedding]) expect(state).not.toBe("completed");
      backup = { time, rows, objects: await digestsOf(copy) };
    });
    training.resume();

    late = await heldTraining();
    expect((await followTraining(user, flight.trainingId, nothing)).job).toMatchObject({
      status: "completed",
    });
    await waitForInference(user, flight.inferenceId, nothing);
    await waitForEmbeddings(user, flight.otherDatasetId, nothing);
  },
);

/** What was in flight has ended as if nothing had happened, once, and what was there is there. */
async function expectAllDone(): Promise<void> {
  await followTraining(user, flight.trainingId, nothing);
  await waitForInference(user, flight.inferenceId, nothing);
  await waitForEmbeddings(user, flight.otherDatasetId, nothing);
  for (const [what, state] of Object.entries(await states())) say(`${what} is ${state}`);
  expect(await states()).toEqual({
    training: "completed (100 %)",
    inference: "completed",
    embedding: "completed",
  });
  expect(await user.listModels(flight.trainingId)).toHaveLength(1);
  expect(await found(flight.inferenceId)).toEqual(data.detections);
  const again = await user.createInferenceJob(
    data.modelId,
    (await user.listAudio(data.datasetId)).map(({ id }) => id),
  );
  await waitForInference(user, again.id, nothing);
  expect(await found(again.id)).toEqual(data.detections);
}

const recovered = step("the database goes back to an earlier moment", [backedUp], async () => {
  await guide("kubectl -n plosive scale deployment");
  await database.recover(backup.time);
  await guide("psql ");
  service.startService(place);
  await expectAllDone();
  // What was created after that moment is gone. Its resource says so.
  const { client } = user;
  const params = { path: { training_job_id: late.id } };
  expect((await client.GET("/api/v1/training-jobs/{training_job_id}", { params })).response.status).toBe(404);
  const reason = await until("the resource to report its missing row", 180_000, async () => {
    const { status } = await resourceOf(late.id);
    return status?.conditions?.find(({ type, reason }) => type === "Accepted" && reason === "RowMissing")
      ?.reason;
  });
  say(`the training that was created after the backup: ${reason}`);
  late.resume();
  await kubectl("delete", "trainingjob", `tj-${late.id}`);
});

const reinstalled = step(
  "helm uninstalls and installs the service while a training runs",
  [recovered],
  async () => {
    const training = await heldTraining();
    const rows = (await contentsOf(database.query)).annotations;
    await service.uninstallService(place);
    say("uninstalled while a training runs");
    await service.installService(place, store);
    training.resume();
    const { job } = await followTraining(user, training.id, nothing);
    say(`the training is ${job.status}`);
    expect(job).toMatchObject({ status: "completed" });
    expect(await user.listModels(training.id)).toHaveLength(1);
    expect((await contentsOf(database.query)).annotations).toBe(rows);
  },
);

step("an empty cluster, an empty database and an empty bucket get the copies", [reinstalled], async () => {
  await service.stopCluster();
  await Promise.all([database.stop(), store.stop()]);
  place = await service.startCluster();
  const { hostAddress } = place.addresses;
  store = await startStore(join(folder, "new-store"), hostAddress);
  database = await startDatabase(join(folder, "new-database"), hostAddress);
  await database.query(`
    create role plosive_api nologin; create role plosive_operator nologin; create role plosive_admin nologin;
    grant plosive_api, plosive_operator, plosive_admin to plosive_owner with admin option`);
  await guide("pg_restore ", { TIME: timeOfBackup() });
  const restored = await contentsOf(database.query);
  expect(restored).toEqual(backup.rows);
  expect(await digestsOf(store)).toEqual(backup.objects);
  say(
    `${Object.keys(restored).length} tables and ${Object.keys(backup.objects).length} objects are the same`,
  );
  await guide("psql ");

  service.createNamespace(place);
  const secrets = readFileSync(join(folder, `secrets-${timeOfBackup()}.json`), "utf8");
  at(service.targetOf(place), ["create", "-f", "-"], withoutServerFields(secrets));
  service.createSecrets(place, database, store);
  await service.installService(place, store);
  // With the key from before.
  user = await firstUser();
  const pod = await until("a pod of the training", 300_000, async () => {
    const { items } = await kubectlJson<{ items: { metadata: { name: string } }[] }>(
      ...["get", "pods", "-l", `plosive.dev/job=tj-${flight.trainingId}`],
    );
    return items[0]?.metadata.name;
  });
  const resumed = await until(
    "the training to go on",
    300_000,
    async () => /resuming at step \d+/.exec(await kubectl("logs", pod).catch(() => ""))?.[0],
  );
  say(`the training is ${resumed}`);
  await expectAllDone();
});

/** The time in the names of the backup's files. */
function timeOfBackup(): string {
  const [time] = readdirSync(folder).flatMap((name) => /^plosive-(\w+)\.dump$/.exec(name)?.[1] ?? []);
  if (time === undefined) throw new Error("the backup left no dump");
  return time;
}

/** Secrets as kubectl prints them, ready for another cluster. */
function withoutServerFields(list: string): string {
  const { items } = JSON.parse(list) as { items: { metadata: { name: string } }[] };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: items.map((item) => ({ ...item, metadata: { name: item.metadata.name } })),
  });
}
