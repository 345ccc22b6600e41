// A Kueue queue with room for a given number of pods, in which higher priorities preempt, and a priority above all
// others. For the tests with Kueue: the objects, in the order of their creation.
import type { Kube } from "../../src/kube/client.ts";

const apiVersion = "kueue.x-k8s.io/v1beta2";
export const queueName = "voices";
export const urgent = "urgent";

export type KueueObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  [member: string]: unknown;
};

export function queueObjects(namespace: string, pods: number): KueueObject[] {
  const object = (kind: string, name: string, more: object = {}): KueueObject => ({
    apiVersion,
    kind,
    metadata: { name },
    ...more,
  });
  const resources = [
    { name: "pods", nominalQuota: pods },
    { name: "cpu", nominalQuota: 1000 },
    { name: "memory", nominalQuota: "1000Gi" },
    // The queue must cover every resource that a pod requests.
    { name: "nvidia.com/gpu", nominalQuota: 1000 },
  ];
  return [
    object("ResourceFlavor", "default"),
    object("ClusterQueue", queueName, {
      spec: {
        namespaceSelector: {},
        preemption: { withinClusterQueue: "LowerPriority" },
        resourceGroups: [
          {
            coveredResources: resources.map(({ name }) => name),
            flavors: [{ name: "default", resources }],
          },
        ],
      },
    }),
    object("LocalQueue", queueName, {
      metadata: { name: queueName, namespace },
      spec: { clusterQueue: queueName },
    }),
    object("WorkloadPriorityClass", urgent, { value: 1000 }),
  ];
}

export async function createQueue(admin: Kube, namespace: string, pods: number): Promise<void> {
  for (const object of queueObjects(namespace, pods)) {
    const { apiVersion, kind, metadata } = object;
    const folder = metadata.namespace === undefined ? "" : `namespaces/${metadata.namespace}/`;
    const plural = `${kind.toLowerCase()}s`.replace("classs", "classes");
    await admin.send({ method: "POST", path: `/apis/${apiVersion}/${folder}${plural}`, body: object });
  }
}
