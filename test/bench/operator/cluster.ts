// The control plane of the benchmark: the real etcd, API server, controller manager and scheduler, KWOK nodes, Plosive's
// CRDs and a namespace for the operator. Called by main.ts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Kube, makeKube } from "../../../src/kube/client.ts";
import { type ControlPlane, startControlPlane } from "../../../tools/cluster/control-plane.ts";
import { installCrds, kubeconfigOf, makeNamespace, tokenOf } from "../../support/namespace.ts";
import { startKwok } from "./kwok.ts";

export interface BenchCluster {
  readonly plane: ControlPlane;
  readonly kwokPid: number;
  /** Address of etcd's clients. */
  readonly etcd: string;
  /** Starts Kubernetes' own controllers anew: they then run the pods of all Jobs as fast as the machine can. */
  hurry(): Promise<void>;
  /** Starts them anew as they come. */
  calm(): Promise<void>;
  /** As cluster administrator, without a limit of its own. */
  readonly admin: Kube;
  readonly namespace: string;
  /** Of the operator's service account, with the rights of rbac.ts. */
  readonly operatorKubeconfig: string;
  /** Certificate of the API server, for 127.0.0.1: the run endpoint of the benchmark uses it too. */
  readonly tls: ControlPlane["tls"];
  stop(): Promise<void>;
}

const nodes = 10;
/** Of large clusters; by default Kubernetes' own controllers send 20 requests a second for 5 Jobs at once. */
const hurried = ["--kube-api-qps=1000", "--kube-api-burst=2000", "--concurrent-job-syncs=50"];
/** The pods of all jobs stay, so that the operator has them all in view. */
const keepPods = "--terminated-pod-gc-threshold=0";

export async function startCluster(options: { dir: string; runMs: number }): Promise<BenchCluster> {
  const dir = join(options.dir, "plane");
  mkdirSync(dir, { recursive: true });
  const plane = await startControlPlane({
    dir,
    withControllerManager: true,
    withScheduler: true,
    flags: {
      // Later flags win: this one allows to look what the API server is busy with.
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
    const token = await tokenOf(admin, namespace, "plosive-operator");
    const operatorKubeconfig = join(dir, "operator.kubeconfig");
    writeFileSync(operatorKubeconfig, kubeconfigOf(plane.server, plane.tls.caFile, token));
    return {
      plane,
      kwokPid: kwok.pid,
      etcd: plane.etcd,
      hurry: () => plane.restartControllers([keepPods, ...hurried]),
      calm: () => plane.restartControllers([keepPods]),
      admin,
      namespace,
      operatorKubeconfig,
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
