// A real control plane for a test file (etcd, API server and the Job controller; no node), with Plosive's CRDs and a
// namespace under Pod Security "restricted". Called at the top of test files: `const cluster = useCluster()`.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control-plane.ts";
import { type Asked, askedBy, auditFlags, requestsBy } from "./audit.ts";
import { installCrds, kubeconfigOf, makeNamespace, tokenOf } from "./namespace.ts";

export { tokenOf };

export type TestCluster = {
  readonly plane: ControlPlane;
  /** As cluster administrator. */
  readonly admin: Kube;
  readonly tls: ControlPlane["tls"];
  /** A new namespace with the service accounts and exactly the rights of controllers/rbac.ts. */
  namespace(options?: { kueue?: boolean }): Promise<TestNamespace>;
  /** What the operator or the API of a namespace asked of the API server so far; only with `audit`. */
  asked(namespace: TestNamespace, of: "operator" | "api"): Asked;
  /** Each of its requests so far, in order; only with `audit`. */
  requests(namespace: TestNamespace, of: "operator" | "api"): string[];
};

export type TestNamespace = {
  readonly name: string;
  /** kubeconfig of the operator's service account: it may do what rbac.ts says and nothing else. */
  readonly operatorKubeconfig: string;
  /** The same of the API. */
  readonly apiKubeconfig: string;
};

/** A control plane for the calling file, started before its tests and gone after them. */
export function useCluster({ audit = false } = {}): TestCluster {
  const dir = mkdtempSync(join(tmpdir(), "plosive-cluster-"));
  let plane: ControlPlane | undefined;
  let admin: Kube | undefined;
  beforeAll(async () => {
    const flags: Record<string, string[]> = audit ? { "kube-apiserver": auditFlags(dir) } : {};
    plane = await startControlPlane({ dir: join(dir, "plane"), withControllerManager: true, flags });
    admin = makeKube({ kubeconfig: plane.kubeconfigPath });
    await installCrds(admin);
  });
  afterAll(async () => {
    admin?.close();
    await plane?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const need = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the control plane exists only while tests run");
    return value;
  };
  return {
    get plane() {
      return need(plane);
    },
    get admin() {
      return need(admin);
    },
    get tls() {
      return need(plane).tls;
    },
    asked: ({ name }, of) => askedBy(dir, `system:serviceaccount:${name}:plosive-${of}`),
    requests: ({ name }, of) => requestsBy(dir, `system:serviceaccount:${name}:plosive-${of}`),
    async namespace({ kueue = false } = {}) {
      const name = `test-${randomBytes(4).toString("hex")}`;
      await makeNamespace(need(admin), name, kueue);
      const write = async (of: "operator" | "api") => {
        const token = await tokenOf(need(admin), name, `plosive-${of}`);
        const path = join(dir, `${name}-${of}.kubeconfig`);
        const { server, tls } = need(plane);
        writeFileSync(path, kubeconfigOf(server, tls.caFile, token));
        return path;
      };
      return { name, operatorKubeconfig: await write("operator"), apiKubeconfig: await write("api") };
    },
  };
}
