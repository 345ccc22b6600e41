// The metrics of jobs, without servers: counters that change with a status, and gauges that read the informer caches.
import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { registerCacheMetrics } from "../../controllers/job/cache-metrics.ts";
import { type JobMetrics, makeJobMetrics } from "../../controllers/job/metrics.ts";
import { Store } from "../../controllers/runtime/store.ts";
import type { Job } from "../../src/kube/objects.ts";
import type { Condition, ConditionReason } from "../../src/schemas/condition.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { ago, child, now, resource, said } from "../support/facts.ts";

let registry: Registry;
let metrics: JobMetrics;
beforeEach(() => {
  registry = new Registry();
  metrics = makeJobMetrics(registry);
});

/** Sum of the values that have these labels. */
async function value(name: string, labels: Record<string, string> = {}): Promise<number> {
  // The collect() of the first gauge sets the others, too.
  await registry.getSingleMetric("plosive_jobs")?.get();
  const metric = name.replace(/_(count|sum)$/, "");
  const { values } = (await registry.getSingleMetric(metric)!.get()) as {
    values: { metricName?: string; value: number; labels: Record<string, string | number> }[];
  };
  return values
    .filter((one) => (one.metricName ?? metric) === name)
    .filter((one) => Object.entries(labels).every(([key, text]) => one.labels[key] === text))
    .reduce((sum, one) => sum + one.value, 0);
}

function turn(before: Partial<JobStatus> | undefined, after: Partial<JobStatus>, createdAgo = 100): void {
  const cr = resource({}, before);
  cr.metadata.creationTimestamp = ago(createdAgo);
  metrics.statusWritten("training", cr, { ...before, ...after });
}

it("the time to a Kubernetes Job counts for jobs that nothing held back", async () => {
  const created = (status: Partial<JobStatus> | undefined) => {
    const cr = resource({}, status);
    cr.metadata.creationTimestamp = ago(7);
    metrics.jobCreated("training", cr, ago(4));
  };
  created(undefined);
  created({ phase: "Waiting" });
  expect(await value("plosive_job_create_seconds_count", { kind: "training" })).toBe(1);
  expect(await value("plosive_job_create_seconds_sum", { kind: "training" })).toBe(3);
});

const stopped = (reason: ConditionReason, seconds: number): Condition => ({
  type: "Progressing",
  status: "False",
  reason,
  message: "",
  observedGeneration: 1,
  lastTransitionTime: ago(seconds),
});

describe("a new status", () => {
  it("records the wait for admission, the wait for a pod, and the run time without suspensions, each once", async () => {
    turn({}, { admittedTime: ago(90) });
    turn({ admittedTime: ago(90) }, { startTime: ago(70) });
    const running = { admittedTime: ago(90), startTime: ago(70), phase: "Running" } as const;
    turn(running, { suspendedSeconds: 15 });
    turn({ ...running, suspendedSeconds: 15 }, { phase: "Succeeded", completionTime: ago(10) });
    for (const [step, seconds] of [
      ["queue", 10],
      ["start", 20],
      ["run", 45],
    ] as const) {
      expect(await value(`plosive_job_${step}_seconds_count`, { kind: "training" }), step).toBe(1);
      expect(await value(`plosive_job_${step}_seconds_sum`, { kind: "training" }), step).toBe(seconds);
    }
  });

  it("records no run time for a job that never ran", async () => {
    turn({ admittedTime: ago(90) }, { phase: "Cancelled", completionTime: ago(1) });
    expect(await value("plosive_job_run_seconds_count")).toBe(0);
    expect(await value("plosive_jobs_finished_total", { outcome: "cancelled", failure_class: "" })).toBe(1);
  });

  it("counts an end once, with the class of the failure", async () => {
    const failure = { class: "Infra", code: "disrupted", message: "Gone.", retryable: true } as const;
    turn({ phase: "Running" }, { phase: "Failed", failure });
    turn({ phase: "Failed", failure }, { phase: "Failed" });
    expect(await value("plosive_jobs_finished_total", { outcome: "failed", failure_class: "Infra" })).toBe(1);
    expect(await value("plosive_jobs_finished_total")).toBe(1);
  });

  it("counts the usage since the previous status", async () => {
    const usage = (audioSeconds: number, gpuSeconds: number) => ({
      usage: { audioSeconds, gpuSeconds, podSeconds: 0, cpuSeconds: 0 },
    });
    turn({}, usage(30, 5));
    turn(usage(30, 5), usage(100, 8));
    turn(usage(100, 8), { phase: "Succeeded" });
    expect(await value("plosive_audio_seconds_processed_total", { kind: "training" })).toBe(100);
    expect(await value("plosive_gpu_seconds_total", { kind: "training" })).toBe(8);
  });
});

