// `make bench-operator`: the operator on a real control plane with KWOK nodes and pods, then Kueue on the same one.
// Writes docs/benchmarks-operator.md and fails when a target is missed. docs/benchmarks.md describes the method.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "../../../tools/cache.ts";
import { makeBucket } from "../../../tools/s3.ts";
import { poll } from "../../support/poll.ts";
import { startBackends } from "../servers.ts";
import { watchMemory } from "./accounts.ts";
import { startCluster } from "./cluster.ts";
import { addPods } from "./crowd.ts";
import { type FloodDeps, flood } from "./flood.ts";
import { admit } from "./kueue.ts";
import { startOperatorProcess, startRunsProcess } from "./operator.ts";
import { profileApiServer } from "./profile.ts";
import { faultsOf, quantile, type Result, render } from "./report.ts";
import { retain } from "./retained.ts";
import { report } from "./shards.ts";
import { makeWorld } from "./world.ts";

const { values: options } = parseArgs({
  options: {
    /** Number of jobs of the flood and of Kueue. */
    jobs: { type: "string", default: "10000" },
    burst: { type: "string", default: "1000" },
    bursts: { type: "string", default: "3" },
    idle: { type: "string", default: "60" },
    pods: { type: "string", default: "50000" },
    shards: { type: "string", default: "1000" },
    /** Jobs of one shard each that report at once. */
    reporters: { type: "string", default: "5000" },
    /** Jobs that Kubernetes' controllers run at their default request rates. */
    slow: { type: "string", default: "600" },
    /** Ended jobs that are kept. */
    retained: { type: "string", default: "100000" },
    /** Jobs a day of the part "pace", and how long it lasts. */
    perDay: { type: "string", default: "1000000" },
    paceMinutes: { type: "string", default: "30" },
    seconds: { type: "string", default: "40" },
    /** Minutes that Kueue gets after the creation of its last Job. */
    minutes: { type: "string", default: "8" },
    /** Parts to measure, separated by commas. "pace" runs only when it is named. */
    parts: { type: "string", default: "idle,bursts,flood,kueue,pods,shards,reporters,controllers,retained" },
    /** The path of the results table. */
    out: { type: "string", default: join(repoDir, "docs/benchmarks-operator.md") },
    /** A directory for CPU profiles of the operator and of the API server. */
    profiles: { type: "string" },
  },
});
const count = (name: Exclude<keyof typeof options, "parts" | "out" | "profiles">) => Number(options[name]);
const parts = new Set(options.parts.split(","));
const started = performance.now();
const print = (text: string) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);
const bucket = "bench";
const { profiles } = options;

const nodeOptions = profiles === undefined ? "" : `--cpu-prof --cpu-prof-dir=${profiles}`;

/** A control plane, a database and an object store, and what starts operators on them. */
async function startServers() {
  const backends = await startBackends();
  try {
    const storage = await makeBucket(backends.s3, bucket);
    const world = await makeWorld(backends.postgresUrl);
    const cluster = await startCluster({ dir: backends.dir, runMs: 500 });
    const process = { cluster, backends, databaseUrl: world.databaseUrl, storage };
    return {
      backends,
      world,
      cluster,
      bucketFolder: join(backends.dir, "s3", "buckets", bucket),
      startOperator: () => startOperatorProcess({ ...process, nodeOptions }),
      startRuns: () => startRunsProcess(process),
      async stop() {
        await cluster.stop();
        await world.end();
        await backends.stop();
      },
    };
  } catch (error) {
    await backends.stop();
    throw error;
  }
}

/** Saves the measurements so far, so that a failure of a later part does not lose them. */
const save = () => writeFileSync(options.out, render(result));
const result: Result = {
  bursts: [],
  reports: [],
  cpu: cpuName(),
  date: new Date().toISOString().slice(0, 10),
};

