// The initial objects of a local cluster: the DNS Service, what the node's programs may read, the default StorageClass and its
// pre-created volumes. Called by up.ts, which applies them with kubectl.
import { join } from "node:path";
import type { ClusterPlace } from "./place.ts";

export const volumeCount = 4;
export const volumeDir = (place: ClusterPlace, index: number): string =>
  join(place.dir, "volumes", `volume-${index}`);
const volumeName = (index: number): string => `local-${index}`;

export function manifests(place: ClusterPlace): unknown[] {
  return [
    ...dns(place),
    ...readerOf("plosive:network-policy", [
      { apiGroups: [""], resources: ["nodes", "pods", "namespaces", "services", "endpoints"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"] },
    ]),
    storageClass,
    ...Array.from({ length: volumeCount }, (_, index) => volume(place, index)),
  ];
}

/** CoreDNS runs beside the kubelet and not in a pod, so the EndpointSlice of its Service contains a fixed address. */
function dns({ addresses }: ClusterPlace): unknown[] {
  const metadata = { name: "kube-dns", namespace: "kube-system" };
  return [
    ...readerOf("plosive:dns", [
      { apiGroups: [""], resources: ["services", "pods", "namespaces"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] },
    ]),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: {
        clusterIP: addresses.dnsAddress,
        ports: [
          { name: "dns", protocol: "UDP", port: 53 },
          { name: "dns-tcp", protocol: "TCP", port: 53 },
        ],
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": metadata.name } },
      addressType: "IPv4",
      endpoints: [{ addresses: [addresses.insideAddress], conditions: { ready: true } }],
      ports: [
        { name: "dns", protocol: "UDP", port: 53 },
        { name: "dns-tcp", protocol: "TCP", port: 53 },
      ],
    },
  ];
}

/** Lets a component of the node, the user of its certificate, read these objects in all namespaces. */
function readerOf(user: string, objects: readonly { apiGroups: string[]; resources: string[] }[]): unknown[] {
  const metadata = { name: user };
  const apiGroup = "rbac.authorization.k8s.io";
  return [
    {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRole",
      metadata,
      rules: objects.map((some) => ({ ...some, verbs: ["get", "list", "watch"] })),
    },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup, kind: "ClusterRole", name: user },
      subjects: [{ apiGroup, kind: "User", name: user }],
    },
  ];
}

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: "kubernetes.io/no-provisioner",
  volumeBindingMode: "WaitForFirstConsumer",
};

/** Type `local` and not hostPath: the kubelet applies the pod's fsGroup only to `local` volumes. */
function volume(place: ClusterPlace, index: number): unknown {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volumeName(index) },
    spec: {
      // Only for matching claims; a folder has no size limit.
      capacity: { storage: "50Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: storageClass.metadata.name,
      local: { path: volumeDir(place, index) },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [place.name] }] },
          ],
        },
      },
    },
  };
}
