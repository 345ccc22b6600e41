// A real control plane for a test file (etcd, API server and the Job controller; no node), with Plosive's CRDs and a
// namespace under Pod Security "restricted". Called at the top of test files: `const cluster = useCluster()`.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { operatorClusterRules, operatorRules } from "../../controllers/rbac.ts";
import { crdOf } from "../../src/gen/crd.ts";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import type { Kind } from "../../src/schemas/kind.ts";
import { kinds } from "../../src/schemas/kinds.ts";
import { type ControlPlane, startControlPlane } from "../../tools/cluster/control-plane.ts";
import { poll } from "./poll.ts";

export type TestCluster = {
  readonly plane: ControlPlane;
  /** As cluster administrator. */
  readonly admin: Kube;
  /** Paths of the API server's certificate (for 127.0.0.1 and localhost) and of its authority. */
  readonly tls: { caFile: string; certFile: string; keyFile: string };
  /** A new namespace with the service accounts and exactly the rights of controllers/rbac.ts. */
  namespace(): Promise<TestNamespace>;
};

export type TestNamespace = {
  readonly name: string;
  /** kubeconfig of the operator's service account: it may do what rbac.ts says and nothing else. */
  readonly operatorKubeconfig: string;
};

/** A control plane for the calling file, started before its tests and gone after them. */
export function useCluster(): TestCluster {
  const dir = mkdtempSync(join(tmpdir(), "plosive-cluster-"));
  let plane: ControlPlane | undefined;
  let admin: Kube | undefined;
  beforeAll(async () => {
    plane = await startControlPlane({ dir: join(dir, "plane"), withControllerManager: true });
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
      const pki = join(dir, "plane", "pki");
      return {
        caFile: join(pki, "ca.crt"),
        certFile: join(pki, "apiserver.crt"),
        keyFile: join(pki, "apiserver.key"),
      };
    },
    async namespace() {
      const name = `test-${randomBytes(4).toString("hex")}`;
      await makeNamespace(need(admin), name);
      const token = await tokenOf(need(admin), name, "plosive-operator");
      const operatorKubeconfig = join(dir, `${name}.kubeconfig`);
      const caFile = join(dir, "plane", "pki", "ca.crt");
      writeFileSync(operatorKubeconfig, kubeconfigOf(need(plane).server, caFile, token));
      return { name, operatorKubeconfig };
    },
  };
}

async function installCrds(admin: Kube): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await Promise.all(
    kinds.map((kind) => admin.send({ method: "POST", path, body: crdOf(kind as unknown as Kind) })),
  );
  for (const kind of kinds) {
    await poll(`the API of ${kind.plural}`, () =>
      admin.send({ method: "GET", path: `/apis/plosive.dev/v1alpha1/namespaces/default/${kind.plural}` }),
    );
  }
}

async function makeNamespace(admin: Kube, name: string): Promise<void> {
  const post = (path: string, body: object) => admin.send({ method: "POST", path, body });
  const core = `/api/v1/namespaces/${name}`;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await post("/api/v1/namespaces", {
    metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  await Promise.all([
    post(`${core}/serviceaccounts`, { metadata: { name: "plosive-operator" } }),
    post(`${core}/serviceaccounts`, { metadata: { name: "plosive-worker" } }),
    post(`${rbac}/namespaces/${name}/roles`, { metadata: { name: "operator" }, rules: operatorRules }),
    post(`${rbac}/clusterroles`, { metadata: { name }, rules: operatorClusterRules }),
  ]);
  const subjects = [{ kind: "ServiceAccount", name: "plosive-operator", namespace: name }];
  const apiGroup = "rbac.authorization.k8s.io";
  await Promise.all([
    post(`${rbac}/namespaces/${name}/rolebindings`, {
      metadata: { name: "operator" },
      subjects,
      roleRef: { apiGroup, kind: "Role", name: "operator" },
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      subjects,
      roleRef: { apiGroup, kind: "ClusterRole", name },
    }),
  ]);
}

/** A token as the TokenRequest API gives it; with a pod it is bound to that pod, as the kubelet's projected ones are. */
export async function tokenOf(
  admin: Kube,
  namespace: string,
  serviceAccount: string,
  options: { audience?: string; pod?: { name: string; uid: string } } = {},
): Promise<string> {
  const { audience, pod } = options;
  const request = (await admin.send({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        ...(audience === undefined ? {} : { audiences: [audience] }),
        expirationSeconds: 3600,
        ...(pod === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Pod", ...pod } }),
      },
    },
  })) as { status: { token: string } };
  return request.status.token;
}

const kubeconfigOf = (server: string, caFile: string, token: string) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server, "certificate-authority": caFile } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
