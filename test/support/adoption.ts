// Jobs that a platform engineer applies with kubectl, for the tests of adoption: an operator and the REST API on one
// database, and the resources that such a job needs. Called at the top of test files: `const stage = useAdoption()`.
import { afterAll, beforeAll } from "vitest";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import type { KubeObject, Pod, ResourceType } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { type Client, useApi } from "./api.ts";
import { type TestNamespace, useCluster } from "./kube.ts";
import { podOf, runOperator, type TestOperator, Worker } from "./operator.ts";
import { poll } from "./poll.ts";
import { useStorage } from "./s3.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "./world.ts";

type JobObject = KubeObject & { status?: JobStatus };

export function useAdoption() {
  const cluster = useCluster();
  const api = useApi();
  const store = useStorage();
  let space: TestNamespace;
  let operator: TestOperator;
  /** Starts another operator after the previous one was stopped. */
  const start = async (options: { maxWaiting?: number } = {}) => {
    operator = await runOperator({
      cluster,
      namespace: space,
      databaseUrl: api.db.configuration.connectionUri,
      storage: store.config,
      // On a busy machine too, only the jobs of the test embed its uploads.
      gatherSeconds: 600,
      driftMs: 300,
      ...options,
    });
  };
  beforeAll(async () => {
    space = await cluster.namespace();
    await start();
    await operator.leading;
  });
  afterAll(() => operator?.stop());

  const kindOf = (type: unknown) => type as ResourceType<JobObject>;
  const ref = (name: string) => ({ namespace: space.name, name });
  const find = (type: unknown, name: string) => cluster.admin.find(kindOf(type), ref(name));
  /** The condition Accepted of a resource. */
  const accepted = async (type: unknown, name: string) =>
    (await find(type, name))?.status?.conditions?.find((condition) => condition.type === "Accepted");
  return {
    cluster,
    api,
    store,
    start,
    get operator() {
      return operator;
    },
    get namespace() {
      return space.name;
    },
    ref,
    podOf: (run: string, shard?: number) => podOf(cluster.admin, space.name, run, shard),
    worker: (pod: Pod) => new Worker(cluster, () => operator, pod),
    apply: (type: unknown, name: string, spec: object) => {
      const object = { metadata: ref(name), spec: { shards: { count: 1 }, ...spec } };
      return cluster.admin.create(kindOf(type), object as unknown as JobObject);
    },
    find,
    accepted,
    refusal: (type: unknown, name: string) =>
      poll(`the refusal of ${name}`, async () => {
        const condition = await accepted(type, name);
        return condition?.status === "False" ? condition : undefined;
      }),
  };
}

/** The spec of a training job: a dataset of six minutes with a labelled set. */
export async function trainable(db: DatabasePool, client: Client, publish = true) {
  const { tenantId } = client;
  const datasetId = await makeDataset(client);
  const audio = await addReadyAudio(db, tenantId, datasetId, { durationMs: 360_000 });
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const annotationSetId: string = (await client.post(sets)).body.id;
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
  await client.post(`${sets}/${annotationSetId}/annotations`, label);
  if (publish) await client.post(`${sets}/${annotationSetId}/publish`);
  return {
    tenantId,
    datasetId,
    annotationSetId,
    config: { artifact_types: ["click"], epochs: 2 },
  };
}

/** The spec of an inference job: a dataset with `files` files and a model. */
export async function searchable(db: DatabasePool, client: Client, files: number) {
  const { tenantId } = client;
  const datasetId = await makeDataset(client);
  const ids: string[] = [];
  for (let i = 0; i < files; i++) ids.push(await addReadyAudio(db, tenantId, datasetId));
  const training = await addTrainingJob(db, tenantId, datasetId, crypto.randomUUID());
  const modelId = await addModel(db, tenantId, training);
  return { tenantId, datasetId, modelId, files: ids };
}
