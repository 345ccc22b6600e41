// Prepares a fresh control plane for Plosive: the CRDs, a namespace under Pod Security "restricted" with the service
// accounts and rights of controllers/rbac.ts, and tokens. Called by kube.ts for tests and by the operator's benchmark.
import {
  apiRules,
  kueueClusterRules,
  kueueRules,
  operatorClusterRules,
  operatorRules,
  type Rule,
  runsClusterRules,
  runsRules,
} from "../../controllers/rbac.ts";
import { crdOf } from "../../src/gen/crd.ts";
import type { Kube } from "../../src/kube/client.ts";
import type { Kind } from "../../src/schemas/kind.ts";
import { kinds } from "../../src/schemas/kinds.ts";
import { poll } from "./poll.ts";

/** Creates the CRDs, or updates those of an earlier run. */
export async function installCrds(admin: Kube): Promise<void> {
  await Promise.all(
    kinds.map((kind) => {
      const body = crdOf(kind as unknown as Kind) as { metadata: { name: string } };
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${body.metadata.name}?fieldManager=tests&force=true`;
      return admin.send({ method: "PATCH", path, body, contentType: "application/apply-patch+yaml" });
    }),
  );
  for (const kind of kinds) {
    await poll(`the API of ${kind.plural}`, () =>
      admin.send({ method: "GET", path: `/apis/plosive.dev/v1alpha1/namespaces/default/${kind.plural}` }),
    );
  }
}

/** `kueue`: adds the rights for Kueue. */
export async function makeNamespace(admin: Kube, name: string, kueue = false): Promise<void> {
  const post = (path: string, body: object) => admin.send({ method: "POST", path, body });
  const core = `/api/v1/namespaces/${name}`;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await post("/api/v1/namespaces", {
    metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  await Promise.all([
    ...["operator", "runs", "api", "worker"].map((of) =>
      post(`${core}/serviceaccounts`, { metadata: { name: `plosive-${of}` } }),
    ),
    post(`${rbac}/namespaces/${name}/roles`, { metadata: { name: "api" }, rules: apiRules }),
    post(`${rbac}/namespaces/${name}/roles`, {
      metadata: { name: "operator" },
      rules: [...operatorRules, ...(kueue ? kueueRules : [])],
    }),
    post(`${rbac}/namespaces/${name}/roles`, { metadata: { name: "runs" }, rules: runsRules }),
    post(`${rbac}/clusterroles`, {
      metadata: { name: `${name}-operator` },
      rules: [...operatorClusterRules, ...(kueue ? kueueClusterRules : [])],
    }),
    post(`${rbac}/clusterroles`, { metadata: { name: `${name}-runs` }, rules: runsClusterRules }),
  ]);
  const account = (of: string) => [{ kind: "ServiceAccount", name: `plosive-${of}`, namespace: name }];
  const apiGroup = "rbac.authorization.k8s.io";
  await Promise.all([
    ...["operator", "runs", "api"].map((of) =>
      post(`${rbac}/namespaces/${name}/rolebindings`, {
        metadata: { name: of },
        subjects: account(of),
        roleRef: { apiGroup, kind: "Role", name: of },
      }),
    ),
    ...["operator", "runs"].map((of) =>
      post(`${rbac}/clusterrolebindings`, {
        metadata: { name: `${name}-${of}` },
        subjects: account(of),
        roleRef: { apiGroup, kind: "ClusterRole", name: `${name}-${of}` },
      }),
    ),
  ]);
  // The API server learns of the bindings later than it stores them.
  const rights = { operator: operatorRules, runs: runsRules, api: apiRules };
  const clusterRights = { operator: operatorClusterRules, runs: runsClusterRules };
  await Promise.all([
    ...Object.entries(rights).map(([of, rules]) => untilAllowed(admin, name, of, rules[0], name)),
    ...Object.entries(clusterRights).map(([of, rules]) => untilAllowed(admin, name, of, rules[0])),
  ]);
}

async function untilAllowed(
  admin: Kube,
  name: string,
  of: string,
  rule: Rule | undefined,
  namespace?: string,
): Promise<void> {
  if (rule === undefined) return;
  const verb = rule.verbs[0];
  const asked =
    "nonResourceURLs" in rule
      ? { nonResourceAttributes: { path: rule.nonResourceURLs[0], verb } }
      : { resourceAttributes: { namespace, group: rule.apiGroups[0], resource: rule.resources[0], verb } };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: `system:serviceaccount:${name}:plosive-${of}`, ...asked },
  };
  await poll(`the rights of ${of}`, async () => {
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { status } = (await admin.send({ method: "POST", path, body })) as { status: { allowed: boolean } };
    return status.allowed;
  });
}

/** A token from the TokenRequest API. With a pod it is bound to that pod, as the kubelet's projected tokens are. */
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
        // Longer than any test or benchmark runs.
        expirationSeconds: 86_400,
        ...(pod === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Pod", ...pod } }),
      },
    },
  })) as { status: { token: string } };
  return request.status.token;
}

export const kubeconfigOf = (server: string, caFile: string, token: string) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server, "certificate-authority": caFile } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
