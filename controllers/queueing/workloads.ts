// Detects whether Kueue is installed and, if so, keeps a cache of its Workloads. Goes on looking: once Kueue is installed or
// removed, the process has to start anew, so that there is only one way into each mode. Started by operator.ts on every replica.
import type { Kube } from "../../src/kube/client.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import type { RuntimeMetrics } from "../runtime/metrics.ts";
import { pause } from "../runtime/pause.ts";
import { type Reflector, startReflector } from "../runtime/reflector.ts";
import { Store } from "../runtime/store.ts";
import { kueueGroup, trimWorkload, type Workload, workloadType } from "./workload.ts";

/** auto: use Kueue while it is installed. */
export type KueueMode = "auto" | "on" | "off";

type Found = {
  type: ResourceType<Workload>;
  store: Store<Workload>;
  /** Whether the store has received its first complete list. */
  isSynced(): boolean;
};

export type Workloads = {
  /** Undefined without Kueue and before the detection has finished. Index "job": by the uid of the Job. */
  found(): Found | undefined;
  /**
   * Resolves when the detection has finished. The Workloads may follow later: while Kueue is down, nobody can list
   * them.
   */
  known: Promise<void>;
  isKnown(): boolean;
  /** Resolves in mode auto once Kueue was installed or removed, or serves another version. */
  changed: Promise<void>;
  stop(): Promise<void>;
};

export function startWorkloads(options: {
  kube: Kube;
  namespace: string;
  mode: KueueMode;
  log: Log;
  random: () => number;
  metrics: RuntimeMetrics;
  /** How often to look whether Kueue is installed. */
  lookMs?: number;
}): Workloads {
  const { kube, mode, log, random, lookMs = 30_000 } = options;
  const ending = new AbortController();
  let reflector: Reflector | undefined;
  let found: Found | undefined;
  let version: string | undefined;
  let isKnown = false;

  const detect = async (): Promise<void> => {
    for (let failures = 0; !ending.signal.aborted; failures++) {
      try {
        version = await versionOf(kube);
        if (version !== undefined) return startCache(version);
        if (mode === "auto") return log.info("Kueue is not installed; the operator's own queue admits jobs");
        log.warn("the configuration requires Kueue, which is not installed; waiting for it");
      } catch (error) {
        log.warn({ err: String(error) }, "could not check whether Kueue is installed; retrying");
      }
      await pause(Math.min(5_000, 250 * 2 ** failures), ending.signal);
    }
  };

  const startCache = (version: string): void => {
    const type = workloadType(version);
    const store = new Store<Workload>(
      { job: (workload) => workload.metadata.ownerReferences?.[0]?.uid },
      trimWorkload,
    );
    reflector = startReflector({ ...options, type, store });
    options.metrics.watchReflector(type.plural, { ...reflector, objects: () => store.size });
    log.info({ version }, "Kueue is installed and admits jobs that have a queue");
    found = { type, store, isSynced: reflector.isSynced };
  };

  const begin = async () => {
    if (mode !== "off") await detect();
    isKnown = true;
  };
  const known = begin();

  const { promise: changed, resolve: change } = Promise.withResolvers<void>();
  /** Two looks must agree: an API server that has just started may not serve all definitions yet. */
  const watch = async (): Promise<void> => {
    await known;
    for (let seen = 0; seen < 2; ) {
      // At random times, so that not all replicas stop at once.
      await pause(lookMs * (0.75 + random() / 2), ending.signal);
      if (ending.signal.aborted) return;
      const present = await versionOf(kube).catch(() => version);
      seen = present === version ? 0 : seen + 1;
    }
    log.warn({ before: version }, "Kueue was installed, removed or upgraded; the operator has to start anew");
    change();
  };
  const watching = mode === "auto" ? watch() : undefined;
  return {
    found: () => found,
    known,
    isKnown: () => isKnown,
    changed,
    async stop() {
      ending.abort();
      await known;
      await watching;
      await reflector?.stop();
    },
  };
}

/** Returns the newest version of Kueue's API that both sides support; undefined when there is none. */
async function versionOf(kube: Kube): Promise<string | undefined> {
  try {
    const group = (await kube.send({ method: "GET", path: `/apis/${kueueGroup}` })) as {
      versions?: { version: string }[];
    };
    const served = new Set(group.versions?.map(({ version }) => version));
    return ["v1beta2", "v1beta1"].find((version) => served.has(version));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
