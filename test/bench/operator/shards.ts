// Shards that report once a second as their workers do: with tokens bound to their pods, over TLS, to the run endpoint. Measures writes of statuses, the age of the progress in the REST API, and the counts at the end. Called
// by main.ts.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { sql } from "slonik";
import { z } from "zod";
import type { JobResource } from "../../../controllers/job/adapter.ts";
import { inferenceJobs, pods as podType } from "../../../src/kube/kinds.ts";
import type { Pod, ResourceType } from "../../../src/kube/objects.ts";
import { tokenOf } from "../../support/namespace.ts";
import { poll } from "../../support/poll.ts";
import { cpuSeconds } from "../servers.ts";
import type { BenchCluster } from "./cluster.ts";
import { resourceOf } from "./flood.ts";
import { audience, type OperatorProcess, type RunsProcess } from "./operator.ts";
import { type BenchJob, layResults, type World } from "./world.ts";

export interface Reports {
  readonly shards: number;
  readonly jobs: number;
  readonly seconds: number;
  readonly reportsPerSecond: number;
  readonly refused: number;
  /** The operator's writes to the API server per second during the reports. */
  readonly writesPerSecond: number;
  /** Ms: the age of the row's percentage at every sample. */
  readonly ages: readonly number[];
  /** Ms of one report, measured by the pod. */
  readonly took: readonly number[];
  /** Wrong counts at the end; empty if all are exact. */
  readonly wrong: readonly string[];
  readonly operatorCpu: number;
  readonly runsCpu: number;
}

const filesPerShard = 20;
const index = "batch.kubernetes.io/job-completion-index";
const type = inferenceJobs as ResourceType<JobResource>;

const batch = 200;

interface Shard {
  readonly job: BenchJob;
  readonly shard: number;
  readonly pod: Pod;
  readonly token: string;
  seq: number;
}

export async function report(options: {
  cluster: BenchCluster;
  world: World;
  operator: OperatorProcess;
  runs: RunsProcess;
  bucketFolder: string;
  jobs: number;
  shards: number;
  seconds: number;
  print: (text: string) => void;
}): Promise<Reports> {
  const { cluster, world, operator, runs, seconds, print } = options;
  const { admin, namespace } = cluster;
  const jobs = world.jobs(options.jobs, options.shards / options.jobs, filesPerShard);
  layResults(options.bucketFolder, jobs);
  // In batches, because the operator submits a row again if its resource is missing for long.
  for (let first = 0; first < jobs.length; first += batch) {
    const some = jobs.slice(first, first + batch);
    await world.insert(some);
    for (const job of some) await admin.create(type, resourceOf(job, namespace, world, "held"));
  }
  const shards = await workers(cluster, jobs, print);
  print(`  ${shards.length} shards run`);

  const agent = new Agent({
    keepAlive: true,
    maxSockets: 128,
    ca: readFileSync(cluster.tls.caFile),
  });
  const took: number[] = [];
  let refused = 0;
  const send = async (shard: Shard, share: number) => {
    shard.seq++;
    const at = performance.now();
    const done = Math.floor(share * filesPerShard);
    const body = {
      seq: shard.seq,
      items_done: done,
      items_total: filesPerShard,
      items_failed: 0,
      fraction: share,
      message: null,
      metrics: [],
    };
    const path = `/v1/runs/${shard.job.run}/shards/${shard.shard}/progress`;
    if ((await put(agent, runs.port, path, shard.token, body)) !== 204) refused++;
    took.push(performance.now() - at);
  };

  // The first report of each shard opens its connection.
  await Promise.all(shards.map((shard) => send(shard, 0)));
  took.length = 0;
  const sample = async () => ({
    counters: await operator.counters(),
    cpu: cpuSeconds(operator.pid),
    runs: cpuSeconds(runs.pid),
  });
  const before = await sample();
  const began = performance.now();
  const share = () => Math.min(1, (performance.now() - began) / 1000 / seconds);
  const sampler = sampleAges(world, jobs, () => performance.now() - began, seconds * 1000);
  const one = async (shard: Shard, n: number) => {
    for (let round = 0; round < seconds; round++) {
      const due = began + round * 1000 + (n / shards.length) * 1000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, due - performance.now())));
      await send(shard, share());
    }
  };
  await Promise.all(shards.map(one));
  const lasted = (performance.now() - began) / 1000;
  const after = await sample();
  const ages = await sampler.end();
  const reports = took.length;
  await finish(cluster, shards, agent, runs.port);
  agent.destroy();
  return {
    shards: shards.length,
    jobs: jobs.length,
    seconds: lasted,
    reportsPerSecond: reports / lasted,
    refused,
    writesPerSecond: (after.counters.writes - before.counters.writes) / lasted,
    ages,
    took: took.slice(0, reports),
    wrong: await countsOf(cluster, world, jobs),
    operatorCpu: (after.cpu - before.cpu) / lasted,
    runsCpu: (after.runs - before.runs) / lasted,
  };
}

