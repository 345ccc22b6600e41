// The reflector, the client and the elector against a real API server that is hard to reach: silent connections,
// expired resource versions, 429, restarts, and stops at any moment.
import { readFileSync, writeFileSync } from "node:fs";
import { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import { queryObjects } from "node:v8";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { makeRecorder } from "../../controllers/runtime/events.ts";
import { type Elector, startElector } from "../../controllers/runtime/leader.ts";
import { type Reflector, startReflector } from "../../controllers/runtime/reflector.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import {
  embeddingJobs,
  events,
  inferenceJobs,
  jobs,
  leases,
  models,
  pods,
  trainingJobs,
} from "../../src/kube/kinds.ts";
import type { Job, KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import { compact } from "../support/compact.ts";
import { useOwnCluster } from "../support/kube.ts";
import { poll } from "../support/poll.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

type Paused = { ms: number; signal: AbortSignal };
/** Each pause that a loop of the operator requested, in order. A busy machine makes pauses longer, not more frequent. */
const { pauses } = vi.hoisted(() => ({ pauses: [] as Paused[] }));
vi.mock("../../controllers/runtime/pause.ts", async (original) => {
  const { pause } = await original<typeof import("../../controllers/runtime/pause.ts")>();
  return {
    pause: (ms: number, signal: AbortSignal) => {
      pauses.push({ ms, signal });
      return pause(ms, signal);
    },
  };
});

const cluster = useOwnCluster();
const log = makeLog("operator", "silent");
let namespace: string;
let proxy: TestProxy;
let kubeconfig: string;
let kube: Kube;
/** The status and the time of each answer. */
let answers: { status: number; at: number }[];
let started: (Reflector | Elector)[] = [];

beforeAll(async () => {
  const space = await cluster.namespace();
  namespace = space.name;
  proxy = await startProxy(cluster.plane.server);
  const config = JSON.parse(readFileSync(space.operatorKubeconfig, "utf8"));
  config.clusters[0].cluster.server = proxy.url;
  kubeconfig = `${space.operatorKubeconfig}.proxied`;
  writeFileSync(kubeconfig, JSON.stringify(config));
});
afterAll(() => proxy?.stop());
beforeEach(() => {
  kube = makeKube({ kubeconfig });
  answers = [];
  pauses.length = 0;
  kube.onRequest((_method, status) => answers.push({ status, at: performance.now() }));
});
afterEach(async () => {
  proxy.heal();
  await Promise.all(started.map((one) => one.stop()));
  started = [];
  kube.close();
});

function reflect<T extends KubeObject>(type: ResourceType<T>, options: object = {}) {
  const store = new Store<T>();
  const reflector = startReflector({ kube, type, namespace, store, log, random: Math.random, ...options });
  started.push(reflector);
  return { store, reflector };
}

let count = 0;
async function newJob(): Promise<string> {
  const name = `job-${++count}`;
  const container = { name: "c", image: "registry.test/none:1" };
  await cluster.admin.create(jobs, {
    metadata: { name, namespace },
    spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [container] } } },
  } as Job);
  return name;
}
const isIn = (store: Store<Job>, name: string, within?: number) =>
  poll(`${name} in the store`, () => store.get(name) !== undefined, within);

