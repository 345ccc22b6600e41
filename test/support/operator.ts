// An operator in the test's own process: real control plane, Postgres and S3 as arguments, free ports, short intervals.
// Also fakes for the two parts that a control plane without a node lacks: the kubelet and the worker.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { type Operator, startOperator } from "../../controllers/operator.ts";
import type { OperatorConfig, RunsConfig } from "../../src/config.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import { jobs, pods } from "../../src/kube/kinds.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import { makeRegistry, watchPool } from "../../src/metrics.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { profiles } from "../../src/schemas/profile.ts";
import type { Progress, Work } from "../../src/schemas/worker.ts";
import { makeStorage, type StorageConfig } from "../../src/storage/storage.ts";
import type { Tracing } from "../../src/tracing.ts";
import { type TestCluster, type TestNamespace, tokenOf } from "./kube.ts";
import { poll } from "./poll.ts";
import { loginOf } from "./postgres.ts";
import { audience, startRuns } from "./runs.ts";

const indexLabel = "batch.kubernetes.io/job-completion-index";

export type TestOperator = Operator & {
  /** Of the run endpoint that runs beside it. */
  runsPort: number;
  runsMetricsPort: number;
  kube: Kube;
  requests: string[];
  /** The number of objects that it is creating now; events are created outside of reconciles. */
  creating(): number;
};

