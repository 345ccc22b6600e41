// A real control plane (etcd, API server, controller manager; no node) with Plosive's CRDs, and namespaces in it under
// Pod Security "restricted". Test files call `const cluster = useCluster()` at their top and share one control plane.
// Files that stop it, compact it, read its audit log or change cluster-wide objects call `useOwnCluster()`.
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control-plane.ts";
import type { SharedPlane } from "../../tools/testing/servers.ts";
import { type Asked, askedBy, auditFlags, requestsBy } from "./audit.ts";
import { installCrds, kubeconfigOf, makeNamespace, tokenOf } from "./namespace.ts";
import { poll } from "./poll.ts";

export { tokenOf };

export type TestCluster<Plane = SharedPlane> = {
  readonly plane: Plane;
  /** Client with the rights of a cluster administrator. */
  readonly admin: Kube;
  readonly tls: SharedPlane["tls"];
  /** A new namespace with the service accounts and exactly the rights of controllers/rbac.ts. */
  namespace(options?: { kueue?: boolean }): Promise<TestNamespace>;
};

export type OwnCluster = TestCluster<ControlPlane> & {
  /** The allowed and refused requests of a service account of a namespace so far; only with `audit`. */
  asked(namespace: TestNamespace, of: Account): Asked;
  /** Each of its requests so far, in order; only with `audit`. */
  requests(namespace: TestNamespace, of: Account): string[];
};

type Account = "operator" | "runs" | "api";

export type TestNamespace = {
  readonly name: string;
  /** kubeconfig of the operator's service account, with exactly the rights of rbac.ts. */
  readonly operatorKubeconfig: string;
  /** kubeconfig of the run endpoint's service account. */
  readonly runsKubeconfig: string;
  /** kubeconfig of the API's service account. */
  readonly apiKubeconfig: string;
};

/** The control plane that all test files of a run share. */
export function useCluster(): TestCluster {
  return useStarted(async () => {
    const { planeFile } = inject("servers");
    await poll("the control plane of the test run", () => existsSync(planeFile), 280_000);
    const found = JSON.parse(readFileSync(planeFile, "utf8")) as SharedPlane | { error: string };
    if ("error" in found) throw new Error(`the control plane of the test run did not start: ${found.error}`);
    return { plane: found, stop: async () => {} };
  });
}

/** A control plane for the calling file alone, started before its tests and stopped after them. */
export function useOwnCluster({ audit = false, watchList = true } = {}): OwnCluster {
  const dir = mkdtempSync(join(tmpdir(), "plosive-cluster-"));
  const cluster = useStarted(async () => {
    const apiServer = [
      ...(audit ? auditFlags(dir) : []),
      // As of Kubernetes 1.31 and 1.33: clients list in pages.
      ...(watchList ? [] : ["--feature-gates=WatchList=false"]),
    ];
    const flags = { "kube-apiserver": apiServer };
    const plane = await startControlPlane({ dir: join(dir, "plane"), withControllerManager: true, flags });
    const stop = async () => {
      await plane.stop();
      rmSync(dir, { recursive: true, force: true });
    };
    return { plane, stop };
  });
  return Object.assign(cluster, {
    asked: ({ name }: TestNamespace, of: string) =>
      askedBy(dir, `system:serviceaccount:${name}:plosive-${of}`),
    requests: ({ name }: TestNamespace, of: string) =>
      requestsBy(dir, `system:serviceaccount:${name}:plosive-${of}`),
  });
}

function useStarted<Plane extends SharedPlane>(
  start: () => Promise<{ plane: Plane; stop: () => Promise<void> }>,
): TestCluster<Plane> {
  const dir = mkdtempSync(join(tmpdir(), "plosive-kubeconfigs-"));
  const namespaces: string[] = [];
  let started: { plane: Plane; stop: () => Promise<void> } | undefined;
  let admin: Kube | undefined;
  const need = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the control plane exists only while tests run");
    return value;
  };
  beforeAll(async () => {
    started = await start();
    admin = makeKube({ kubeconfig: started.plane.kubeconfigPath });
    await installCrds(admin);
  });
  afterAll(async () => {
    // Does not wait: the controller manager deletes the contents.
    const remove = (name: string) => admin?.send({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    await Promise.allSettled(namespaces.map(remove));
    admin?.close();
    await started?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    get plane() {
      return need(started).plane;
    },
    get admin() {
      return need(admin);
    },
    get tls() {
      return need(started).plane.tls;
    },
    async namespace({ kueue = false } = {}) {
      const name = `test-${randomBytes(4).toString("hex")}`;
      namespaces.push(name);
      await makeNamespace(need(admin), name, kueue);
      const write = async (of: Account) => {
        const token = await tokenOf(need(admin), name, `plosive-${of}`);
        const path = join(dir, `${name}-${of}.kubeconfig`);
        const { server, tls } = need(started).plane;
        writeFileSync(path, kubeconfigOf(server, tls.caFile, token));
        return path;
      };
      return {
        name,
        operatorKubeconfig: await write("operator"),
        runsKubeconfig: await write("runs"),
        apiKubeconfig: await write("api"),
      };
    },
  };
}
