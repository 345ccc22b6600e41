// Reads the pods of a run: which ones run, why others wait, and how a shard failed. Pure; called by the whole engine.
import type { Pod } from "../../src/kube/objects.ts";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import type { FailureClass, JobStatus } from "../../src/schemas/job-resource.ts";
import { exitCodes, type Termination, termination } from "../../src/schemas/worker.ts";
import type { CachedJob } from "./cached-job.ts";
import { workerContainer } from "./child.ts";

export type Failure = NonNullable<JobStatus["failure"]>;
type Quantities = Readonly<Record<string, string>>;
export type Waiting = { reason: ConditionReason; message: string };

/** Failure codes of pods that did not fail by themselves. */
export const disrupted = "disrupted";
export const stalled = "stalled";

export const indexLabel = "batch.kubernetes.io/job-completion-index";
export const ignoredCount = "batch.kubernetes.io/job-index-ignored-failure-count";

/** The shard that a pod works on. */
export function shardOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexLabel] ?? pod.metadata.labels?.[indexLabel];
  return text === undefined ? undefined : Number(text);
}

/**
 * How many earlier pods of the shard failed without counting for the Job. The Job controller annotates each pod with
 * it.
 */
export const ignoredBefore = (pod: Pod) => Number(pod.metadata.annotations?.[ignoredCount] ?? 0);

/** Whether the pod will never run again. */
export const isEnded = (pod: Pod) => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
const workerOf = (pod: Pod) =>
  pod.status?.containerStatuses?.find(({ name }) => name === workerContainer)?.state;

/** How long a pod may outlive its grace period before its node counts as unreachable. */
const overstayMs = 60_000;

/**
 * When a pod that is being deleted counts as lost, in ms since 1970: no kubelet confirms its end, for example because
 * its node has no power. No replacement may start before the end is certain, and a lost pod must not count as running.
 */
export function lostAt(pod: Pod): number | undefined {
  const { deletionTimestamp } = pod.metadata;
  return deletionTimestamp === undefined || isEnded(pod)
    ? undefined
    : Date.parse(deletionTimestamp) + overstayMs;
}

/** Whether the pod's container runs. */
export function isRunning(pod: Pod): boolean {
  return !isEnded(pod) && (workerOf(pod)?.running !== undefined || pod.status?.phase === "Running");
}

export const isSucceeded = ({ status }: Pod): boolean => status?.phase === "Succeeded";

/** Whether a pod has started, including pods that ended between two reconciles. */
export const hasStarted = (pods: readonly Pod[]): boolean =>
  pods.some((pod) => isRunning(pod) || isSucceeded(pod) || startOf(pod) !== undefined);

