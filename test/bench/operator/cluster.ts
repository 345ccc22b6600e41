// The control plane of the benchmark: the real etcd, API server, controller manager and scheduler, KWOK nodes,
// Plosive's CRDs and a namespace for the operator. Called by main.ts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Kube, makeKube } from "../../../src/kube/client.ts";
import { type ControlPlane, startControlPlane } from "../../../tools/cluster/control-plane.ts";
import { installCrds, kubeconfigOf, makeNamespace, tokenOf } from "../../support/namespace.ts";
import { startKwok } from "./kwok.ts";

export interface BenchCluster {
  readonly plane: ControlPlane;
  readonly kwokPid: number;
  /** etcd's client address. */
  readonly etcd: string;
  /**
   * Restarts Kubernetes' own controllers with high request rates: they then run the pods of all Jobs as fast as the
   * machine permits.
   */
  raiseRequestRates(): Promise<void>;
  /** Restarts them with their default request rates. */
  resetRequestRates(): Promise<void>;
  /** Client with the rights of a cluster administrator, without a client-side rate limit. */
  readonly admin: Kube;
  readonly namespace: string;
  /** kubeconfig of the operator's service account, with the rights of rbac.ts. */
  readonly operatorKubeconfig: string;
  /** kubeconfig of the run endpoint's service account. */
  readonly runsKubeconfig: string;
  /** Certificate of the API server for 127.0.0.1, which the run endpoint of the benchmark uses too. */
  readonly tls: ControlPlane["tls"];
  stop(): Promise<void>;
}

const nodes = 10;
/** Settings of large clusters; by default Kubernetes' own controllers send 20 requests a second for 5 Jobs at once. */
const hurried = ["--kube-api-qps=1000", "--kube-api-burst=2000", "--concurrent-job-syncs=50"];
/** The pods of all jobs are kept, so that the operator caches all of them. */
const keepPods = "--terminated-pod-gc-threshold=0";

export async function startCluster(options: { dir: string; runMs: number }): Promise<BenchCluster> {
  const dir = join(options.dir, "plane");
  mkdirSync(dir, { recursive: true });
  const plane = await startControlPlane({
    dir,
    withControllerManager: true,
    withScheduler: true,
    flags: {
      // Later flags override earlier ones; this one permits profiles of the API server.
      "kube-apiserver": ["--profiling=true"],
      "kube-controller-manager": [keepPods],
    },
  });
  const admin = makeKube({ kubeconfig: plane.kubeconfigPath, rate: { perSecond: 100_000, burst: 100_000 } });
  try {
    const kwok = await startKwok({
      admin,
      kubeconfig: plane.kubeconfigPath,
      dir,
      count: nodes,
      runMs: options.runMs,
    });
    await installCrds(admin);
    const namespace = "bench";
    await makeNamespace(admin, namespace);
    const write = async (of: "operator" | "runs") => {
      const path = join(dir, `${of}.kubeconfig`);
      const token = await tokenOf(admin, namespace, `plosive-${of}`);
      writeFileSync(path, kubeconfigOf(plane.server, plane.tls.caFile, token));
      return path;
    };
    const [operatorKubeconfig, runsKubeconfig] = [await write("operator"), await write("runs")];
    return {
      plane,
      kwokPid: kwok.pid,
      etcd: plane.etcd,
      raiseRequestRates: () => plane.restartControllers([keepPods, ...hurried]),
      resetRequestRates: () => plane.restartControllers([keepPods]),
      admin,
      namespace,
      operatorKubeconfig,
      runsKubeconfig,
      tls: plane.tls,
      async stop() {
        admin.close();
        await kwok.kill();
        await plane.stop();
      },
    };
  } catch (error) {
    admin.close();
    await plane.stop();
    throw error;
  }
}
