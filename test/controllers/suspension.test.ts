// What a suspension does to a job's deadlines: neither waiting nor running counts while it lasts, also in the reconcile
// that ends it, whose status still says "suspended". No server is needed, because the decisions are pure.
import { describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { decide, type Facts } from "../../controllers/job/decide.ts";
import { openStatus } from "../../controllers/job/status.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const tenantId = "00000000-0000-4000-8000-0000000000aa";
const name = "tj-00000000-0000-4000-8000-000000000001";
const runningPod: Pod = { metadata: { name: "p", namespace: "n" }, status: { phase: "Running" } };

const said = (type: "Progressing" | "Suspended", status: "True" | "False", seconds: number) => ({
  type,
  status,
  reason: "SuspendRequested" as const,
  message: "",
  observedGeneration: 1,
  lastTransitionTime: ago(seconds),
});

/** A job with 1000 s to run and 100 s to wait, whose Job is there. */
function facts(status: JobStatus, { suspend = false, jobSuspended = false, pods = [] as Pod[] } = {}): Facts {
  const spec = {
    tenantId,
    suspend,
    shards: { count: 1, parallelism: 1 },
    retries: { perShard: 2, infraPerShard: 10, maxFailedShards: 0 },
    activeDeadlineSeconds: 1000,
    pendingDeadlineSeconds: 100,
    progressDeadlineSeconds: 200,
    profile: "default",
  };
  const row: Facts["row"] = {
    id: name.slice(3),
    tenant_id: tenantId,
    status: "running",
    status_message: null,
    error_message: null,
    progress_percent: 0,
    platform_job_name: `${name}-1`,
    submitted: true,
    pod_seconds: 0,
    cpu_seconds: 0,
    gpu_seconds: 0,
    audio_seconds: 0,
  };
  return {
    job: name,
    now,
    cr: { metadata: { name, namespace: "n", uid: "u", generation: 2 }, spec, status } as JobResource,
    row,
    child: {
      metadata: { name: `${name}-1`, namespace: "n", uid: "j" },
      spec: { parallelism: 1, suspend: jobSuspended, template: { spec: {} } },
      status: {},
    },
    pods,
    progress: [],
    ingested: new Set(),
    bad: new Map(),
    metrics: [],
    checkpoints: false,
    checkpoint: undefined,
    failedPods: [],
    listeningSince: now,
    admission: { admitted: true },
    profileKnown: true,
  };
}

describe("a job that is being resumed", () => {
  it("waits for its pods anew, however long it was suspended", () => {
    const conditions = [said("Progressing", "False", 5000), said("Suspended", "True", 5000)];
    expect(decide(facts({ conditions }, { jobSuspended: true }))).toMatchObject({
      kind: "patch",
      suspend: false,
    });
  });

  it("has the running time left that it had", () => {
    const status = { startTime: ago(5900), conditions: [said("Suspended", "True", 5000)] };
    expect(decide(facts(status, { jobSuspended: true }))).toMatchObject({ kind: "patch", suspend: false });
  });
});

describe("the time of suspensions", () => {
  const status = {
    startTime: ago(1500),
    suspendedSeconds: 100,
    conditions: [said("Suspended", "True", 600)],
  };

  it("is added up once, when one is over", () => {
    expect(openStatus(facts(status, { suspend: true }), { kind: "wait" }).suspendedSeconds).toBe(100);
    const resumed = openStatus(facts(status), { kind: "wait" });
    expect(resumed.suspendedSeconds).toBe(700);
    const later = { ...facts(resumed), now: now + 60_000 };
    expect(openStatus(later, { kind: "wait" }).suspendedSeconds).toBe(700);
  });

  it("does not count before the first pod ran", () => {
    const { startTime: _, suspendedSeconds: __, ...unstarted } = status;
    expect(openStatus(facts(unstarted), { kind: "wait" }).suspendedSeconds ?? 0).toBe(0);
  });

  it.each([
    [1699, "wait"],
    [1701, "end"],
  ])("shifts the run deadline: after %d s the job comes to %s", (seconds, kind) => {
    const over = { startTime: ago(seconds), suspendedSeconds: 700 };
    expect(decide(facts(over, { pods: [runningPod] })).kind).toBe(kind);
  });
});
