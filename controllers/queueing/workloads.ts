// Detects whether Kueue is installed and, if so, keeps a cache of its Workloads. Without Kueue the operator sends no
// further request, so that it needs permissions for Workloads only with Kueue. Started by operator.ts on every replica.
import type { Kube } from "../../src/kube/client.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import type { RuntimeMetrics } from "../runtime/metrics.ts";
import { pause } from "../runtime/pause.ts";
import { type Reflector, startReflector } from "../runtime/reflector.ts";
import { Store } from "../runtime/store.ts";
import { kueueGroup, trimWorkload, type Workload, workloadType } from "./workload.ts";

/** auto: use Kueue if it is installed when the operator starts. */
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
  stop(): Promise<void>;
};

export function startWorkloads(options: {
  kube: Kube;
  namespace: string;
  mode: KueueMode;
  log: Log;
  random: () => number;
  metrics: RuntimeMetrics;
}): Workloads {
  const { kube, mode, log } = options;
  const ending = new AbortController();
  let reflector: Reflector | undefined;
  let found: Found | undefined;
  let isKnown = false;

  const detect = async (): Promise<void> => {
    for (let failures = 0; !ending.signal.aborted; failures++) {
      try {
        const version = await versionOf(kube);
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
  return {
    found: () => found,
    known,
    isKnown: () => isKnown,
    async stop() {
      ending.abort();
      await known;
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
