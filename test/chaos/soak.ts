// `node --expose-gc test/chaos/soak.ts [--minutes 120] [--watch-seconds 2] [--idle-minutes 10]`: caches and leader
// election of an operator on a real API server, with watches that expire every few seconds instead of minutes, a few
// changes, and occasional broken connections. Prints sockets and heap, and fails if they grow or if an event after an
// idle period arrives late.
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startElector } from "../../controllers/runtime/leader.ts";
import { startReflector } from "../../controllers/runtime/reflector.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { makeKube } from "../../src/kube/client.ts";
import { isAlreadyExists } from "../../src/kube/errors.ts";
import { embeddingJobs, inferenceJobs, jobs, models, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { Job, ResourceType } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import { startControlPlane } from "../../tools/cluster/control-plane.ts";
import { installCrds } from "../support/namespace.ts";
import { poll } from "../support/poll.ts";
import { startProxy } from "../support/proxy.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    "watch-seconds": { type: "string", default: "2" },
    "idle-minutes": { type: "string", default: "10" },
  },
});
const namespace = "default";
const dir = mkdtempSync(join(tmpdir(), "plosive-soak-"));
const plane = await startControlPlane({ dir: join(dir, "plane"), withControllerManager: true });
const admin = makeKube({ kubeconfig: plane.kubeconfigPath });
const proxy = await startProxy(plane.server);
const kubeconfig = join(dir, "proxied.kubeconfig");
writeFileSync(kubeconfig, readFileSync(plane.kubeconfigPath, "utf8").replaceAll(plane.server, proxy.url));
const kube = makeKube({ kubeconfig });
const log = makeLog("operator", "silent");
let requests = 0;
kube.onRequest(() => requests++);
let failed = false;
const began = performance.now();
const print = (text: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(6)} s  ${text}`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs one set of caches and returns how many lists each of them made. */
function startAll(watchSeconds: number | undefined) {
  const store = new Store<Job>();
  const common = {
    kube,
    namespace,
    log,
    random: Math.random,
    ...(watchSeconds === undefined ? {} : { watchSeconds }),
  };
  const others: ResourceType[] = [trainingJobs, inferenceJobs, embeddingJobs, models, pods];
  const reflectors = [
    startReflector({ ...common, type: jobs, store }),
    ...others.map((type) => startReflector({ ...common, type, store: new Store() })),
  ];
  return { store, reflectors };
}

/** Measures how many milliseconds it takes until a new object is in the cache. */
async function latency(store: Store<Job>): Promise<number> {
  const name = `soak-${randomUUID()}`;
  const containers = [{ name: "c", image: "registry.test/none:1" }];
  const seen = new Promise<number>((resolve) =>
    store.onChange(({ object }) => {
      if (object.metadata.name === name) resolve(performance.now());
    }),
  );
  const spec = { suspend: true, template: { spec: { restartPolicy: "Never", containers } } };
  // A delay because the machine is busy with other work is no failure.
  const at = await poll(
    "the API server to take a Job",
    async () => {
      const sent = performance.now();
      await admin.create(jobs, { metadata: { name, namespace }, spec } as Job).catch(orThere);
      return sent;
    },
    300_000,
  );
  const ms = (await seen) - at;
  await poll(
    "the API server to delete it",
    () => admin.remove(jobs, { namespace, name }).then(() => true),
    300_000,
  );
  return ms;
}

/** An earlier attempt succeeded, and only its answer was lost. */
function orThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

try {
  await installCrds(admin);
  const idleMinutes = Number(options["idle-minutes"]);
  if (idleMinutes > 0) {
    const { store, reflectors } = startAll(undefined);
    await Promise.all(reflectors.map(({ synced }) => synced));
    print(`idle for ${idleMinutes} minutes`);
    await pause(idleMinutes * 60_000);
    const ms = await latency(store);
    const relists = Math.max(...reflectors.map((reflector) => reflector.relists()));
    print(`the next event arrived after ${ms.toFixed(0)} ms; ${relists} list of each type`);
    if (ms > 1_000 || relists > 1) failed = true;
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
  }

  const { store, reflectors } = startAll(Number(options["watch-seconds"]));
  const elector = startElector({ kube, namespace, name: "soak", identity: "soak", log });
  await Promise.all([elector.elected, ...reflectors.map(({ synced }) => synced)]);
  const samples: { sockets: number; heap: number }[] = [];
  const end = performance.now() + Number(options.minutes) * 60_000;
  const every = Math.min(60_000, (Number(options.minutes) * 60_000) / 10);
  while (performance.now() < end) {
    await pause(every);
    const ms = await latency(store);
    samples.push({ sockets: sockets(), heap: heap() });
    const { sockets: open, heap: used } = samples.at(-1)!;
    print(
      `${requests} requests, ${open} sockets, ${used.toFixed(1)} MiB of heap; an event took ${ms.toFixed(0)} ms`,
    );
    if (samples.length % 5 === 0) {
      proxy.cut();
      proxy.heal();
      await poll("the caches to go on", () => latency(store).then((took) => took < 1_000), 60_000);
    }
  }
  // Skips the first fifth as a warm-up.
  const [first, last] = [samples[Math.floor(samples.length / 5)]!, samples.at(-1)!];
  print(
    `heap ${first.heap.toFixed(1)} -> ${last.heap.toFixed(1)} MiB, sockets ${first.sockets} -> ${last.sockets}`,
  );
  if (last.heap > first.heap + 3 || last.sockets > first.sockets + 3 || !elector.leads()) failed = true;
  await Promise.all(reflectors.map((reflector) => reflector.stop()));
  await elector.stop();
} finally {
  kube.close();
  admin.close();
  await proxy.stop();
  await plane.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
