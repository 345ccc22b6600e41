// Types of the built-in Kubernetes objects that Plosive uses, as in the API server's JSON, reduced to the members that
// Plosive reads or writes. Times are strings: client-node's classes hold Date after a list but strings after a watch.
import type { ObjectMeta } from "../schemas/kind.ts";

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type Meta = ObjectMeta & { ownerReferences?: OwnerReference[]; managedFields?: unknown };

export type KubeObject = { apiVersion?: string; kind?: string; metadata: Meta };

/** Names a kind for the client; T is the type of its objects. */
export type ResourceType<T extends KubeObject = KubeObject> = {
  apiVersion: string;
  kind: string;
  plural: string;
  readonly object?: T;
};

export type JobCondition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
};

export type Job = KubeObject & {
  spec: {
    completions?: number;
    parallelism?: number;
    suspend?: boolean;
    template: { metadata?: { labels?: Record<string, string> }; spec: Record<string, unknown> };
    [field: string]: unknown;
  };
  status?: {
    active?: number;
    ready?: number;
    succeeded?: number;
    failed?: number;
    terminating?: number;
    completedIndexes?: string;
    failedIndexes?: string;
    startTime?: string;
    conditions?: JobCondition[];
  };
};

export type ContainerState = {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: {
    exitCode: number;
    reason?: string;
    message?: string;
    startedAt?: string;
    finishedAt?: string;
  };
};

export type Pod = KubeObject & {
  spec?: {
    nodeName?: string;
    serviceAccountName?: string;
    containers?: {
      name: string;
      resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
    }[];
  };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: { name: string; state?: ContainerState; lastState?: ContainerState }[];
  };
};

export type Lease = KubeObject & {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
};

export type Secret = KubeObject & {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
};

export type ConfigMap = KubeObject & { data?: Record<string, string> };

export type Event = KubeObject & {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  note: string;
  type: "Normal" | "Warning";
  regarding: { apiVersion: string; kind: string; namespace: string; name: string; uid?: string };
};

export type List<T> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] };

export type WatchEvent<T> = {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
};
