// The permissions of each part of the service in Kubernetes, as data next to the code that needs them. The chart
// repeats them in YAML, and a test compares the two. Other tests run the operator with exactly these permissions and
// compare them with the requests that the operator and the API really send.
import { group } from "../src/schemas/kind.ts";

export type Rule =
  | { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }
  | { nonResourceURLs: string[]; verbs: string[] };

/** Kinds of jobs that API clients create. */
const requestedKinds = ["inferencejobs", "trainingjobs"];
const jobKinds = ["embeddingjobs", ...requestedKinds];

/** Role of the operator in its namespace. */
export const operatorRules: Rule[] = [
  // caches.ts lists and watches. submit.ts creates resources that the API could not. job/run.ts and job/drift.ts get
  // them where the cache may be behind. purge-queue.ts deletes those of deleted jobs, job/reconcile.ts those whose TTL
  // is over.
  { apiGroups: [group], resources: jobKinds, verbs: ["create", "delete", "get", "list", "watch"] },
  // outbox.ts forwards cancel requests. Clients cannot cancel embedding jobs.
  { apiGroups: [group], resources: requestedKinds, verbs: ["patch"] },
  // training-job/adapter.ts creates them, caches.ts watches them, purge-queue.ts deletes those of deleted models.
  { apiGroups: [group], resources: ["models"], verbs: ["create", "delete", "list", "watch"] },
  // Server-side apply of the status.
  {
    apiGroups: [group],
    resources: [...jobKinds.map((plural) => `${plural}/status`), "models/status"],
    verbs: ["patch"],
  },
  // The job engine. patch: suspend and parallelism.
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "delete", "get", "list", "patch", "watch"] },
  // The engine reads why pods wait and how they failed. delete: pods of shards that are given up.
  { apiGroups: [""], resources: ["pods"], verbs: ["delete", "list", "watch"] },
  // job/record-pods.ts evicts stalled pods, because evictions do not count as failures of their Job.
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  // runtime/leader.ts: only the operator's own lease. RBAC cannot restrict `create` by name.
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["plosive-operator"],
    verbs: ["get", "update"],
  },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  // runtime/events.ts
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] },
];

/** ClusterRole of the operator: resources without a namespace. */
export const operatorClusterRules: Rule[] = [
  // queueing/priority.ts
  { apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"], verbs: ["get"] },
];

/** Added unless Kueue is turned off: queueing/workloads.ts lists and watches; queueing/queueing.ts patches spec.active. */
export const kueueRules: Rule[] = [
  { apiGroups: ["kueue.x-k8s.io"], resources: ["workloads"], verbs: ["list", "patch", "watch"] },
];
export const kueueClusterRules: Rule[] = [
  { apiGroups: ["kueue.x-k8s.io"], resources: ["workloadpriorityclasses"], verbs: ["get"] },
];

/** Role of the run endpoint: runs/authorize.ts finds the pod of a token, and its Job. It writes nothing in Kubernetes. */
export const runsRules: Rule[] = [
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
];

/** ClusterRole of the run endpoint. */
export const runsClusterRules: Rule[] = [
  // The keys that verify the tokens of worker pods. Clusters grant this to all service accounts by default.
  { nonResourceURLs: ["/openid/v1/jwks"], verbs: ["get"] },
];

/** Role of the API: submit.ts only. */
export const apiRules: Rule[] = [{ apiGroups: [group], resources: requestedKinds, verbs: ["create", "get"] }];