const imageReasons = new Set([
  "ImagePullBackOff",
  "ErrImagePull",
  "ErrImageNeverPull",
  "InvalidImageName",
  "ImageInspectError",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

/** When the pod's container started, in ms since 1970; undefined when it never ran. */
export function startOf(pod: Pod): number | undefined {
  const state = workerOf(pod);
  const text = state?.terminated?.startedAt ?? state?.running?.startedAt;
  return text === undefined ? undefined : Date.parse(text);
}

/** When the pod's container ended, in ms since 1970; undefined when the kubelet did not report it. */
export function endTimeOf(pod: Pod): number | undefined {
  const text = workerOf(pod)?.terminated?.finishedAt;
  return text === undefined ? undefined : Date.parse(text);
}

/** Requests and limits of the worker container, from the profile at the time when the run was created. */
export function resourcesOf(pod: Pod): { requests: Quantities; limits: Quantities } {
  const { requests = {}, limits = {} } =
    pod.spec?.containers?.find(({ name }) => name === workerContainer)?.resources ?? {};
  return { requests, limits };
}

/** Why no pod runs, with the message of the scheduler or the kubelet. `lost`: pods whose end no node confirms. */
export function waitingOf(pods: readonly Pod[], lost: readonly Pod[] = []): Waiting {
  const [silent] = lost;
  if (silent !== undefined) {
    const node = silent.spec?.nodeName ?? "unknown";
    const message = `Node ${node} does not confirm the end of pod ${silent.metadata.name}, so no replacement may start. Bring the node back, delete it, or taint it node.kubernetes.io/out-of-service.`;
    return { reason: "NodeUnreachable", message };
  }
  for (const pod of pods.filter((each) => !isEnded(each))) {
    const waiting = workerOf(pod)?.waiting;
    if (waiting?.reason !== undefined && imageReasons.has(waiting.reason)) {
      return {
        reason: "ImageUnavailable",
        message: sentence(`${waiting.reason}: ${waiting.message ?? "no details"}`),
      };
    }
    const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
      return { reason: "Unschedulable", message: sentence(scheduled.message ?? "No node fits the pod.") };
    }
  }
  return { reason: "WaitingForPods", message: "Waiting for a pod to start." };
}

/**
 * Why a shard waits for a new pod, from the failure of its last one; undefined when that failure does not explain it.
 */
export function waitingAfter(failure: Failure | undefined): Waiting | undefined {
  if (failure?.code === stalled)
    return { reason: "ProgressStalled", message: `${failure.message} Its pod is replaced.` };
  if (failure?.code === disrupted) return { reason: "Preempted", message: failure.message };
  return undefined;
}

/** Parses the worker's termination log; undefined when it is not a termination of the worker contract. */
export function terminationOf(pod: Pod): Termination | undefined {
  const text = workerOf(pod)?.terminated?.message;
  if (text === undefined || !text.startsWith("{")) return undefined;
  try {
    return termination.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const byExit: Record<number, { class: FailureClass; code: string; retryable: boolean }> = {
  [exitCodes.badManifest]: { class: "User", code: "bad_manifest", retryable: false },
  [exitCodes.unusableAudio]: { class: "User", code: "unusable_audio", retryable: false },
  [exitCodes.inputMissing]: { class: "User", code: "input_missing", retryable: false },
  [exitCodes.internal]: { class: "System", code: "internal", retryable: true },
  [exitCodes.gpuOutOfMemory]: { class: "Resources", code: "gpu_out_of_memory", retryable: true },
  [exitCodes.temporary]: { class: "Infra", code: "temporary", retryable: true },
  [exitCodes.forbidden]: { class: "User", code: "forbidden", retryable: false },
  137: { class: "Infra", code: "killed", retryable: true },
  143: { class: "Infra", code: "killed", retryable: true },
};

const disruptionOf = (pod: Pod) =>
  pod.status?.conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True");

/** Message for a disrupted pod without one of its own. */
export const disruptedMessage = "The pod was preempted, evicted or lost with its node.";

/** Whether the pod was preempted, evicted or lost with its node. */
export const isDisrupted = (pod: Pod) => disruptionOf(pod) !== undefined;

/** The failure of a failed pod, with a message of at most 1000 characters. */
export function failureOf(pod: Pod): Failure {
  const ended = workerOf(pod)?.terminated;
  const shard = shardOf(pod);
  const report = terminationOf(pod);
  const taken = disruptionOf(pod);
  const place = shard === undefined ? {} : { shard };
  if (taken !== undefined) {
    const message = sentence(taken.message ?? disruptedMessage);
    return { class: "Infra", code: disrupted, message, ...place, retryable: true };
  }
  if (ended === undefined) {
    const message = sentence(
      pod.status?.message ?? "The pod failed before its worker reported an exit code.",
    );
    return {
      class: "Infra",
      code: (pod.status?.reason ?? "pod_failed").slice(0, 64),
      message,
      ...place,
      retryable: true,
    };
  }
  const exitCode = ended.exitCode;
  if (ended.reason === "OOMKilled" || report?.code === "out_of_memory") {
    const { memory } = resourcesOf(pod).limits;
    const limit = memory === undefined ? "its node has" : `the limit of ${memory} that its profile sets`;
    const message = `The worker used more memory than ${limit}. Use a profile with a higher memory limit.`;
    return { class: "Resources", code: "out_of_memory", message, ...place, exitCode, retryable: true };
  }
  const known = byExit[exitCode] ?? { class: "System", code: `exit_${exitCode}`, retryable: true };
  const lastLine = ended.message?.trim().split("\n").at(-1)?.slice(0, 300);
  const sentences =
    report === undefined
      ? [`The worker ended with exit code ${exitCode}${lastLine ? `: ${lastLine}` : "."}`]
      : [report.message, report.hint];
  if (exitCode === exitCodes.gpuOutOfMemory) sentences.push(gpuLimitOf(pod));
  const message = sentence(sentences.join(" "));
  return { ...known, code: report?.code ?? known.code, message, ...place, exitCode };
}

/** Names the GPU that was too small. */
function gpuLimitOf(pod: Pod): string {
  const [name, count] = Object.entries(resourcesOf(pod).limits).find(([each]) => isGpu(each)) ?? [];
  const gpu = name === undefined ? "no GPU" : `${count} ${name}`;
  return `Its profile requests ${gpu}. Use a profile with a larger GPU.`;
}

/** `nvidia.com/gpu` and the like. */
export const isGpu = (resource: string) => resource.endsWith("/gpu");

/** The newest failure of each shard that has one. */
export function failuresByShard(pods: readonly Pod[]): Map<number, Failure> {
  const failed = pods
    .filter((pod) => pod.status?.phase === "Failed")
    .sort((a, b) => endOf(a).localeCompare(endOf(b)));
  const found = new Map<number, Failure>();
  for (const pod of failed) {
    const shard = shardOf(pod);
    if (shard !== undefined) found.set(shard, failureOf(pod));
  }
  return found;
}

const endOf = (pod: Pod) => workerOf(pod)?.terminated?.finishedAt ?? pod.metadata.creationTimestamp ?? "";

/** The failure of a Job whose pods no longer exist, from the Job's conditions. */
export function failureOfJob(job: CachedJob): Failure {
  const failed = job.status?.conditions?.find(({ type }) => type === "Failed" || type === "FailureTarget");
  const message = sentence(failed?.message ?? "The Kubernetes Job failed.");
  return { class: "System", code: failed?.reason ?? "JobFailed", message, retryable: true };
}

const sentence = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 1000);