/** Starts an operator and a run endpoint, each with the rights of its service account. Its stop() closes its connections too. */
export async function runOperator(options: {
  cluster: TestCluster;
  namespace: TestNamespace;
  databaseUrl: string;
  storage: StorageConfig;
  gatherSeconds?: number;
  filesPerShard?: number;
  graceSeconds?: number;
  retentionSeconds?: number;
  jobRetentionSeconds?: number;
  maxWaiting?: number;
  /** Default: no limit and no Kueue. */
  config?: Partial<OperatorConfig>;
  /** Default: no encoder. null: no run endpoint. */
  runs?: Partial<RunsConfig> | null;
  driftMs?: number;
  identity?: string;
  now?: () => number;
  leaseMs?: { durationMs: number; deadlineMs: number; periodMs: number };
  lookMs?: number;
  tracing?: Tracing | undefined;
}): Promise<TestOperator> {
  const { cluster, namespace } = options;
  const databaseUrl = loginOf(options.databaseUrl, "plosive_operator");
  const resources = { requests: { cpu: "500m" }, limits: { memory: "1Gi", "nvidia.com/gpu": "1" } };
  const pod = { image: "registry.test/worker:1", resources };
  const db = await makeDatabase(
    { PLOSIVE_DATABASE_URL: databaseUrl, PLOSIVE_DATABASE_POOL: 6 },
    undefined,
    "plosive_operator",
  );
  const client = makeKube({ kubeconfig: namespace.operatorKubeconfig });
  let creating = 0;
  const create: Kube["create"] = (...args) => {
    creating += 1;
    return client.create(...args).finally(() => {
      creating -= 1;
    });
  };
  const kube = { ...client, create };
  const storage = makeStorage(options.storage);
  const registry = makeRegistry();
  watchPool(registry, db);
  const requests: string[] = [];
  kube.onRequest((method, status) => requests.push(`${method} ${status}`));
  const runs =
    options.runs === null
      ? undefined
      : await startRuns({
          cluster,
          namespace,
          databaseUrl: options.databaseUrl,
          storage: options.storage,
          installation: options.config?.PLOSIVE_INSTALLATION,
          config: options.runs,
        });
  const operator = await startOperator({
    config: {
      ...options.storage,
      PLOSIVE_DATABASE_URL: databaseUrl,
      PLOSIVE_DATABASE_POOL: 6,
      PLOSIVE_INSTALLATION: defaultInstallation,
      PLOSIVE_NAMESPACE: namespace.name,
      PLOSIVE_LOG_LEVEL: "info",
      PLOSIVE_METRICS_PORT: 0,
      PLOSIVE_HEALTH_PORT: 0,
      PLOSIVE_RUNS_URL: "https://operator.test:8443",
      PLOSIVE_RUNS_CA_CONFIGMAP: "plosive-runs-ca",
      PLOSIVE_RUNS_AUDIENCE: audience,
      PLOSIVE_WORKER_SERVICE_ACCOUNT: "plosive-worker",
      PLOSIVE_PROFILES_FILE: "unused",
      PLOSIVE_LEASE_NAME: "plosive-operator",
      PLOSIVE_POD_NAME: "operator",
      PLOSIVE_TRACE_RATIO: 1,
      PLOSIVE_GATHER_SECONDS: options.gatherSeconds ?? 0,
      PLOSIVE_FILES_PER_SHARD: options.filesPerShard ?? 200,
      PLOSIVE_UPLOAD_MAX_BYTES: 2 ** 31,
      PLOSIVE_QUOTA_BYTES: 0,
      PLOSIVE_QUOTA_WAITING_TRAININGS: options.maxWaiting ?? 0,
      PLOSIVE_QUOTA_WAITING_INFERENCES: options.maxWaiting ?? 0,
      PLOSIVE_QUOTA_INFERENCE_FILES: 0,
      PLOSIVE_QUOTA_RUNNING_TRAININGS: 0,
      PLOSIVE_QUOTA_RUNNING_INFERENCES: 0,
      PLOSIVE_QUOTA_RUNNING_EMBEDDINGS: 0,
      PLOSIVE_RUNNING_JOBS: 0,
      PLOSIVE_KUEUE: "off",
      PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: new Set(),
      PLOSIVE_QUEUE_NAME: "",
      ...options.config,
      PLOSIVE_JOB_RETENTION_SECONDS: options.jobRetentionSeconds ?? 604_800,
      PLOSIVE_RESOURCE_RETENTION_SECONDS: options.retentionSeconds ?? 604_800,
      PLOSIVE_PURGE_GRACE_SECONDS: options.graceSeconds ?? 604_800,
    },
    profiles: profiles.parse({ default: { embed: pod, train: pod, detect: pod } }),
    kube,
    db,
    storage,
    registry,
    log: makeLog("operator", process.env.PLOSIVE_TEST_LOG ?? "silent"),
    tracing: options.tracing,
    now: options.now ?? Date.now,
    random: Math.random,
    identity: options.identity ?? "test",
    progressMs: 200,
    purgeMs: 200,
    driftMs: options.driftMs,
    lookMs: options.lookMs,
    // Long enough not to expire on a busy machine, where the whole machine may stand still for seconds. It is released at
    // the end, so the next operator does not wait for it.
    leaseMs: options.leaseMs ?? { durationMs: 75_000, deadlineMs: 60_000, periodMs: 200 },
  });
  return {
    ...operator,
    runsPort: runs?.port ?? 0,
    runsMetricsPort: runs?.metricsPort ?? 0,
    kube,
    requests,
    creating: () => creating,
    async stop() {
      await Promise.all([operator.stop(), runs?.stop()]);
      kube.close();
      storage.close();
      await db.end();
    },
  };
}

/** The newest pod of a shard that has not ended. */
export function podOf(kube: Kube, namespace: string, run: string, shard = 0): Promise<Pod> {
  return poll(`a pod of shard ${shard} of ${run}`, async () => {
    const { items } = await kube.list(pods, namespace, {
      labelSelector: `job-name=${run},${indexLabel}=${shard}`,
    });
    return items.find(
      ({ status, metadata }) =>
        status?.phase !== "Succeeded" &&
        status?.phase !== "Failed" &&
        metadata.deletionTimestamp === undefined,
    );
  });
}

/** The kubelet's update when the container starts. */
export function startPod(kube: Kube, pod: Pod): Promise<unknown> {
  const state = { running: { startedAt: new Date().toISOString() } };
  return patchStatus(kube, pod, "Running", state);
}

/** The kubelet's update when the container has ended. */
export function endPod(kube: Kube, pod: Pod, exitCode: number, message?: string): Promise<unknown> {
  const at = new Date().toISOString();
  const reason = exitCode === 0 ? "Completed" : "Error";
  const state = { terminated: { exitCode, reason, message, startedAt: at, finishedAt: at } };
  return patchStatus(kube, pod, exitCode === 0 ? "Succeeded" : "Failed", state);
}