/** Waits until each shard's pod runs and gets the token that the kubelet would mount. */
async function workers(
  cluster: BenchCluster,
  jobs: BenchJob[],
  print: (text: string) => void,
): Promise<Shard[]> {
  const { admin, namespace } = cluster;
  const found: { job: BenchJob; pod: Pod }[] = [];
  for (const job of jobs) {
    const pods = await poll(
      `the pods of ${job.run}`,
      async () => {
        const { items } = await admin.list(podType, namespace, { labelSelector: `job-name=${job.run}` });
        return (
          items.length === job.files.length &&
          items.every(({ status }) => status?.phase === "Running") &&
          items
        );
      },
      300_000,
    );
    found.push(...pods.map((pod) => ({ job, pod })));
  }
  print(`  ${found.length} pods run; requesting their tokens`);
  const shards: Shard[] = [];
  const work = async () => {
    for (let next = found.pop(); next !== undefined; next = found.pop()) {
      const { name, uid = "" } = next.pod.metadata;
      const token = await tokenOf(admin, namespace, "plosive-worker", { audience, pod: { name, uid } });
      shards.push({ ...next, token, shard: Number(next.pod.metadata.annotations?.[index]), seq: 0 });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return shards;
}

/** Sends the last report of each shard, then the kubelet's status of the ended container. */
async function finish(
  { admin, namespace }: BenchCluster,
  shards: readonly Shard[],
  agent: Agent,
  port: number,
): Promise<void> {
  const waiting = [...shards];
  const termination = (shard: number) =>
    JSON.stringify({
      code: "ok",
      message: "Done.",
      hint: null,
      shard,
      item: null,
      items_done: filesPerShard,
      items_total: filesPerShard,
      items_failed: 0,
    });
  const work = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const { job, shard, token, seq, pod } = one;
      const path = `/v1/runs/${job.run}/shards/${shard}/progress`;
      const counts = { items_done: filesPerShard, items_total: filesPerShard, items_failed: 0 };
      await put(agent, port, path, token, {
        seq: seq + 1,
        ...counts,
        fraction: 1,
        message: null,
        metrics: [],
      });
      const at = new Date().toISOString();
      const state = {
        terminated: {
          exitCode: 0,
          reason: "Completed",
          startedAt: at,
          finishedAt: at,
          message: termination(shard),
        },
      };
      const worker = { name: "worker", image: "worker", imageID: "", ready: false, restartCount: 0, state };
      await admin.send({
        method: "PATCH",
        path: `/api/v1/namespaces/${namespace}/pods/${pod.metadata.name}/status`,
        body: { status: { phase: "Succeeded", containerStatuses: [worker] } },
        contentType: "application/merge-patch+json",
      });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

/** Measures the lag of the rows: a percentage is as old as the last moment at which it was true. */
function sampleAges(world: World, jobs: readonly BenchJob[], now: () => number, wholeMs: number) {
  const ages: number[] = [];
  let over = false;
  const ids = jobs.map(({ id }) => id);
  const loop = (async () => {
    while (!over) {
      const at = now();
      const percents = await world.pool.oneFirst(sql.type(z.object({ percents: z.array(z.int()) }))`
        select array_agg(progress_percent) as percents
        from inference_jobs where id = any(${sql.array(ids, "uuid")})`);
      // A percentage is true until the next one, and until then its age is 0.
      const shown = (percent: number) => ((percent + 1) / 100) * wholeMs;
      if (at > 5_000 && at < wholeMs * 0.97)
        for (const percent of percents) ages.push(Math.max(0, at - shown(percent)));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return {
    async end() {
      over = true;
      await loop;
      return ages;
    },
  };
}

async function countsOf(
  { admin, namespace }: BenchCluster,
  world: World,
  jobs: readonly BenchJob[],
): Promise<string[]> {
  const wrong: string[] = [];
  await poll(
    "all jobs to end",
    async () => (await world.completed(jobs.map(({ id }) => id))).length === jobs.length,
    1_800_000,
  );
  for (const { name, id, files } of jobs) {
    const total = files.length * filesPerShard;
    const cr = await poll(`the end of ${name}`, async () => {
      const now = await admin.get(type, { namespace, name });
      return now.status?.phase === "Succeeded" && now;
    });
    const { itemsDone, itemsTotal, itemsFailed } = cr.status?.progress ?? {};
    const counts = `${itemsDone} of ${itemsTotal}, ${itemsFailed} failed, ${cr.status?.shards?.succeeded} shards`;
    const expected = `${total} of ${total}, 0 failed, ${files.length} shards`;
    if (counts !== expected) wrong.push(`${name} has ${counts}; it should be ${expected}`);
    const row = await world.pool.one(sql.type(
      z.object({ processed_files: z.int(), failed_files: z.int(), total_detections: z.number() }),
    )`
      select processed_files, failed_files, total_detections from inference_jobs where id = ${id}`);
    const shown = `${row.processed_files} files, ${row.failed_files} failed, ${row.total_detections} detections`;
    const due = `${total} files, 0 failed, ${total * 3} detections`;
    if (shown !== due) wrong.push(`the row of ${name} has ${shown}; it should be ${due}`);
  }
  return wrong;
}

async function put(agent: Agent, port: number, path: string, token: string, body: object): Promise<number> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": bytes.length,
  };
  const call = request({ host: "127.0.0.1", port, path, method: "PUT", agent, headers });
  call.end(bytes);
  const [response] = await once(call, "response");
  await text(response);
  return response.statusCode ?? 0;
}