describe("a reflector", () => {
  it("notices a silent connection, resumes from its position, and loses no event", async () => {
    const { store, reflector } = reflect(jobs, { inactivityMs: 10_000 });
    await reflector.synced;
    await isIn(store, await newJob());
    // Idle connections that become as dead as the connection of the watch.
    await Promise.all([1, 2, 3].map(() => kube.list(jobs, namespace)));
    proxy.stall();
    await isIn(store, await newJob());
    // One pause before the next try, and not one more for each dead connection.
    expect(pauses).toHaveLength(1);
    expect(reflector.relists()).toBe(1);
  });

  it("starts the next watch without a pause after empty watches", async () => {
    const { store, reflector } = reflect(jobs, { watchSeconds: 1 });
    await reflector.synced;
    await poll("some empty watches", () => answers.length > 4);
    await isIn(store, await newJob());
    expect(pauses).toEqual([]);
    expect(reflector.relists()).toBe(1);
  });

  it("whose position is too old lists once, and so do the reflectors of the other types", async () => {
    const types: ResourceType[] = [trainingJobs, inferenceJobs, embeddingJobs, models, pods];
    const others = types.map((type) => reflect(type));
    const { store, reflector } = reflect(jobs);
    await Promise.all([reflector, ...others.map((other) => other.reflector)].map(({ synced }) => synced));
    const gone = await newJob();
    await isIn(store, gone);
    proxy.cut();
    await cluster.admin.remove(jobs, { namespace, name: gone });
    const made = await newJob();
    await compact(cluster.plane.etcd);
    // A restarted API server serves no versions from before its start.
    await cluster.plane.stopApiServer();
    await cluster.plane.startApiServer();
    await newJob();
    proxy.heal();
    await isIn(store, made);
    expect(store.get(gone)).toBeUndefined();
    await poll("all to have listed", () => others.every((other) => other.reflector.relists() > 1));
    const last = await newJob();
    await isIn(store, last);
    expect([reflector, ...others.map((other) => other.reflector)].map((one) => one.relists())).toEqual(
      Array(6).fill(2),
    );
  });

  it("continues after each restart of the API server and has every object", async () => {
    const { store, reflector } = reflect(jobs);
    await reflector.synced;
    for (let restart = 1; restart <= 3; restart++) {
      const before = await newJob();
      await cluster.plane.stopApiServer();
      await cluster.plane.startApiServer();
      const after = await newJob();
      await isIn(store, before);
      await isIn(store, after);
      expect(reflector.relists()).toBeLessThanOrEqual(1 + restart);
    }
  });

  it("that is stopped at any moment reports nothing more and leaves no connection open", async () => {
    for (let round = 0; round < 15; round++) {
      const { store, reflector } = reflect(jobs);
      if (round % 3 === 0) await reflector.synced;
      const creating = round % 5 === 0 ? newJob() : undefined;
      await reflector.stop();
      const before = store.size;
      let told = 0;
      store.onChange(() => told++);
      await creating;
      await kube.list(jobs, namespace);
      expect([store.size, told]).toEqual([before, 0]);
    }
    kube.close();
    await poll("no connection", () => openSockets() <= 2);
  });

  it("holds the same connections and objects however often its watches are renewed", async () => {
    const { reflector } = reflect(jobs, { watchSeconds: 1 });
    const others = [trainingJobs, pods].map((type) => reflect<KubeObject>(type, { watchSeconds: 1 }));
    await reflector.synced;
    const rounds = async (to: number) => poll(`${to} watches`, () => answers.length >= to);
    await rounds(12);
    const before = { sockets: openSockets(), kept: kept() };
    await rounds(42);
    expect(openSockets()).toBeLessThanOrEqual(before.sockets + 1);
    // Thirty watches ran meanwhile. The three open ones may be at another stage than those before.
    const now = kept();
    for (const [what, count] of Object.entries(before.kept)) expect(now[what], what).toBeLessThan(count + 10);
    expect(others.map((other) => other.reflector.relists())).toEqual([1, 1]);
  });
});

describe("the client", () => {
  it("waits as long as the Retry-After of a 429, and then gets its answer", async () => {
    const name = await newJob();
    const jail = await makeJail();
    const list = kube.list(jobs, namespace);
    try {
      await poll("refusals", () => refusals().length >= 2);
    } finally {
      await jail.open();
    }
    expect((await list).items.map(({ metadata }) => metadata.name)).toContain(name);
    // Retry-After: 1
    for (const [index, { at }] of refusals().entries()) {
      if (index > 0) expect(at - refusals()[index - 1]!.at).toBeGreaterThanOrEqual(1_000);
    }
  });

  it("sends at most about one request a second for a reflector that gets 429", async () => {
    const jail = await makeJail();
    const began = performance.now();
    const { reflector } = reflect(jobs);
    try {
      await poll("refusals", () => refusals().length >= 3);
      expect(refusals().length).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
    } finally {
      await jail.open();
    }
    await reflector.synced;
  });
});

