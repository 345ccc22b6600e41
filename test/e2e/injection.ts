// A policy of the cluster that changes pods at admission, as service meshes and secret managers do: pods that ask for
// it get a variable from a Secret that does not exist. Called by the end-to-end test of failures.
import { create, kubectlJson, until } from "./cluster.ts";

/** A pod with this variable in its environment asks for the policy's variable. */
export const asks = "INJECT_LICENCE";
export const secretName = "licence";
const policyName = "inject-licence";
const apiVersion = "admissionregistration.k8s.io/v1";

const policy = {
  apiVersion,
  kind: "MutatingAdmissionPolicy",
  metadata: { name: policyName },
  spec: {
    failurePolicy: "Fail",
    reinvocationPolicy: "Never",
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
    },
    matchConditions: [
      {
        name: "asks",
        expression: `object.spec.containers.exists(c, has(c.env) && c.env.exists(e, e.name == "${asks}"))`,
      },
    ],
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: {
          expression: `[JSONPatch{op: "add", path: "/spec/containers/0/env/-", value: Object.spec.containers.env{
            name: "LICENCE",
            valueFrom: Object.spec.containers.env.valueFrom{
              secretKeyRef: Object.spec.containers.env.valueFrom.secretKeyRef{name: "${secretName}", key: "key"}
            }
          }}]`,
        },
      },
    ],
  },
};

const binding = {
  apiVersion,
  kind: "MutatingAdmissionPolicyBinding",
  metadata: { name: policyName },
  spec: { policyName },
};

/** A pod that meets the Pod Security level of the namespace. */
const probe = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "probe-" },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "probe",
        image: "probe",
        env: [{ name: asks, value: "yes" }],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
    ],
  },
};

interface Probed {
  readonly spec: { readonly containers: readonly { readonly env: readonly { readonly name: string }[] }[] };
}

/** Creates the policy unless it exists, and waits until the API server applies it. */
export async function addInjection(): Promise<void> {
  const { items } = await kubectlJson<{ items: object[] }>(
    "get",
    "mutatingadmissionpolicybindings",
    `--field-selector=metadata.name=${policyName}`,
  );
  if (items.length === 0) for (const object of [policy, binding]) await create(object);
  await until("the policy to change pods", 180_000, async () => {
    const { spec } = await create<Probed>(probe, "--dry-run=server");
    return spec.containers[0]?.env.some(({ name }) => name === "LICENCE") ? true : undefined;
  });
}