const servers = await startServers();
const { backends, world, cluster, bucketFolder, startOperator } = servers;
try {
  const { admin, namespace, plane } = cluster;
  let operator = await startOperator();
  const runs = await servers.startRuns();
  let memory = watchMemory(operator.pid);
  print("all servers run");

  const others = () => ({
    Postgres: backends.postgresPid,
    S3: backends.s3.pid,
    "API server": plane.pidOf("kube-apiserver"),
    etcd: plane.pidOf("etcd"),
    "controller manager": plane.pidOf("kube-controller-manager"),
    scheduler: plane.pidOf("kube-scheduler"),
    KWOK: cluster.kwokPid,
    "run endpoint": runs.pid,
    "load generator": process.pid,
  });
  const deps: Omit<FloodDeps, "operator"> = {
    admin,
    namespace,
    world,
    bucketFolder,
    pids: () => ({ operator: operator.pid, ...others() }),
    print,
  };
  const times = (values: readonly number[]) =>
    `p50 ${quantile(values, 0.5).toFixed(0)} ms, p99 ${quantile(values, 0.99).toFixed(0)} ms`;
  const run = async (name: string, size: Parameters<typeof flood>[1]) => {
    print(name);
    const made = await flood({ ...deps, operator }, size);
    print(`  custom resource to Job ${times(made.toJob)}; end of the Job to the row ${times(made.toRow)}`);
    print(
      `  ${made.created.toFixed(1)} Jobs created a second, ${made.ended.toFixed(1)} ended; ` +
        `${made.writesPerJob.toFixed(2)} writes, ${made.reconcilesPerJob.toFixed(1)} reconciles a job; ` +
        `operator ${(((made.creation.operator ?? 0) / made.jobs) * 1000).toFixed(1)} + ` +
        `${(((made.rest.operator ?? 0) / made.jobs) * 1000).toFixed(1)} ms of CPU a job; ` +
        `${mib(memory.now())} MiB`,
    );
    return made;
  };

  if (parts.has("idle"))
    result.idle = await run("idle: one job after the other", { jobs: count("idle"), shards: 1, gapMs: 300 });
  save();
  // Kubernetes' own controllers send twenty requests a second by default. They keep that rate while the operator's
  // latencies and rates are measured; then they get a higher one, so that all pods run in reasonable time.
  if (parts.has("bursts")) {
    for (let n = 1; n <= count("bursts"); n++) {
      const size = { jobs: count("burst"), shards: 1, allCreated: cluster.raiseRequestRates };
      result.bursts.push(await run(`burst ${n} of ${count("burst")}`, size));
      await cluster.resetRequestRates();
      save();
    }
  }
  if (parts.has("flood")) {
    const ended = profiles === undefined ? undefined : profileApiServer(cluster, profiles);
    const size = { jobs: count("jobs"), shards: 1, allCreated: cluster.raiseRequestRates };
    result.flood = await run(`flood of ${count("jobs")}`, size);
    await ended?.();
    await cluster.resetRequestRates();
    save();
  }
  if (parts.has("pace")) {
    await cluster.raiseRequestRates();
    const gapMs = 86_400_000 / count("perDay");
    const jobs = Math.round((count("paceMinutes") * 60_000) / gapMs);
    result.pace = await run(`${count("perDay")} jobs a day for ${count("paceMinutes")} minutes`, {
      jobs,
      shards: 1,
      gapMs,
    });
    result.paceBytes = memory.now();
    await cluster.resetRequestRates();
    save();
  }
  let peakBytes = 0;
  /** As its Deployment does after the operator has ended. */
  const restartOperator = async () => {
    peakBytes = Math.max(peakBytes, memory.peak());
    memory.end();
    await operator.stop();
    operator = await startOperator();
    memory = watchMemory(operator.pid);
  };
  if (parts.has("kueue")) {
    print(`Kueue: ${count("jobs")} Jobs`);
    result.kueue = await admit({
      cluster,
      world,
      dir: backends.dir,
      jobs: count("jobs"),
      minutes: count("minutes"),
      pids: others(),
      print,
    });
    print(
      `  ${result.kueue.done} admitted, ${result.kueue.admitted.toFixed(1)} a second, ${result.kueue.best.toFixed(1)} in the best minute; ${times(result.kueue.toAdmission)}; ` +
        `Kueue ${(((result.kueue.cpu.Kueue ?? 0) / result.kueue.done) * 1000).toFixed(1)} ms of CPU a Job; ` +
        `at most ${mib(result.kueue.peakBytes)} MiB`,
    );
    save();
    // It ended when Kueue was installed or removed.
    await restartOperator();
  }
  if (parts.has("pods")) {
    print(`${count("pods")} pods`);
    const etcd = cluster.etcd;
    await addPods({ admin, etcd, namespace, count: count("pods") });
    print("  all are in etcd");
    const seen = async () => {
      const inView = await operator.podsInView();
      if (inView < count("pods")) throw new Error(`${inView} are in view`);
      return true;
    };
    await poll("the operator to have all pods in view", seen, 300_000);
    print(
      `  the operator has ${await operator.podsInView()} in view, at most ${mib(memory.peak())} MiB resident`,
    );
    // A restarted operator lists all pods at once; the old one received them one by one.
    await restartOperator();
    await poll("the new operator to have all pods in view", seen, 300_000);
    print(`  a new operator has them in view, at most ${mib(memory.peak())} MiB resident`);
  }
  result.peakBytes = Math.max(peakBytes, memory.peak());
  memory.end();
  await Promise.all([operator.stop(), runs.stop()]);
} finally {
  await servers.stop();
}