/** Any other state of the worker's container, such as waiting for its image. */
export function patchStatus(
  kube: Kube,
  pod: Pod,
  phase: string,
  state: object,
  conditions?: object[],
): Promise<unknown> {
  const { namespace, name } = pod.metadata;
  const containerStatuses = [
    { name: "worker", image: "worker", imageID: "", ready: phase === "Running", restartCount: 0, state },
  ];
  return kube.send({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
    body: { status: { phase, containerStatuses, ...(conditions === undefined ? {} : { conditions }) } },
    contentType: "application/merge-patch+json",
  });
}

/** The requests of a worker, with the token of its pod. */
export class Worker {
  readonly #cluster: TestCluster;
  readonly #operator: () => { runsPort: number };
  readonly pod: Pod;
  readonly run: string;
  readonly shard: number;
  #token: string | undefined;
  #seq = 0;

  constructor(cluster: TestCluster, operator: () => { runsPort: number }, pod: Pod) {
    this.#cluster = cluster;
    this.#operator = operator;
    this.pod = pod;
    this.run = pod.metadata.ownerReferences?.[0]?.name ?? "";
    this.shard = Number(pod.metadata.annotations?.[indexLabel]);
  }

  async token(): Promise<string> {
    const { namespace, name, uid = "" } = this.pod.metadata;
    this.#token ??= await tokenOf(this.#cluster.admin, namespace, "plosive-worker", {
      audience,
      pod: { name, uid },
    });
    return this.#token;
  }

  /** The items that are not done yet. */
  async work(): Promise<Exclude<Work, { kind: "done" }>> {
    const work = await this.anyWork();
    if (work.kind === "done") throw new Error("the shard was done by an earlier run");
    return work;
  }

  async anyWork(): Promise<Work> {
    const path = `/v1/runs/${this.run}/shards/${this.shard}/work`;
    const answer = await poll("the work", async () => {
      const got = await this.call("GET", path);
      return got.status === 503 ? undefined : got;
    });
    if (answer.status !== 200) throw new Error(`GET work: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as Work;
  }

  async report(progress: Partial<Progress>): Promise<number> {
    this.#seq++;
    const body: Progress = {
      seq: this.#seq,
      items_done: 0,
      items_total: 1,
      items_failed: 0,
      fraction: 0,
      message: null,
      metrics: [],
      ...progress,
    };
    return (await this.call("PUT", `/v1/runs/${this.run}/shards/${this.shard}/progress`, { body })).status;
  }

  async call(
    method: string,
    path: string,
    options: { token?: string | null; body?: unknown } = {},
  ): Promise<{ status: number; body: string }> {
    const token = options.token === undefined ? await this.token() : options.token;
    return callRuns(this.#cluster, this.#operator().runsPort, method, path, token, options.body);
  }
}

export async function callRuns(
  cluster: TestCluster,
  port: number,
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      `https://127.0.0.1:${port}${path}`,
      {
        method,
        ca: readFileSync(cluster.tls.caFile),
        agent: false,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
      },
      async (response) => resolve({ status: response.statusCode ?? 0, body: await text(response) }),
    );
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Writes an object as a worker does, with its presigned URL alone. */
export async function put(
  target: { url: string; headers: Record<string, string> },
  body: string | Uint8Array,
): Promise<void> {
  const answer = await fetch(target.url, {
    method: "PUT",
    headers: target.headers,
    body: typeof body === "string" ? body : Buffer.from(body),
  });
  if (!answer.ok) throw new Error(`PUT: ${answer.status} ${await answer.text()}`);
}

export function jobsOf(kube: Kube, namespace: string): Promise<Job[]> {
  return kube.list(jobs, namespace).then(({ items }) => items);
}

/** Plays the scheduler: from now on a deletion waits for the kubelet. */
export const bindPod = (admin: Kube, { metadata: { namespace, name } }: Pod, node = "a-node") =>
  admin.send({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
    body: { metadata: { name }, target: { apiVersion: "v1", kind: "Node", name: node } },
  });

/** The kubelet's final deletion of a pod. */
export const buryPod = (admin: Kube, { metadata: { namespace, name } }: Pod) =>
  admin.send({
    method: "DELETE",
    path: `/api/v1/namespaces/${namespace}/pods/${name}`,
    body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 },
  });
