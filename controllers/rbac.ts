// What each part of the service may do in Kubernetes, as data beside the code that needs it. The chart says the same in
// YAML and a test compares the two; others let the operator run with exactly these rights, and compare them with what it
// and the API really ask for.
import { group } from "../src/schemas/kind.ts";

export type Rule = { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] };

/** Jobs that clients of the API ask for. */
const requestedKinds = ["inferencejobs", "trainingjobs"];
const jobKinds = ["embeddingjobs", ...requestedKinds];

/** Role of the operator in its namespace. */
export const operatorRules: Rule[] = [
  // caches.ts; submit.ts creates what the API could not; job/run.ts and job/drift.ts ask where the cache may be behind;
  // leftovers.ts deletes those of deleted jobs, job/reconcile.ts those whose time is over.
  { apiGroups: [group], resources: jobKinds, verbs: ["create", "delete", "get", "list", "watch"] },
  // sweep.ts passes cancels on; embedding jobs know none.
  { apiGroups: [group], resources: requestedKinds, verbs: ["patch"] },
  // training-job/adapter.ts creates them, model/reconcile.ts watches them, leftovers.ts deletes those of deleted models.
  { apiGroups: [group], resources: ["models"], verbs: ["create", "delete", "list", "watch"] },
  // Server-side apply of the status.
  {
    apiGroups: [group],
    resources: [...jobKinds.map((plural) => `${plural}/status`), "models/status"],
    verbs: ["patch"],
  },
  // job/reconcile.ts; patch for suspend and parallelism.
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "delete", "get", "list", "patch", "watch"] },
  // Reasons why pods wait, how they failed, and whose token the run endpoint was shown; delete for those of shards that
  // are given up.
  { apiGroups: [""], resources: ["pods"], verbs: ["delete", "get", "list", "watch"] },
  // job/record-pods.ts: pods that say nothing any more go without counting for their Job.
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  // runtime/leader.ts: its own lease and no other. The name of one to be created cannot be restricted.
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

/** ClusterRole of the operator: what has no namespace. */
export const operatorClusterRules: Rule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  // queueing/priority.ts
  { apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"], verbs: ["get"] },
];

/** Besides, where Kueue decides: queueing/workloads.ts, and queueing.ts, which patches spec.active. */
export const kueueRules: Rule[] = [
  { apiGroups: ["kueue.x-k8s.io"], resources: ["workloads"], verbs: ["list", "patch", "watch"] },
];
export const kueueClusterRules: Rule[] = [
  { apiGroups: ["kueue.x-k8s.io"], resources: ["workloadpriorityclasses"], verbs: ["get"] },
];

/** Role of the API: submit.ts only. */
export const apiRules: Rule[] = [{ apiGroups: [group], resources: requestedKinds, verbs: ["create", "get"] }];
