// Kueue's Workload, which represents a Job in Kueue's queue, and its translation into an admission. Pure. Used by
// queueing.ts on the cache that workloads.ts fills.
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import type { Admission } from "../job/queueing.ts";

export const kueueGroup = "kueue.x-k8s.io";
export const queueLabel = "kueue.x-k8s.io/queue-name";
export const priorityLabel = "kueue.x-k8s.io/priority-class";

type WorkloadCondition = { type: string; status: string; reason?: string; message?: string };

export type Workload = KubeObject & {
  spec?: { active?: boolean; queueName?: string };
  status?: { conditions?: WorkloadCondition[] };
};

export const workloadType = (version: string): ResourceType<Workload> => ({
  apiVersion: `${kueueGroup}/${version}`,
  kind: "Workload",
  plural: "workloads",
});

/** Trims a Workload to the fields that the operator reads. It also holds a copy of the pod template. */
export function trimWorkload(workload: Workload): void {
  workload.spec = { active: workload.spec?.active, queueName: workload.spec?.queueName };
  workload.status = { conditions: workload.status?.conditions };
}

export const isFinished = ({ status }: Workload): boolean =>
  status?.conditions?.some((condition) => condition.type === "Finished" && condition.status === "True") ??
  false;

/**
 * Translates the state of a Workload into the admission of its job. `before` is the current condition: its message is
 * kept when only numbers differ, which saves a status write.
 */
export function admissionOf(
  queue: string,
  workload: Workload | undefined,
  before: Condition | undefined,
): Admission {
  const pending = (message: string): Admission => {
    const same = before?.reason === "QueuePending" && shape(before.message) === shape(message);
    return { admitted: false, reason: "QueuePending", message: same ? before.message : message };
  };
  if (workload === undefined)
    return pending(`Kueue has not picked up the job yet. The job's queue is ${queue}.`);
  const of = (type: string) => workload.status?.conditions?.find((condition) => condition.type === type);
  // Kueue releases the quota of a finished Workload and reports it as not reserved. The job waits for nothing.
  if (isFinished(workload)) return { admitted: true };
  const [reserved, admitted, evicted] = [of("QuotaReserved"), of("Admitted"), of("Evicted")];
  const isEvicted = evicted?.status === "True";
  if (workload.spec?.active === false)
    return pending(sentence(isEvicted ? evicted.message : undefined, "The job's Workload is not active."));
  if (isEvicted && evicted.reason === "Preempted")
    return { admitted: false, reason: "Preempted", message: sentence(evicted.message, "Preempted.") };
  if (admitted?.status === "True" && !isEvicted) return { admitted: true };
  if (reserved?.status === "True" && !isEvicted)
    return pending("Kueue has reserved the quota. Its admission checks are not finished.");
  return pending(sentence(reserved?.message, sentence(evicted?.message, "The job waits in its queue.")));
}

const sentence = (text: string | undefined, otherwise: string) => (text ? text.slice(0, 1000) : otherwise);

/** A message without its numbers and quantities. */
const shape = (text: string) => text.replace(/\d+(\.\d+)?([numkMGTPE]i?)?/g, "#");
