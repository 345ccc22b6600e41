// The whole operator: caches and background loops on every replica, controllers and sweeps on the leader. Its drivers are arguments,
// so that tests start the same operator as main.ts.
import type { Registry } from "prom-client";
import type { OperatorConfig } from "../src/config.ts";
import type { DatabasePool } from "../src/db/driver/pool.ts";
import type { Kube } from "../src/kube/client.ts";
import type { Log } from "../src/log.ts";
import { serveMetrics } from "../src/metrics.ts";
import type { Profiles } from "../src/schemas/profile.ts";
import type { Storage } from "../src/storage/storage.ts";
import { makeSubmit } from "../src/submit.ts";
import type { Tracing } from "../src/tracing.ts";
import { startBackground } from "./background.ts";
import { startCaches } from "./caches.ts";
import { controllerNames, startControllers } from "./controllers.ts";
import { fencedDatabase } from "./fenced-database.ts";
import { keepName } from "./installation.ts";
import { registerCacheMetrics } from "./job/cache-metrics.ts";
import { makeJobMetrics } from "./job/metrics.ts";
import { makeQueueing } from "./queueing/queueing.ts";
import { startWorkloads } from "./queueing/workloads.ts";
import { makeRecorder } from "./runtime/events.ts";
import { fenced } from "./runtime/fence.ts";
import { startElector } from "./runtime/leader.ts";
import { makeRuntimeMetrics } from "./runtime/metrics.ts";
import { makeOutages } from "./runtime/outages.ts";
import { startSweep } from "./sweep.ts";

export type OperatorDeps = {
  config: OperatorConfig;
  profiles: Profiles;
  kube: Kube;
  db: DatabasePool;
  storage: Storage;
  registry: Registry;
  log: Log;
  tracing?: Tracing | undefined;
  now: () => number;
  random: () => number;
  /** Unique to this process. */
  identity: string;
  /** Shortest time between two reconciles for the reports of a run. */
  progressMs?: number;
  /** How often expired uploads and the purge queue are checked. */
  purgeMs?: number;
  /** How often rows and custom resources are compared. */
  driftMs?: number;
  /** How often the operator looks whether Kueue is installed. */
  lookMs?: number;
  leaseMs?: { durationMs: number; deadlineMs: number; periodMs: number };
};

export type Operator = {
  metricsPort: number;
  /** Whether all caches are synced. True on a ready standby, too. */
  isReady(): boolean;
  leads(): boolean;
  /** Resolves when this replica leads and its controllers run. */
  leading: Promise<void>;
  /** Resolves when the lease, or the name of the installation, is lost. The process must exit at once. */
  lost: Promise<void>;
  /** Resolves when the process must stop and start anew, because Kueue was installed or removed. */
  outdated: Promise<void>;
  stop(): Promise<void>;
};

