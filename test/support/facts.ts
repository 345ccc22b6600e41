// Facts about a job for the tables of the pure decisions: a custom resource, its row, its child Job and pods.
import type { JobResource } from "../../controllers/job/adapter.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import type { JobRow } from "../../src/db/job.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";

export const now = Date.parse("2026-01-01T12:00:00Z");
export const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
export const tenant = "00000000-0000-4000-8000-0000000000aa";
export const name = "ij-00000000-0000-4000-8000-000000000001";

export function resource(spec: object = {}, status?: Partial<JobStatus>): JobResource {
  return {
    metadata: { name, namespace: "n", uid: "u", generation: 2 },
    spec: {
      tenantId: tenant,
      suspend: false,
      shards: { count: 3, parallelism: 2 },
      retries: { perShard: 2, infraPerShard: 10, maxFailedShards: 2 },
      activeDeadlineSeconds: 1000,
      pendingDeadlineSeconds: 100,
      progressDeadlineSeconds: 200,
      profile: "default",
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export const row = (more: Partial<JobRow> = {}): JobRow => ({
  id: name.slice(3),
  tenant_id: tenant,
  installation: defaultInstallation,
  status: "queued",
  status_message: null,
  error_message: null,
  progress_percent: 0,
  platform_job_name: null,
  submitted: true,
  resource_name: null,
  pod_seconds: 0,
  cpu_seconds: 0,
  gpu_seconds: 0,
  audio_seconds: 0,
  ...more,
});

export function child(status: Job["status"] = {}, spec: object = {}): Job {
  return {
    metadata: { name: `${name}-1`, namespace: "n", uid: "j" },
    spec: { parallelism: 2, suspend: false, template: { spec: {} }, ...spec },
    status,
  };
}
export const conditions = (type: string) => [
  { type, status: "True", reason: "Because", message: "The Job says so." },
];

export function pod(shard: number, status: Pod["status"]): Pod {
  const annotations = { "batch.kubernetes.io/job-completion-index": String(shard) };
  return { metadata: { name: `p${shard}`, namespace: "n", annotations }, status };
}
export const running = (shard: number) =>
  pod(shard, { phase: "Running", containerStatuses: [{ name: "worker", state: { running: {} } }] });
export const ended = (shard: number, exitCode: number, message?: string, reason = "Error") =>
  pod(shard, {
    phase: "Failed",
    containerStatuses: [{ name: "worker", state: { terminated: { exitCode, reason, message } } }],
  });
export const waitingFor = (reason: string, message: string) =>
  pod(0, {
    phase: "Pending",
    containerStatuses: [{ name: "worker", state: { waiting: { reason, message } } }],
  });

export const facts = (more: Partial<Facts>): Facts => ({
  job: name,
  now,
  cr: resource(),
  row: row(),
  child: undefined,
  lastAttempt: more.cr?.status?.attempt ?? 0,
  pods: [],
  earlierJobs: [],
  lostPods: [],
  progress: [],
  ingested: new Set(),
  bad: new Map(),
  metrics: [],
  checkpoints: false,
  checkpoint: undefined,
  failedPods: [],
  listeningSince: now,
  outages: [],
  admission: { admitted: true },
  profileKnown: true,
  ...more,
});

export const said = (type: string, status: string, seconds: number) =>
  ({
    type,
    status,
    reason: "WaitingForPods",
    message: "",
    observedGeneration: 1,
    lastTransitionTime: ago(seconds),
  }) as never;
export const bad = {
  class: "System",
  code: "result_missing",
  message: "No result.",
  retryable: true,
} as const;
export const cancelled = resource({ cancel: { reason: "enough" } });
