// Decides when a job may run: Kueue admits it where Kueue is installed and the job has a queue, otherwise the
// operator's own gate. Created by operator.ts on the leader; called by the job engine. docs/queueing.md describes what
// users see.
import type { Kube } from "../../src/kube/client.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { type JobKind, jobKindNames, parseRunName } from "../../src/schemas/job-kind.ts";
import type { Caches } from "../caches.ts";
import type { JobResource } from "../job/adapter.ts";
import type { CachedJob } from "../job/cached-job.ts";
import { labels } from "../job/child.ts";
import { hasEnded } from "../job/decide.ts";
import type { Admission, Queueing } from "../job/queueing.ts";
import { conditionOf, isTrue } from "../runtime/conditions.ts";
import { type Candidate, type Limits, makeFairGate } from "./fair-gate.ts";
import { makePriorityClasses } from "./priority.ts";
import { admissionOf, isFinished, priorityLabel, queueLabel } from "./workload.ts";
import type { Workloads } from "./workloads.ts";

const suspended: Admission = {
  admitted: false,
  reason: "SuspendRequested",
  message: "The job is suspended and not in the queue.",
};

/** Annotation of a Workload that the operator made inactive. */
const suspendedMark = "plosive.dev/suspended";

export async function makeQueueing(options: {
  kube: Kube;
  caches: Caches;
  workloads: Workloads;
  limits: Limits;
  /** LocalQueue of jobs that name none. Empty: Kueue does not decide about those. */
  queueName: string;
  now: () => number;
}): Promise<Queueing> {
  const { kube, caches, limits, queueName } = options;
  const kueue = options.workloads.found();
  const priorities = makePriorityClasses(options);
  const listeners: ((kind: JobKind, name: string) => void)[] = [];
  const notify = (kind: JobKind, name: string) => {
    for (const listener of listeners) listener(kind, name);
  };
  const gate = makeFairGate(limits, ({ kind, name }) => notify(kind, name));

  const queueOf = (cr: JobResource) => cr.spec.queueName ?? (queueName || undefined);
  /** Whether Kueue decides about the job. This never changes after its Job is created. */
  const isManagedByKueue = (cr: JobResource, child: CachedJob | undefined) =>
    kueue !== undefined &&
    (child === undefined ? queueOf(cr) : child.metadata.labels?.[queueLabel]) !== undefined;
  /** Returns the unfinished Workload of a Job: Kueue creates another one when a running Job changes. */
  const workloadOf = (child: CachedJob | undefined) => {
    const all = kueue?.store.by("job", child?.metadata.uid ?? "") ?? [];
    return all.find((workload) => !isFinished(workload)) ?? all[0];
  };
  const mayWait = (cr: JobResource) =>
    !hasEnded(cr) && cr.metadata.deletionTimestamp === undefined && !cr.spec.suspend;

  function candidateOf(kind: JobKind, cr: JobResource, priority: number): Candidate {
    const { name, uid = "", creationTimestamp: createdAt = "" } = cr.metadata;
    return { uid, kind, name, tenant: cr.spec.tenantId, priority, createdAt };
  }
  async function priorityOf({ spec }: JobResource): Promise<number> {
    return spec.priorityClassName === undefined
      ? 0
      : ((await priorities.valueOf(spec.priorityClassName)) ?? 0);
  }

  for (const kind of jobKindNames) {
    caches.resources[kind].onChange(({ object, deleted }) => {
      if (deleted || !mayWait(object)) gate.leave(object.metadata.uid ?? "");
    });
  }
  kueue?.store.onChange(({ object }) => {
    const job = caches.jobs.get(object.metadata.ownerReferences?.[0]?.name ?? "");
    const name = job?.metadata.labels?.[labels.job];
    const run = job && parseRunName(job.metadata.name);
    if (run !== undefined && name !== undefined) notify(run.kind, name);
  });
  await restoreGate();

  /** Restores the gate after a change of leader: admitted jobs keep running, and waiting jobs keep their messages. */
  async function restoreGate(): Promise<void> {
    const open = jobKindNames.flatMap((kind) =>
      [...caches.resources[kind].values()].filter(mayWait).map((cr) => ({ kind, cr })),
    );
    const waiting: typeof open = [];
    for (const { kind, cr } of open) {
      const child = caches.jobs
        .by("owner", cr.metadata.uid ?? "")
        .find(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (isManagedByKueue(cr, child)) continue;
      const runs = isTrue(cr.status?.conditions, "QuotaReserved") || child?.spec.suspend === false;
      if (runs) gate.hold(candidateOf(kind, cr, 0));
      else if (waitingMessageOf(cr) !== undefined) waiting.push({ kind, cr });
    }
    const known: { job: Candidate; message: string }[] = [];
    for (const { kind, cr } of waiting) {
      const priority = await priorityOf(cr).catch(() => undefined);
      const present = caches.resources[kind].get(cr.metadata.name);
      if (present === undefined || present.metadata.uid !== cr.metadata.uid || !mayWait(present)) continue;
      // A job whose priority class could not be fetched joins the queue in its next reconcile.
      if (priority !== undefined)
        known.push({ job: candidateOf(kind, cr, priority), message: waitingMessageOf(cr) ?? "" });
    }
    gate.restore(known);
  }

  async function askGate(kind: JobKind, cr: JobResource): Promise<Admission> {
    const job = candidateOf(kind, cr, await priorityOf(cr));
    // The job may have left while its priority class was fetched. It must not join the queue again.
    const present = caches.resources[kind].get(job.name);
    if (present?.metadata.uid !== job.uid || !mayWait(present)) return suspended;
    const answer = gate.ask(job, waitingMessageOf(cr));
    return answer === true
      ? { admitted: true }
      : { admitted: false, reason: "WaitingForQuota", message: answer };
  }

  return {
    async ask(kind, cr, child) {
      if (!isManagedByKueue(cr, child))
        return { admission: cr.spec.suspend ? suspended : await askGate(kind, cr) };
      gate.leave(cr.metadata.uid ?? "");
      const workload = workloadOf(child);
      const before = conditionOf(cr.status?.conditions, "QuotaReserved");
      const present = child?.metadata.labels?.[queueLabel] ?? queueOf(cr) ?? "";
      const fromKueue = kueue!.isSynced()
        ? admissionOf(present, workload, before)
        : previousAdmission(before);
      const admission = cr.spec.suspend ? suspended : fromKueue;
      const wanted = cr.spec.queueName;
      // Kueue does not allow a running Job to change its queue.
      const moves =
        child?.spec.suspend === true && !fromKueue.admitted && wanted !== undefined && wanted !== present;
      return {
        admission,
        kueue: {
          active: workload === undefined ? undefined : workload.spec?.active !== false,
          suspended: workload?.metadata.annotations?.[suspendedMark] === "true",
          ...(moves ? { queue: wanted } : {}),
        },
      };
    },

    leave: (cr) => gate.leave(cr.metadata.uid ?? ""),

    async settingsOf(cr) {
      const { priorityClassName: name } = cr.spec;
      const version = kueue?.type.apiVersion.split("/")[1] ?? "";
      const usesKueue = isManagedByKueue(cr, undefined);
      const [ofPods, ofWorkload] =
        name === undefined
          ? []
          : await Promise.all([
              priorities.valueOf(name),
              usesKueue ? priorities.workloadValueOf(name, version) : undefined,
            ]);
      if (name !== undefined && ofPods === undefined && ofWorkload === undefined) return undefined;
      return {
        suspend: usesKueue,
        labels: {
          ...(usesKueue ? { [queueLabel]: queueOf(cr)! } : {}),
          ...(name !== undefined && ofWorkload !== undefined ? { [priorityLabel]: name } : {}),
        },
        ...(ofPods === undefined ? {} : { priorityClassName: name }),
      };
    },

    async activate(child, active) {
      const workload = workloadOf(child);
      if (workload === undefined) return;
      // One patch for both, so that after a crash the next leader knows who made the Workload inactive.
      const metadata = { annotations: { [suspendedMark]: active ? null : "true" } };
      await kube.patch(kueue!.type, workload.metadata, { metadata, spec: { active } });
    },

    async move(child, queue) {
      const metadata = { labels: { [queueLabel]: queue } };
      caches.jobs.set(await kube.patch(jobType, child.metadata, { metadata }));
    },

    onAdmissionChange: (listener) => void listeners.push(listener),
  };
}

/** While Kueue's Workloads cannot be read, for example while Kueue is down, the last known admission stays. */
function previousAdmission(before: Condition | undefined): Admission {
  if (before?.status === "True") return { admitted: true };
  const message = before?.message ?? "The operator cannot read Kueue's Workloads at the moment.";
  return { admitted: false, reason: before?.reason ?? "QueuePending", message };
}

/** The message that the gate gave the job when it joined the queue; undefined when it does not wait there. */
function waitingMessageOf(cr: JobResource): string | undefined {
  const reserved = conditionOf(cr.status?.conditions, "QuotaReserved");
  return reserved?.reason === "WaitingForQuota" ? reserved.message : undefined;
}
