// When a job may run: Kueue's word where it is installed and the job has a queue, else that of the operator's own gate.
// Made by operator.ts on the replica that leads; asked by job/reconcile.ts. docs/queueing.md says what users see.
import type { Kube } from "../../src/kube/client.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Job } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { type JobKind, jobKindNames, parseRunName } from "../../src/schemas/job-kind.ts";
import type { Caches } from "../caches.ts";
import type { JobResource } from "../job/adapter.ts";
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
  message: "The job is suspended: it has no place in the queue.",
};

/** On a Workload that we made inactive. */
const suspendedMark = "plosive.dev/suspended";

export async function makeQueueing(options: {
  kube: Kube;
  caches: Caches;
  workloads: Workloads;
  limits: Limits;
  /** Of jobs that name none; empty: they are not Kueue's. */
  queueName: string;
  now: () => number;
}): Promise<Queueing> {
  const { kube, caches, limits, queueName } = options;
  const kueue = options.workloads.found();
  const priorities = makePriorityClasses(options);
  const listeners: ((kind: JobKind, name: string) => void)[] = [];
  const tell = (kind: JobKind, name: string) => {
    for (const listener of listeners) listener(kind, name);
  };
  const gate = makeFairGate(limits, ({ kind, name }) => tell(kind, name));

  const queueOf = (cr: JobResource) => cr.spec.queueName ?? (queueName || undefined);
  /** A Job that was made for Kueue stays its; one that was made without it stays ours. */
  const isKueues = (cr: JobResource, child: Job | undefined) =>
    kueue !== undefined &&
    (child === undefined ? queueOf(cr) : child.metadata.labels?.[queueLabel]) !== undefined;
  /** When a Job is changed while it runs, Kueue makes another Workload for it. */
  const workloadOf = (child: Job | undefined) => {
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
    if (run !== undefined && name !== undefined) tell(run.kind, name);
  });
  await restoreGate();

  /** What a former leader let through runs on, and what it let wait keeps its turn. */
  async function restoreGate(): Promise<void> {
    const open = jobKindNames.flatMap((kind) =>
      [...caches.resources[kind].values()].filter(mayWait).map((cr) => ({ kind, cr })),
    );
    const waiting: typeof open = [];
    for (const { kind, cr } of open) {
      const child = caches.jobs
        .by("owner", cr.metadata.uid ?? "")
        .find(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (isKueues(cr, child)) continue;
      const runs = isTrue(cr.status?.conditions, "QuotaReserved") || child?.spec.suspend === false;
      if (runs) gate.hold(candidateOf(kind, cr, 0));
      else if (wordsOf(cr) !== undefined) waiting.push({ kind, cr });
    }
    for (const { kind, cr } of waiting) {
      const priority = await priorityOf(cr).catch(() => undefined);
      const present = caches.resources[kind].get(cr.metadata.name);
      if (present === undefined || present.metadata.uid !== cr.metadata.uid || !mayWait(present)) continue;
      // Whose class is not known now asks when it is looked at.
      if (priority !== undefined) gate.ask(candidateOf(kind, cr, priority), wordsOf(cr));
    }
  }

  async function askGate(kind: JobKind, cr: JobResource): Promise<Admission> {
    const job = candidateOf(kind, cr, await priorityOf(cr));
    // What came in while the class was asked for counts: a job that left must not come back.
    const present = caches.resources[kind].get(job.name);
    if (present?.metadata.uid !== job.uid || !mayWait(present)) return suspended;
    const answer = gate.ask(job, wordsOf(cr));
    return answer === true
      ? { admitted: true }
      : { admitted: false, reason: "WaitingForQuota", message: answer };
  }

  return {
    async ask(kind, cr, child) {
      if (!isKueues(cr, child)) return { admission: cr.spec.suspend ? suspended : await askGate(kind, cr) };
      gate.leave(cr.metadata.uid ?? "");
      const workload = workloadOf(child);
      const before = conditionOf(cr.status?.conditions, "QuotaReserved");
      const present = child?.metadata.labels?.[queueLabel] ?? queueOf(cr) ?? "";
      const told = kueue!.isSynced() ? admissionOf(present, workload, before) : previousAdmission(before);
      const admission = cr.spec.suspend ? suspended : told;
      const wanted = cr.spec.queueName;
      // Kueue lets no running Job change its queue.
      const moves =
        child?.spec.suspend === true && !told.admitted && wanted !== undefined && wanted !== present;
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
      const kueues = isKueues(cr, undefined);
      const [ofPods, ofWorkload] =
        name === undefined
          ? []
          : await Promise.all([
              priorities.valueOf(name),
              kueues ? priorities.workloadValueOf(name, version) : undefined,
            ]);
      if (name !== undefined && ofPods === undefined && ofWorkload === undefined) return undefined;
      return {
        suspend: kueues,
        labels: {
          ...(kueues ? { [queueLabel]: queueOf(cr)! } : {}),
          ...(name !== undefined && ofWorkload !== undefined ? { [priorityLabel]: name } : {}),
        },
        ...(ofPods === undefined ? {} : { priorityClassName: name }),
      };
    },

    async activate(child, active) {
      const workload = workloadOf(child);
      if (workload === undefined) return;
      // Both in one: whoever comes after a crash knows whose suspension it is.
      const metadata = { annotations: { [suspendedMark]: active ? null : "true" } };
      await kube.patch(kueue!.type, workload.metadata, { metadata, spec: { active } });
    },

    async move(child, queue) {
      const metadata = { labels: { [queueLabel]: queue } };
      caches.jobs.set(await kube.patch(jobType, child.metadata, { metadata }));
    },

    onAdmitted: (listener) => void listeners.push(listener),
  };
}

/** While Kueue's Workloads cannot be read, as while it is down, what was last said of a job stays. */
function previousAdmission(before: Condition | undefined): Admission {
  if (before?.status === "True") return { admitted: true };
  const message = before?.message ?? "Kueue cannot be asked at the moment.";
  return { admitted: false, reason: before?.reason ?? "QueuePending", message };
}

/** What the job was told when it began to wait. */
function wordsOf(cr: JobResource): string | undefined {
  const reserved = conditionOf(cr.status?.conditions, "QuotaReserved");
  return reserved?.reason === "WaitingForQuota" ? reserved.message : undefined;
}