describe("a gauge of the caches", () => {
  const resources = () => ({
    training: new Store<JobResource>(),
    inference: new Store<JobResource>(),
    embedding: new Store<JobResource>(),
  });
  const put = (
    store: Store<JobResource>,
    name: string,
    status: Partial<JobStatus>,
    metadata: object = {},
  ) => {
    const cr = resource({}, status);
    store.set({
      ...cr,
      metadata: { ...cr.metadata, name, uid: name, creationTimestamp: ago(500), ...metadata },
    });
  };
  const watch = (stores = resources(), jobs = new Store<Job>({ resource: () => "ended" })) => {
    registerCacheMetrics(registry, { resources: stores, jobs, now: () => now });
    return { stores, jobs };
  };

  it("counts jobs by phase, and is 0 for a phase without jobs", async () => {
    const { stores } = watch();
    put(stores.training, "a", { phase: "Running" });
    put(stores.training, "b", { phase: "Running" });
    put(stores.inference, "c", {});
    expect(await value("plosive_jobs", { kind: "training", phase: "Running" })).toBe(2);
    expect(await value("plosive_jobs", { kind: "inference", phase: "Pending" })).toBe(1);
    for (const one of [...stores.training.values()]) stores.training.delete(one);
    expect(await value("plosive_jobs", { phase: "Running" })).toBe(0);
    expect(await value("plosive_jobs")).toBe(1);
  });

  it("shows the reasons why open jobs wait, and the longest wait", async () => {
    const { stores } = watch();
    const unschedulable = stopped("Unschedulable", 40);
    put(stores.training, "a", { phase: "Waiting", conditions: [unschedulable], pendingSince: ago(40) });
    put(stores.training, "b", { phase: "Waiting", pendingSince: ago(70) });
    put(stores.training, "c", { phase: "Pending", heldSince: ago(300) });
    put(stores.training, "d", { phase: "Suspended", heldSince: ago(9_000) });
    const refused = said("Accepted", "False", 9_000);
    put(stores.training, "e", { phase: "Pending", conditions: [refused], heldSince: ago(9_000) });
    // Nothing has looked at it yet.
    put(stores.inference, "f", {});
    expect(await value("plosive_jobs_not_progressing", { reason: "Unschedulable" })).toBe(1);
    expect(await value("plosive_jobs_oldest_wait_seconds", { kind: "training", phase: "Waiting" })).toBe(70);
    expect(await value("plosive_jobs_oldest_wait_seconds", { kind: "training", phase: "Pending" })).toBe(300);
    expect(await value("plosive_jobs_oldest_wait_seconds", { kind: "inference", phase: "Pending" })).toBe(
      500,
    );
    put(stores.training, "a", { phase: "Running" }, { resourceVersion: "2" });
    expect(await value("plosive_jobs_not_progressing", { reason: "Unschedulable" })).toBe(0);
  });

  it("shows an ended Job whose resource does not have the end, until it does", async () => {
    const { stores, jobs } = watch();
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: ago(33) }];
    const job = child({ conditions });
    jobs.set(job);
    const status = { phase: "Running", runId: job.metadata.name } as const;
    put(stores.inference, "ended", status);
    expect(await value("plosive_status_overdue_seconds", { kind: "inference" })).toBe(33);
    const end = { ...status, phase: "Succeeded", conditions: [said("Succeeded", "True", 1)] } as const;
    put(stores.inference, "ended", { ...end, conditions: [...end.conditions] }, { resourceVersion: "2" });
    expect(await value("plosive_status_overdue_seconds")).toBe(0);
  });

  it("ignores the end of an older run", async () => {
    const { stores, jobs } = watch();
    jobs.set(child({ conditions: [{ type: "Failed", status: "True", lastTransitionTime: ago(33) }] }));
    put(stores.inference, "ended", { phase: "Running", runId: "a-newer-run" });
    expect(await value("plosive_status_overdue_seconds")).toBe(0);
  });

  it("shows a deletion that is held up", async () => {
    const { stores } = watch();
    put(stores.embedding, "a", { phase: "Succeeded" }, { deletionTimestamp: ago(700) });
    expect(await value("plosive_deletion_overdue_seconds", { kind: "embedding" })).toBe(700);
  });
});
