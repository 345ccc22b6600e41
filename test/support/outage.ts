// An operator process under steady load during outages of its backends. The test inserts jobs as the API does, plays
// the kubelet and the workers, and restarts the process as the kubelet does. Called by
// test/controllers/outages.test.ts.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { inferenceJobs, jobs, pods } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { StorageConfig } from "../../src/storage/storage.ts";
import type { TestCluster, TestNamespace } from "./kube.ts";
import { endPod, put, startPod, Worker } from "./operator.ts";
import { operatorEnv } from "./operator-env.ts";
import { poll } from "./poll.ts";
import { insertInferenceJob } from "./rows.ts";
import { startRuns } from "./runs.ts";

const nothing = z.object({});
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Supervised {
  readonly runsPort: number;
  /** How often the process has exited by itself. */
  exits(): number;
  log(): string;
  stop(): Promise<void>;
}

/** Starts controllers/main.ts, and again whenever it exits. */
export async function superviseOperator(options: {
  cluster: TestCluster;
  namespace: TestNamespace;
  databaseUrl: string;
  storage: StorageConfig;
}): Promise<Supervised> {
  const { namespace, databaseUrl, storage } = options;
  const dir = mkdtempSync(join(tmpdir(), "plosive-outage-"));
  // The run endpoint is a process of its own, which an end of the operator does not stop.
  const runs = await startRuns(options);
  const env = operatorEnv({
    namespace: namespace.name,
    kubeconfig: namespace.operatorKubeconfig,
    databaseUrl,
    storage,
    profilesFile: join(dir, "profiles.json"),
  });
  let log = "";
  let exits = 0;
  let isStopped = false;
  const start = () => {
    const child = spawn(process.execPath, ["controllers/main.ts"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...env,
        PLOSIVE_DATABASE_POOL: "10",
        PLOSIVE_QUOTA_RUNNING_INFERENCES: "0",
        PLOSIVE_QUOTA_RUNNING_TRAININGS: "0",
      },
    });
    child.stdout.on("data", (chunk: Buffer) => {
      log = (log + chunk).slice(-1_000_000);
    });
    child.once("exit", () => {
      if (isStopped) return;
      exits += 1;
      present = start();
    });
    return child;
  };
  let present = start();
  return {
    runsPort: runs.port,
    exits: () => exits,
    log: () => log,
    async stop() {
      isStopped = true;
      const gone = new Promise((resolve) => present.once("exit", resolve));
      if (present.exitCode === null && present.kill("SIGKILL")) await gone;
      await runs.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface Load {
  /** Rows that could be inserted; during an outage of Postgres none could. */
  readonly made: readonly string[];
  /** Inserts `count` jobs at once. */
  burst(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Inserts a job every `everyMs` and plays the node and the worker of each, which retry until they succeed. */
export function startLoad(options: {
  cluster: TestCluster;
  namespace: TestNamespace;
  runsPort: number;
  /** Whether the API could insert rows now: false during an outage of Postgres. */
  mayWrite: () => boolean;
  db: DatabasePool;
  tenant: string;
  model: string;
  everyMs: number;
}): Load {
  const { cluster, namespace, db } = options;
  const made: string[] = [];
  const played = new Set<string>();
  const playing = new Set<Promise<void>>();
  let isStopped = false;
  const stubborn = async (act: () => Promise<unknown>) => {
    while (!isStopped) {
      try {
        await act();
        return;
      } catch {
        await sleep(1_000);
      }
    }
  };

  const play = async (pod: Pod) => {
    const worker = new Worker(cluster, () => options, pod);
    await stubborn(() => startPod(cluster.admin, pod));
    await stubborn(async () => {
      const work = await worker.work();
      if (work.kind !== "detect") throw new Error("not the work of an inference");
      await sleep(500 + 2_500 * Math.random());
      const facts = {
        duration_ms: 1000,
        sample_rate_hz: 8000,
        channels: 1,
        sha256: "a".repeat(64),
        size_bytes: 10,
      };
      const detections = [{ artifact_type: "click", start_ms: 1, end_ms: 2, confidence: 0.5 }];
      const items = work.items.map(({ id }) => ({ id, status: "completed", ...facts, detections }));
      await put(
        work.result,
        JSON.stringify({ version: 1, kind: "detect", run: worker.run, shard: worker.shard, items }),
      );
    });
    await stubborn(() => endPod(cluster.admin, pod, 0));
  };

  const node = async () => {
    while (!isStopped) {
      const { items } = await cluster.admin
        .list(pods, namespace.name, { labelSelector: "plosive.dev/job" })
        .catch(() => ({ items: [] as Pod[] }));
      for (const pod of items) {
        const uid = pod.metadata.uid ?? "";
        if (played.has(uid) || pod.metadata.deletionTimestamp !== undefined) continue;
        played.add(uid);
        const one: Promise<void> = play(pod).finally(() => playing.delete(one));
        playing.add(one);
      }
      await sleep(500);
    }
  };
  const make = async () => {
    made.push((await insertInferenceJob(db, options.tenant, options.model, 1)).id);
  };
  const client = async () => {
    for (let next = Date.now(); !isStopped; next += options.everyMs) {
      if (options.mayWrite()) await make();
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const loops = [node(), client()];
  // stop() reports their faults.
  for (const loop of loops) loop.catch(() => {});
  return {
    made,
    async burst(count) {
      for (let i = 0; i < count; i++) await make();
    },
    async stop() {
      isStopped = true;
      await Promise.all([...loops, ...playing]);
    },
  };
}

export interface State {
  /** Rows without a Kubernetes Job. */
  readonly waiting: number;
  /** Rows whose Kubernetes Job has no pod yet. */
  readonly podless: number;
  /** Rows that are not completed, and custom resources whose status does not report the completion. */
  readonly open: number;
  /** Those whose Kubernetes Job ended a few seconds ago. */
  readonly overdue: number;
}

/** The progress of these jobs in the tables and in Kubernetes. */
export async function stateOf(
  cluster: TestCluster,
  namespace: string,
  db: DatabasePool,
  ids: readonly string[],
): Promise<State> {
  const done = new Set(
    await db.anyFirst(sql.type(z.object({ id: z.string() }))`
      select id from inference_jobs where status = 'completed' and id = any(${sql.array([...ids], "uuid")})`),
  );
  const list = await Promise.all([
    cluster.admin.list(inferenceJobs, namespace),
    cluster.admin.list(jobs, namespace),
  ]);
  const ended = new Set(
    list[0].items.filter(({ status }) => status?.phase === "Succeeded").map(({ metadata }) => metadata.name),
  );
  const runs = new Map(list[1].items.map((job) => [job.metadata.name, job]));
  const open = ids.filter((id) => !done.has(id) || !ended.has(`ij-${id}`));
  return {
    waiting: ids.filter((id) => !runs.has(`ij-${id}-1`)).length,
    podless: ids.filter((id) => {
      const status = runs.get(`ij-${id}-1`)?.status;
      return (status?.active ?? 0) + (status?.succeeded ?? 0) === 0;
    }).length,
    open: open.length,
    overdue: open.filter((id) => {
      const complete = runs.get(`ij-${id}-1`)?.status?.conditions?.find(({ type }) => type === "Complete");
      const at = Date.parse(complete?.lastTransitionTime ?? "");
      return Date.now() - at > overdueMs;
    }).length,
  };
}

/** Kubernetes has times in whole seconds, and a write of a status takes a moment. */
const overdueMs = 4_000;

export interface Figures {
  /** Seconds from the return until every earlier row has its Job and every ended Job is in the tables. */
  readonly caughtUpSeconds: number;
  /** Seconds until Kubernetes's Job controller has created all their pods. */
  readonly podsSeconds: number;
  /** Seconds until all are completed on both sides, including the time of the node and the workers. */
  readonly completedSeconds: number;
}

/** Waits until everything that was inserted before `back` is done. */
export async function untilCaughtUp(
  state: () => Promise<State>,
  back: number,
  timeoutMs: number,
): Promise<Figures> {
  const seconds = () => Math.round((performance.now() - back) / 100) / 10;
  let caughtUpSeconds: number | undefined;
  let podsSeconds: number | undefined;
  await poll(
    "everything of before the return",
    async () => {
      const present = await state();
      const { waiting, podless, open, overdue } = present;
      if (podless === 0) podsSeconds ??= seconds();
      if (waiting === 0 && overdue === 0) caughtUpSeconds ??= seconds();
      if (open === 0) return true;
      await sleep(500);
      throw new Error(`${JSON.stringify({ ...present, caughtUpSeconds, podsSeconds })}`);
    },
    timeoutMs,
  );
  const completedSeconds = seconds();
  return {
    caughtUpSeconds: caughtUpSeconds ?? completedSeconds,
    podsSeconds: podsSeconds ?? completedSeconds,
    completedSeconds,
  };
}

/** Jobs that exist twice, results that were ingested twice, and files without exactly one detection. */
export async function manyDuplicates(
  cluster: TestCluster,
  namespace: string,
  db: DatabasePool,
  ids: readonly string[],
): Promise<string[]> {
  const { items } = await cluster.admin.list(jobs, namespace);
  const runs = items.map(({ metadata }) => metadata.name);
  const rows = await db.any(sql.type(
    z.object({ id: z.string(), found: z.number(), ingests: z.number(), completions: z.number() }),
  )`
    select j.id, (select count(*) from detections d where d.inference_job_id = j.id) as found,
      (select count(*) from result_ingests i where i.run_id like 'ij-' || j.id || '-%') as ingests,
      (select count(*) from job_events e where e.job_id = j.id and e.data ->> 'status' = 'completed') as completions
    from inference_jobs j where id = any(${sql.array([...ids], "uuid")})`);
  return [
    ...runs.filter((run) => !run.endsWith("-1")),
    ...rows
      .filter((row) => row.found !== 1 || row.ingests !== 1 || row.completions !== 1)
      .map((row) => row.id),
  ];
}

export const forget = (db: DatabasePool) => db.query(sql.type(nothing)`delete from inference_jobs`);
