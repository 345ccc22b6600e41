// The cluster's nodes as an administrator changes them: extended resources of the real node, and a node without a
// kubelet. Called by the end-to-end tests.
import { clusterName, kubectl, kubectlJson } from "./cluster.ts";
import { pool, spare } from "./profiles.ts";

/** The node offers `count` of an extended resource; 0 removes the resource. */
export async function offer(device: string, count: number): Promise<void> {
  const name = device.replace("/", "~1");
  const { status } = await kubectlJson<{ status: { capacity: Record<string, string> } }>(
    "get",
    "node",
    clusterName,
  );
  if (count === 0 && status.capacity[device] === undefined) return;
  const patch = ["capacity", "allocatable"].map((field) => ({
    op: count === 0 ? "remove" : "add",
    path: `/status/${field}/${name}`,
    ...(count === 0 ? {} : { value: String(count) }),
  }));
  await kubectl(
    ...["patch", "node", clusterName, "--subresource=status", "--type=json"],
    `--patch=${JSON.stringify(patch)}`,
  );
}

/** A node without a kubelet that claims to be ready, so that no pod ever runs on it. Its taint keeps other pods away. */
export function emptyNode(name: string): object {
  const space = { cpu: "4", memory: "8Gi", "ephemeral-storage": "10Gi", pods: "10" };
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "ready" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { [pool]: "spare", "kubernetes.io/hostname": name } },
    spec: { taints: [{ key: spare, effect: "NoSchedule" }] },
    status: {
      capacity: space,
      allocatable: space,
      conditions: [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }],
    },
  };
}