export async function startOperator(deps: OperatorDeps): Promise<Operator> {
  const { config, kube, db, storage, log, registry, now, random, identity, profiles } = deps;
  const { PLOSIVE_NAMESPACE: namespace, PLOSIVE_INSTALLATION: installation } = config;
  const runtimeMetrics = makeRuntimeMetrics(registry, controllerNames);
  const metrics = makeJobMetrics(registry);
  kube.onRequest(runtimeMetrics.request);
  const caches = startCaches({ kube, namespace, log, random, metrics: runtimeMetrics });
  registerCacheMetrics(registry, { resources: caches.resources, jobs: caches.jobs, now });
  const workloads = startWorkloads({
    kube,
    namespace,
    mode: config.PLOSIVE_KUEUE,
    lookMs: deps.lookMs,
    log,
    random,
    metrics: runtimeMetrics,
  });
  const recorder = makeRecorder({ kube, log, instance: identity, now, random });

  const metricsServer = await serveMetrics(registry, config.PLOSIVE_METRICS_PORT);
  const background = startBackground({ config, db, storage, registry, log, now });
  const elector = startElector({
    kube,
    namespace,
    name: config.PLOSIVE_LEASE_NAME,
    identity,
    log,
    ...deps.leaseMs,
  });
  runtimeMetrics.watchLease(config.PLOSIVE_LEASE_NAME, elector.leads);

  let stopping = false;
  let stopLeading = async () => {};
  const { promise: nameLost, resolve: loseName } = Promise.withResolvers<void>();
  const lead = async () => {
    const [leaseUid] = await Promise.all([elector.elected, caches.synced, workloads.known]);
    if (stopping) return;
    const kube = fenced(deps.kube, elector.leads);
    const outages = makeOutages(now);
    const db = fencedDatabase(deps.db, elector.leads, outages.database);
    const name = keepName({ db, name: installation, identity: leaseUid, log });
    stopLeading = name.stop;
    name.lost.then(loseName);
    if (!(await name.held)) return;
    const queueing = await makeQueueing({
      kube,
      caches,
      workloads,
      limits: {
        perTenant: {
          training: config.PLOSIVE_QUOTA_RUNNING_TRAININGS,
          inference: config.PLOSIVE_QUOTA_RUNNING_INFERENCES,
          embedding: config.PLOSIVE_QUOTA_RUNNING_EMBEDDINGS,
        },
        total: config.PLOSIVE_RUNNING_JOBS,
      },
      queueName: config.PLOSIVE_QUEUE_NAME,
      now,
    });
    if (stopping) return;
    const controllers = startControllers({
      kube,
      db,
      storage,
      log,
      recorder,
      metrics,
      now,
      random,
      installation,
      namespace,
      retentionSeconds: config.PLOSIVE_RESOURCE_RETENTION_SECONDS,
      jobRetentionSeconds: config.PLOSIVE_JOB_RETENTION_SECONDS,
      profiles,
      settings: podSettings(config),
      maxWaiting: {
        trainings: config.PLOSIVE_QUOTA_WAITING_TRAININGS,
        inferences: config.PLOSIVE_QUOTA_WAITING_INFERENCES,
      },
      maxFiles: config.PLOSIVE_QUOTA_INFERENCE_FILES,
      caches,
      runtimeMetrics,
      queueing,
      outages,
      tracing: deps.tracing,
      jobs: caches.jobs,
      pods: caches.pods,
    });
    const sweep = startSweep({
      db,
      kube,
      storage,
      installation,
      namespace,
      caches,
      metrics,
      log,
      submit: makeSubmit({ db, kube, installation, namespace, log }),
      enqueue: controllers.enqueue,
      recheck: controllers.recheck,
      enqueueModel: controllers.enqueueModel,
      gatherSeconds: config.PLOSIVE_GATHER_SECONDS,
      filesPerShard: config.PLOSIVE_FILES_PER_SHARD,
      graceSeconds: config.PLOSIVE_PURGE_GRACE_SECONDS,
      runsOutages: outages.runs,
      progressMs: deps.progressMs,
      purgeMs: deps.purgeMs,
      driftMs: deps.driftMs,
    });
    stopLeading = async () => {
      await Promise.all([sweep.stop(), controllers.stop()]);
      await name.stop();
    };
  };
  const leading = lead();

  return {
    metricsPort: metricsServer.port,
    isReady: () => caches.isSynced() && workloads.isKnown(),
    leads: elector.leads,
    leading,
    lost: Promise.race([elector.lost, nameLost]),
    outdated: workloads.changed,
    async stop() {
      stopping = true;
      // The next leader does not wait for receivers of deliveries.
      const backgroundStopped = background.stop(10_000);
      await stopLeading();
      await caches.stop();
      await workloads.stop();
      await recorder.flush();
      // Released last, when nothing writes any more: the next leader may start at once.
      await elector.stop();
      await backgroundStopped;
      await metricsServer.stop();
    },
  };
}

export const podSettings = (config: OperatorConfig) => ({
  runsUrl: config.PLOSIVE_RUNS_URL,
  runsAudience: config.PLOSIVE_RUNS_AUDIENCE,
  caConfigMap: config.PLOSIVE_RUNS_CA_CONFIGMAP,
  serviceAccount: config.PLOSIVE_WORKER_SERVICE_ACCOUNT,
});
