// The trace of an ended job: a span for the job, below the request that created it, with a span for each of its stages and for pods
// that are still there. Written at once when the job ends, with the times of the status. Called by engine.ts.
import type { Pod } from "../../src/kube/objects.ts";
import { type JobStatus, traceparentAnnotation } from "../../src/schemas/job-resource.ts";
import type { Tracing } from "../../src/tracing.ts";
import type { JobResource } from "./adapter.ts";
import { workerContainer } from "./child.ts";
import { shardOf } from "./pods.ts";

export interface EndedJob {
  /** For example TrainingJob. */
  readonly kind: string;
  readonly resource: JobResource;
  /** The status that reports the end. */
  readonly status: JobStatus;
  readonly pods: readonly Pod[];
}

/** The exporter's queue holds 2,048 spans and drops further ones. Failed pods come first. */
const mostPods = 500;

const ms = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

export function traceEnd(tracing: Tracing, { kind, resource, status, pods }: EndedJob): void {
  const { metadata } = resource;
  const created = ms(metadata.creationTimestamp);
  const ended = ms(status.completionTime);
  if (created === undefined || ended === undefined) return;
  const job = tracing.begin(kind, {
    parent: metadata.annotations?.[traceparentAnnotation] ?? null,
    start: created,
    attributes: {
      "k8s.namespace.name": metadata.namespace,
      "plosive.job.name": metadata.name,
      "plosive.tenant.id": resource.spec.tenantId,
      "plosive.job.outcome": status.phase?.toLowerCase(),
      "plosive.job.attempts": status.attempt,
    },
  });
  const admitted = ms(status.admittedTime);
  const started = ms(status.startTime);
  const stage = (name: string, start: number | undefined, end: number) => {
    if (start === undefined) return undefined;
    const span = tracing.begin(name, { parent: job.traceparent, start });
    // Times of Kubernetes are in whole seconds, and clocks differ.
    span.end({ at: Math.max(start, end) });
    return span;
  };
  stage("queue", created, admitted ?? ended);
  stage("start", admitted, started ?? ended);
  const run = stage("run", started, ended);
  job.end({
    at: Math.max(created, ended),
    // Not the message, which may name files.
    error: status.phase === "Failed" ? (status.failure?.code ?? "failed") : undefined,
    attributes:
      status.failure === undefined
        ? {}
        : { "error.type": status.failure.code, "plosive.failure.class": status.failure.class },
  });
  const hasFailed = (pod: Pod) => pod.status?.phase === "Failed";
  const shown = [...pods].sort((a, b) => Number(hasFailed(b)) - Number(hasFailed(a))).slice(0, mostPods);
  for (const pod of shown) tracePod(tracing, pod, run?.traceparent ?? job.traceparent, ended);
}

function tracePod(tracing: Tracing, pod: Pod, parent: string, ended: number): void {
  const state = pod.status?.containerStatuses?.find(({ name }) => name === workerContainer)?.state;
  const start = ms(state?.terminated?.startedAt ?? state?.running?.startedAt);
  if (start === undefined) return;
  const { exitCode, finishedAt } = state?.terminated ?? {};
  tracing
    .begin("pod", {
      parent,
      start,
      attributes: {
        "k8s.pod.name": pod.metadata.name,
        "k8s.pod.uid": pod.metadata.uid,
        "k8s.node.name": pod.spec?.nodeName,
        "plosive.shard": shardOf(pod),
        "process.exit.code": exitCode,
      },
    })
    .end({
      at: Math.max(start, ms(finishedAt) ?? ended),
      error: exitCode === undefined || exitCode === 0 ? undefined : `the worker ended with code ${exitCode}`,
    });
}