describe("an elector", () => {
  const lease = { durationMs: 6_000, deadlineMs: 5_000, periodMs: 200 };
  // The only lease that the operator's Role allows.
  const name = "plosive-operator";
  const elect = (identity: string, through = kube, more: Partial<typeof lease> = {}) => {
    const elector = startElector({ kube: through, namespace, name, identity, log, ...lease, ...more });
    started.push(elector);
    return elector;
  };

  it("knows that its lease is lost before a standby holds it, even if the API server does not answer", async () => {
    const leader = elect("a");
    await leader.elected;
    let looks = 0;
    const find: Kube["find"] = (type, ref, options) => {
      looks++;
      return cluster.admin.find(type, ref, options);
    };
    const standby = elect("b", { ...cluster.admin, find });
    await poll("the standby to have looked", () => looks > 1);
    proxy.swallow();
    const lost = leader.lost.then(() => performance.now());
    const elected = standby.elected.then(() => performance.now());
    expect(await lost).toBeLessThan(await elected);
    expect(leader.leads()).toBe(false);
    expect(standby.leads()).toBe(true);
  });

  it("releases its lease when it stops, even if it never got the answer to its last renewal", async () => {
    let stopped: Promise<void> | undefined;
    const replace: Kube["replace"] = async (type, object, options) => {
      const replaced = await cluster.admin.replace(type, object, options);
      if (stopped !== undefined) return replaced;
      stopped = leader.stop();
      throw new Error("the connection was closed");
    };
    const leader = elect("a", { ...cluster.admin, replace });
    await poll("a renewal", () => stopped !== undefined);
    await stopped;
    const held = await cluster.admin.get(leases, { namespace, name });
    expect(held.spec?.holderIdentity).toBe("");
  });

  it("takes over when the leader's lease expires, and not a period later", async () => {
    const leader = elect("a");
    await leader.elected;
    // The steps of the standby: the renewal of the lease that it finds, and the pause that it requests before it
    // looks again.
    const steps: (string | number)[] = [];
    const { signal } = pauses[0]!;
    const find: Kube["find"] = async (type, ref, options) => {
      const found = await cluster.admin.find(type, ref, options);
      steps.push(
        ...pauses.splice(0).flatMap((one) => (one.signal === signal ? [] : [one.ms])),
        `renewal ${found?.metadata.resourceVersion}`,
      );
      return found;
    };
    // Half of this period does not divide the lease's duration: only a shorter last pause meets its end.
    const standby = elect("b", { ...cluster.admin, find }, { periodMs: 1_600 });
    await poll("the standby to wait", () => steps.length > 2);
    proxy.swallow();
    await standby.elected;
    const sinceLast = steps.slice(steps.indexOf(steps.at(-1)!));
    const waits = sinceLast.filter((step) => typeof step === "number");
    // The sum of its pauses since the last renewal: no longer than the lease and a millisecond.
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(lease.durationMs + 1);
  });
});

describe("the recorder", () => {
  it("tries an event again until the API server is back", async () => {
    const recorder = makeRecorder({ kube, log, instance: "me", now: Date.now, random: Math.random });
    const job = await cluster.admin.get(jobs, { namespace, name: await newJob() });
    proxy.cut();
    recorder.record(job, { type: "Normal", reason: "Late", action: "Test", note: "n" });
    await poll("a failed attempt", () => pauses.length > 0);
    proxy.heal();
    const late = async () =>
      (await cluster.admin.list(events, namespace)).items.filter(({ reason }) => reason === "Late");
    await poll("the event", async () => (await late()).length > 0);
    await recorder.flush();
    expect(await late()).toHaveLength(1);
  });
});

const refusals = () => answers.filter(({ status }) => status === 429);

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}

/** The number of objects that survive a garbage collection, of the kinds that each watch creates. */
const kept = (): Record<string, number> => ({
  requests: queryObjects(ClientRequest, { format: "count" }),
  answers: queryObjects(IncomingMessage, { format: "count" }),
  signals: queryObjects(AbortSignal, { format: "count" }),
  controllers: queryObjects(AbortController, { format: "count" }),
});

/** Makes the API server refuse every request of the operator with 429, as it does under too many requests. */
async function makeJail(): Promise<{ open(): Promise<void> }> {
  const root = "/apis/flowcontrol.apiserver.k8s.io/v1";
  const send = (method: "POST" | "DELETE", path: string, body?: object) =>
    cluster.admin.send({ method, path: `${root}/${path}`, body });
  const metadata = { name: `jail-${++count}` };
  await send("POST", "prioritylevelconfigurations", {
    metadata,
    spec: {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 0,
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: "Reject" },
      },
    },
  });
  const serviceAccount = { namespace, name: "plosive-operator" };
  const rules = { apiGroups: ["*"], resources: ["*"], verbs: ["*"], namespaces: ["*"] };
  await send("POST", "flowschemas", {
    metadata,
    spec: {
      priorityLevelConfiguration: metadata,
      matchingPrecedence: 2,
      rules: [{ subjects: [{ kind: "ServiceAccount", serviceAccount }], resourceRules: [rules] }],
    },
  });
  // The API server still admits one request: the test keeps it open, so that no other one is admitted.
  const held: ClientRequest[] = [];
  const { users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const probe = async () => {
    const headers = { authorization: `Bearer ${users[0].user.token}` };
    const url = `${cluster.plane.server}/apis/batch/v1/namespaces/${namespace}/jobs`;
    const ca = readFileSync(cluster.tls.caFile);
    const hold = request(url, {
      method: "POST",
      ca,
      agent: false,
      headers: { ...headers, "content-type": "application/json", "content-length": 1_000 },
    });
    hold.on("error", () => undefined);
    hold.write("{");
    held.push(hold);
    return new Promise<boolean>((resolve, reject) => {
      const ask = request(`${url}?limit=1`, { ca, agent: false, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 429);
      });
      ask.on("error", reject);
      ask.end();
    });
  };
  await poll("the jail to be shut", probe);
  return {
    open: async () => {
      for (const hold of held) hold.destroy();
      await send("DELETE", `flowschemas/${metadata.name}`);
      await send("DELETE", `prioritylevelconfigurations/${metadata.name}`);
    },
  };
}
