// Kills the leading operator at one write after another, and ends some in an orderly way, while jobs of all kinds run,
// among them suspended and adopted ones, and with Kueue queued ones. Checks the state that is left.
// Called by main.ts for hours and by test/hostile/operator-kill.test.ts for a minute.
import { sql } from "slonik";
import { z } from "zod";
import { labels } from "../../controllers/job/child.ts";
import { startReflector } from "../../controllers/runtime/reflector.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { isConflict, isNotFound } from "../../src/kube/errors.ts";
import { embeddingJobs, inferenceJobs, jobs, leases, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { KubeObject, Pod, ResourceType } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import { randomOf } from "../hostile/sequence.ts";
import { endPod, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { makeJudge } from "./judge.ts";
import { addJob, cancel, leaveResult, type PlannedJob, type Scene } from "./plan.ts";
import { type ChaosWorld, type Replica, startReplica } from "./replica.ts";
import { makeStrikes } from "./strikes.ts";

export interface ChaosReport {
  readonly kills: number;
  /** Operators that ended orderly while they led. */
  readonly handOvers: number;
  /** Jobs that were suspended while a pod of them ran. */
  readonly suspensions: number;
  /** Pods that Kueue ended for a job of a higher priority. */
  readonly preemptions: number;
  /** Operators that exited by themselves because they could not renew their lease. */
  readonly lostLeases: number;
  readonly jobs: number;
  readonly seconds: number;
  /** Kills by write point. */
  readonly points: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

const types: Readonly<Record<JobKind, ResourceType>> = {
  training: trainingJobs,
  inference: inferenceJobs,
  embedding: embeddingJobs,
};
const row = z.object({ id: z.string(), status: z.string() });
/** A job that takes longer counts as hanging. */
const patienceMs = 900_000;

export async function runChaos(
  world: ChaosWorld,
  scene: Scene,
  options: { kills: number; atOnce: number; seed: number; seconds?: number; print: (text: string) => void },
): Promise<ChaosReport> {
  const { admin, namespace, pool } = scene;
  const { print } = options;
  const began = performance.now();
  const isLate = () => performance.now() - began > (options.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const judge = makeJudge();
  const strikes = makeStrikes(randomOf(options.seed));
  // Pods end in an order of their own, which must not change the strikes.
  const random = randomOf(options.seed + 1);
  const problems = new Set<string>();
  const printed = new Set<string>();
  const open = new Map<string, PlannedJob & { since: number; overAt?: number }>();
  const all: PlannedJob[] = [];
  const played = new Set<string>();
  const suspended = new Set<string>();
  let kills = 0;
  let handOvers = 0;
  let preemptions = 0;
  let lostLeases = 0;
  let finishing = false;

  const reflectors = [
    ...Object.values(types).map((type) =>
      watch(type, ({ metadata, ...cr }) => {
        judge.sawResource(metadata.name, (cr as { status?: { phase?: string } }).status?.phase);
      }),
    ),
    watch(jobs, ({ metadata }) => judge.sawJob(metadata.labels?.[labels.job] ?? "", metadata.uid ?? "")),
    watch(pods, play),
  ];
  function watch<T extends KubeObject>(type: ResourceType<T>, see: (object: T) => void) {
    const store = new Store<T>();
    store.onChange(({ object, deleted }) => {
      if (!deleted) see(object);
    });
    const log = makeLog("operator", "silent");
    return startReflector({ kube: admin, type, namespace, store, log, random: Math.random });
  }

  const ref = (name: string) => ({ namespace, name });
  const isGone = async (pod: Pod) =>
    (await admin.find(pods, ref(pod.metadata.name)))?.metadata.uid !== pod.metadata.uid;
  /** Suspends a job whose pod runs, and resumes it some time after the pod is gone. */
  async function suspend(name: string, type: ResourceType, pod: Pod): Promise<void> {
    suspended.add(name);
    await admin.patch(type, ref(name), { spec: { suspend: true } } as object);
    await poll(`the suspension of ${name}`, () => isGone(pod), patienceMs);
    await pause(random() * 3_000);
    await admin.patch(type, ref(name), { spec: { suspend: false } } as object);
  }

  /** Plays the kubelet and the worker of a pod. */
  function play(pod: Pod): void {
    const { uid = "", ownerReferences, annotations, deletionTimestamp } = pod.metadata;
    const job = open.get(pod.metadata.labels?.[labels.job] ?? "");
    const ended = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
    if (job === undefined || ended || deletionTimestamp !== undefined || played.has(uid)) return;
    played.add(uid);
    const run = ownerReferences?.[0]?.name ?? "";
    const shard = Number(annotations?.["batch.kubernetes.io/job-completion-index"]);
    /** Kueue may preempt a queued job at any time: its pod is gone, and another one comes. */
    const isThere = async (change: Promise<unknown>) => {
      try {
        await change;
        return true;
      } catch (error) {
        if (!job.isQueued || !isNotFound(error) || !(await isGone(pod))) throw error;
        preemptions++;
        return false;
      }
    };
    const act = async () => {
      if (job.suspends && !suspended.has(job.name)) {
        if (await isThere(startPod(admin, pod))) await suspend(job.name, types[job.kind], pod);
      } else if (job.end === "completed") {
        // Time enough for another job to preempt it.
        if (job.isQueued) {
          if (!(await isThere(startPod(admin, pod)))) return;
          await pause(1_000 + random() * 3_000);
        }
        await leaveResult(scene, job, run, shard);
        await isThere(endPod(admin, pod, 0));
      } else if (job.end === "failed") {
        await endPod(admin, pod, 64, JSON.stringify({ code: "bad_manifest", message: "No." }));
      } else {
        await startPod(admin, pod);
        await cancel(scene, job);
      }
    };
    act().catch((error: unknown) => void problems.add(`a pod of ${run} could not be played: ${error}`));
  }

  /** Keeps `atOnce` jobs running. */
  async function fill(): Promise<void> {
    let n = 0;
    const add = async () => {
      while (!finishing) {
        const job = await addJob(scene, n++);
        all.push(job);
        const { name } = job;
        open.set(name, { ...job, since: performance.now() });
        // The Job's pod may exist already.
        const selector = { labelSelector: `${labels.job}=${name}` };
        for (const pod of (await admin.list(pods, namespace, selector)).items) play(pod);
        while (open.has(name) && !finishing) await pause(100);
      }
    };
    await Promise.all(Array.from({ length: options.atOnce }, add));
  }

  /** Reads the rows and deletes finished jobs. */
  async function observeRows(): Promise<void> {
    const ids = sql.array(
      [...open.values()].map(({ id }) => id),
      "uuid",
    );
    const rows = await pool.any(sql.type(row)`
      select id, status from training_jobs where id = any(${ids}) union all
      select id, status from inference_jobs where id = any(${ids}) union all
      select id, status from embedding_jobs where id = any(${ids})`);
    for (const { id, status } of rows) judge.sawRow(id, status);
    for (const [name, job] of open) {
      const now = performance.now();
      if (!judge.isOver(job)) {
        if (now - job.since > patienceMs) {
          problems.add(`${name} has not ended in ${patienceMs / 1000} s`);
          open.delete(name);
        }
        continue;
      }
      job.overAt ??= now;
      // Observes a finished job for another five seconds: its status must not change.
      if (now - job.overAt < 5_000) continue;
      await judge.check(pool, job);
      open.delete(name);
      await admin.remove(types[job.kind], { namespace, name });
    }
  }

  const replicas = new Set<Replica>();
  const start = async () => {
    const queue = scene.queue === undefined ? {} : { PLOSIVE_KUEUE: "auto" };
    const replica = await startReplica(world, strikes.due, queue);
    replicas.add(replica);
    return replica;
  };
  const findLeader = () =>
    poll("a leader", () => [...replicas].find((replica) => replica.leads() && !replica.isGone()), patienceMs);
  /** Ends the leader as a rolling update does, in the middle of its work. */
  async function handOver(): Promise<void> {
    const leader = await findLeader();
    const writes = () => leader.api.seen.filter((label) => /^(POST|PATCH|DELETE) /.test(label)).length;
    const wanted = 1 + Math.floor(random() * 40);
    await poll("work of the leader", () => writes() >= wanted || leader.isGone() || isLate(), patienceMs);
    leader.child.kill("SIGTERM");
    await poll("its exit", leader.isGone, 60_000).catch(() => undefined);
    const code = leader.child.exitCode;
    if (code === 0) handOvers++;
    else if (code === 1) lostLeases++;
    else problems.add(`60 s after SIGTERM an operator has the exit code ${code}:\n${leader.tail()}`);
    await leader.end("SIGKILL");
    replicas.delete(leader);
    await start();
  }
  async function killOne(): Promise<void> {
    const leader = await findLeader();
    strikes.arm(leader, () => {
      kills++;
      leader.child.kill("SIGKILL");
    });
    await poll("a write of the leader", () => leader.isGone() || isLate(), patienceMs);
    strikes.disarm();
    if (!leader.isGone()) return;
    // Exit code 1 means that it lost its lease, as on a machine that did not schedule it for ten seconds.
    if (leader.child.exitCode === 1) lostLeases++;
    else if (leader.child.signalCode !== "SIGKILL")
      problems.add(`an operator exited by itself:\n${leader.tail()}`);
    replicas.delete(leader);
    await leader.end("SIGKILL");
    await release(leader);
    for (const replica of [...replicas].filter((one) => one.isGone())) replicas.delete(replica);
    await start();
    if (kills % 10 === 0)
      print(`${kills} kills, ${all.length - open.size} jobs done, ${faults().length} faults`);
    for (const fault of faults()) if (!printed.has(fault)) print(`FAULT ${fault}`);
    for (const fault of faults()) printed.add(fault);
  }
  /**
   * Releases the lease of a killed leader: the others would wait 15 s for it, which proves nothing about its writes.
   */
  async function release({ name }: Replica): Promise<void> {
    const lease = await admin.get(leases, { namespace, name: "plosive-operator" });
    if (!lease.spec?.holderIdentity?.startsWith(`${name}_`)) return;
    const free = { ...lease, spec: { ...lease.spec, holderIdentity: "" } };
    await admin.replace(leases, free).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }
  const faults = () => [...problems, ...judge.faults()];

  let isOver = false;
  const observing = (async () => {
    while (!isOver) {
      await observeRows();
      await pause(200);
    }
  })();
  observing.catch((error: unknown) => void problems.add(`observing failed: ${error}`));
  try {
    await Promise.all([start(), start(), start()]);
    const filling = fill();
    filling.catch((error: unknown) => void problems.add(`no more jobs could be added: ${error}`));
    while (kills < options.kills && !isLate()) {
      const before = kills;
      await killOne();
      if (kills > before && kills % 8 === 3) await handOver();
    }
    finishing = true;
    await filling.catch(() => undefined);
    print(`${kills} kills; waiting for the last ${open.size} jobs`);
    await poll("all jobs to end", () => open.size === 0, patienceMs);
    const wanted = new Map(all.map(({ id, end }) => [id, end]));
    const left = await pool.any(sql.type(row)`
      select id, status from training_jobs union all select id, status from inference_jobs
      union all select id, status from embedding_jobs`);
    for (const { id, status } of left) {
      if (wanted.has(id) && wanted.get(id) !== status)
        problems.add(`the final status of row ${id} is ${status}`);
    }
  } finally {
    isOver = true;
    await observing;
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
    await Promise.all([...replicas].map((replica) => replica.end("SIGKILL")));
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    kills,
    handOvers,
    suspensions: suspended.size,
    preemptions,
    lostLeases,
    jobs: all.length,
    seconds,
    points: strikes.hits(),
    faults: faults(),
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