if (parts.has("shards") || parts.has("reporters")) await measureReports();
if (parts.has("controllers")) {
  print(
    `${count("slow")} jobs at the default request rates of Kubernetes' controllers, on servers of their own`,
  );
  result.slow = await measureControllers();
  print(`  ${result.slow.ended.toFixed(2)} jobs ended a second`);
  save();
}
if (parts.has("retained")) {
  print(`${count("retained")} ended jobs, on servers of their own`);
  const retained = await measureRetained();
  print(
    `  ${mib(retained.etcdBytes)} MiB of etcd; first Job after ${(retained.startMs / 1000).toFixed(1)} s; ` +
      `at most ${mib(retained.peakBytes)} MiB`,
  );
  result.retained = retained;
}
save();
console.log(render(result));
const faults = faultsOf(result);
for (const fault of faults) console.error(`missed goal: ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** On servers of their own: the API server of the other parts has tens of thousands of Jobs and pods by then, and answers late. */
async function measureReports() {
  const { cluster, world, bucketFolder, ...own } = await startServers();
  try {
    const operator = await own.startOperator();
    const runs = await own.startRuns();
    await cluster.raiseRequestRates();
    for (const [part, jobs, shards] of [
      ["shards", 10, count("shards")],
      ["reporters", count("reporters"), count("reporters")],
    ] as const) {
      if (!parts.has(part)) continue;
      print(`${shards} shards of ${jobs} jobs that report once a second, on servers of their own`);
      const sizes = { jobs, shards, seconds: count("seconds") };
      const reports = await report({ cluster, world, operator, runs, bucketFolder, ...sizes, print });
      print(
        `  ${reports.reportsPerSecond.toFixed(0)} reports and ${reports.writesPerSecond.toFixed(1)} writes a second; ` +
          `age p50 ${quantile(reports.ages, 0.5).toFixed(0)} ms, p99 ${quantile(reports.ages, 0.99).toFixed(0)} ms, ` +
          `most ${reports.ages.reduce((a, b) => Math.max(a, b), 0).toFixed(0)} ms; ` +
          `a report p99 ${quantile(reports.took, 0.99).toFixed(0)} ms; ${reports.refused} refused; ${reports.wrong.length} wrong; ` +
          `operator ${(100 * reports.operatorCpu).toFixed(0)} % and run endpoint ${(100 * reports.runsCpu).toFixed(0)} % of a CPU`,
      );
      for (const wrong of reports.wrong) print(`  ${wrong}`);
      result.reports.push(reports);
      save();
    }
    await Promise.all([operator.stop(), runs.stop()]);
  } finally {
    await own.stop();
  }
}

/** How many jobs Kubernetes' controllers end while they keep their default request rates. */
async function measureControllers() {
  const own = await startServers();
  try {
    const operator = await own.startOperator();
    const { plane } = own.cluster;
    const pids = () => ({
      operator: operator.pid,
      "controller manager": plane.pidOf("kube-controller-manager"),
      "API server": plane.pidOf("kube-apiserver"),
    });
    const made = await flood(
      { ...own, ...own.cluster, operator, pids, print },
      { jobs: count("slow"), shards: 1 },
    );
    await operator.stop();
    return made;
  } finally {
    await own.stop();
  }
}

/** On servers of their own too. */
async function measureRetained() {
  const own = await startServers();
  try {
    let running = await own.startOperator();
    const pids = () => ({ operator: running.pid });
    const deps = { ...own, ...own.cluster, operator: running, pids, print };
    // One of them is the pattern of the others.
    await flood(deps, { jobs: 10, shards: 1, gapMs: 300 });
    const retained = await retain({
      ...own,
      count: count("retained"),
      stopOperator: () => running.stop(),
      startOperator: async () => (running = await own.startOperator()),
      print,
    });
    await running.stop();
    return retained;
  } finally {
    await own.stop();
  }
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function cpuName(): string {
  return /model name\s*:\s*(.+)/.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown";
}
