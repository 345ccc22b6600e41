// Tests what the operator reads from pods: which ones run, why others wait, and how a shard failed. Pure, no server.
import { describe, expect, it } from "vitest";
import {
  endTimeOf,
  failureOf,
  failureOfJob,
  failuresByShard,
  hasStarted,
  ignoredBefore,
  isDisrupted,
  isEnded,
  isGpu,
  isRunning,
  resourcesOf,
  shardOf,
  startOf,
  terminationOf,
  waitingAfter,
  waitingOf,
} from "../../controllers/job/pods.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { ago, child, conditions, ended, now, pod, running, waitingFor } from "../support/facts.ts";

const bare: Pod = { metadata: { name: "bare", namespace: "n" } };
const index = "batch.kubernetes.io/job-completion-index";
/** A pod whose first container is not the worker. */
const withSidecar = (worker: object | undefined, phase = "Running"): Pod =>
  pod(0, {
    phase,
    containerStatuses: [
      { name: "proxy", state: { running: { startedAt: ago(900) } } },
      ...(worker === undefined ? [] : [{ name: "worker", state: worker }]),
    ],
  } as Pod["status"]);
const withLimits = (made: Pod, limits: Record<string, string>): Pod => ({
  ...made,
  spec: {
    containers: [
      { name: "proxy", resources: { limits: { memory: "1Mi" } } },
      { name: "worker", resources: { requests: { cpu: "1" }, limits } },
    ],
  },
});
const report = (code: string, message: string, hint: string | null) =>
  JSON.stringify({
    code,
    message,
    hint,
    shard: 0,
    item: null,
    items_done: 0,
    items_total: 1,
    items_failed: 0,
  });

describe("the shard of a pod", () => {
  it("comes from its annotation, else from its label", () => {
    expect(shardOf(pod(4, {}))).toBe(4);
    expect(shardOf({ ...bare, metadata: { ...bare.metadata, labels: { [index]: "7" } } })).toBe(7);
    expect(shardOf(bare)).toBeUndefined();
  });

  it("has no ignored failures without the Job controller's annotation", () => {
    expect(ignoredBefore(bare)).toBe(0);
    expect(ignoredBefore(pod(0, {}))).toBe(0);
  });
});

describe("a pod", () => {
  const succeeded = pod(0, { phase: "Succeeded" });

  it.each([
    ["runs when its worker runs", withSidecar({ running: {} }, "Pending"), true],
    ["runs when its phase is Running", pod(0, { phase: "Running" }), true],
    ["does not run when only another container does", withSidecar(undefined, "Pending"), false],
    ["does not run once it has succeeded", { ...succeeded, status: { phase: "Succeeded" } }, false],
    ["does not run before it has a status", bare, false],
  ])("%s", (_name, made, expected) => {
    expect(isRunning(made)).toBe(expected);
  });

  it("has ended when it succeeded or failed", () => {
    expect([succeeded, ended(0, 1), running(0), bare].map(isEnded)).toEqual([true, true, false, false]);
  });

  it("has the start and end times of its worker, not of another container", () => {
    const done = withSidecar({ terminated: { exitCode: 0, startedAt: ago(60), finishedAt: ago(5) } });
    expect([startOf(done), endTimeOf(done)]).toEqual([now - 60_000, now - 5_000]);
    const works = withSidecar({ running: { startedAt: ago(30) } });
    expect([startOf(works), endTimeOf(works)]).toEqual([now - 30_000, undefined]);
    const waits = waitingFor("ImagePullBackOff", "no such image");
    expect([startOf(waits), endTimeOf(waits)]).toEqual([undefined, undefined]);
    expect([startOf(bare), endTimeOf(bare)]).toEqual([undefined, undefined]);
    expect(hasStarted([waits, bare])).toBe(false);
  });

  it("has the resources of its worker container", () => {
    const made = withLimits(bare, { memory: "4Gi" });
    expect(resourcesOf(made)).toEqual({ requests: { cpu: "1" }, limits: { memory: "4Gi" } });
    const none = { requests: {}, limits: {} };
    expect(resourcesOf(bare)).toEqual(none);
    expect(resourcesOf({ ...bare, spec: {} })).toEqual(none);
    expect(resourcesOf({ ...bare, spec: { containers: [{ name: "proxy" }] } } as Pod)).toEqual(none);
  });
});

describe("a job without a running pod waits", () => {
  const scheduling = (reason: string, status = "False") =>
    pod(0, {
      phase: "Pending",
      conditions: [
        { type: "Initialized", status: "True" },
        { type: "PodScheduled", status, reason },
      ],
    } as Pod["status"]);

  it.each([
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
  ])("for its image after %s, with the kubelet's message", (reason) => {
    expect(waitingOf([waitingFor(reason, "registry says no")])).toEqual({
      reason: "ImageUnavailable",
      message: `${reason}: registry says no`,
    });
  });

  it("for its image even when the kubelet gives no message", () => {
    const made = waitingFor("ErrImagePull", "");
    delete made.status!.containerStatuses![0]!.state!.waiting!.message;
    expect(waitingOf([made])).toMatchObject({
      reason: "ImageUnavailable",
      message: expect.stringMatching(/^ErrImagePull: ./),
    });
  });

  it.each([
    ["for a node", [scheduling("Unschedulable")], "Unschedulable"],
    [
      "without a special reason once it is scheduled",
      [scheduling("Unschedulable", "True")],
      "WaitingForPods",
    ],
    ["without a special reason behind a scheduling gate", [scheduling("SchedulingGated")], "WaitingForPods"],
    [
      "without a special reason while its containers are created",
      [waitingFor("ContainerCreating", "")],
      "WaitingForPods",
    ],
    ["without a special reason before its pod has a status", [bare], "WaitingForPods"],
    [
      "without the reason of a pod that has failed since",
      [
        {
          ...scheduling("Unschedulable"),
          status: { ...scheduling("Unschedulable").status, phase: "Failed" },
        },
      ],
      "WaitingForPods",
    ],
  ])("%s", (_name, pods, reason) => {
    expect(waitingOf(pods).reason).toBe(reason);
  });

  it("with the scheduler's message on one line", () => {
    const made = scheduling("Unschedulable");
    made.status!.conditions![1]!.message = " 0/1 nodes:\n\n  no room. ";
    expect(waitingOf([made]).message).toBe("0/1 nodes: no room.");
    expect(waitingOf([waitingFor("ErrImagePull", "x".repeat(2000))]).message).toHaveLength(1000);
  });

  it("for the replacement of a pod only if that pod stalled or was disrupted", () => {
    const failure = { class: "Infra", code: "stalled", message: "It went.", retryable: true } as const;
    expect(waitingAfter(failure)?.reason).toBe("ProgressStalled");
    expect(waitingAfter({ ...failure, code: "disrupted" })).toEqual({
      reason: "Preempted",
      message: "It went.",
    });
    expect(waitingAfter({ ...failure, code: "killed" })).toBeUndefined();
    expect(waitingAfter(undefined)).toBeUndefined();
  });
});

describe("the failure of a pod", () => {
  it.each([
    [64, "User", "bad_manifest", false],
    [65, "User", "unusable_audio", false],
    [66, "User", "input_missing", false],
    [70, "System", "internal", true],
    [71, "Resources", "gpu_out_of_memory", true],
    [75, "Infra", "temporary", true],
    [77, "User", "forbidden", false],
    [137, "Infra", "killed", true],
    [143, "Infra", "killed", true],
    [5, "System", "exit_5", true],
  ])("with exit code %d is of class %s, %s", (exitCode, of, code, retryable) => {
    expect(failureOf(ended(2, exitCode))).toMatchObject({ class: of, code, retryable, exitCode, shard: 2 });
  });

  it("has the code, the message and the hint of the worker's report", () => {
    const failure = failureOf(ended(0, 66, report("audio_gone", "a.wav is gone.", "Upload it again.")));
    expect(failure).toMatchObject({ class: "User", code: "audio_gone" });
    expect(failure.message).toBe("a.wav is gone. Upload it again.");
    expect(failureOf(ended(0, 66, report("audio_gone", "Gone.", null))).message).toBe("Gone.");
    expect(failureOf(ended(0, 66, report("audio_gone", "Gone.", ""))).message).toBe("Gone.");
  });

  it("has the last line of a termination log that is no report, cut to length", () => {
    const traceback = `Traceback\nKeyError: '${"x".repeat(2000)}'`;
    const { message } = failureOf(ended(0, 70, traceback));
    expect(message).toContain("KeyError");
    expect(message).not.toContain("Traceback");
    expect(message.length).toBeLessThan(400);
    expect(terminationOf(ended(0, 70, "{ no JSON"))).toBeUndefined();
    expect(failureOf(ended(0, 70, "first\nsecond\nlast")).message).toMatch(/: last$/);
    for (const made of [bare, running(0), waitingFor("ErrImagePull", "")])
      expect(terminationOf(made)).toBeUndefined();
  });

  it("is out of memory when the kernel or the worker reports it, and names the memory limit", () => {
    const killed = withLimits(ended(1, 137, undefined, "OOMKilled"), { memory: "4Gi" });
    const expected = { class: "Resources", code: "out_of_memory", retryable: true, exitCode: 137, shard: 1 };
    expect(failureOf(killed)).toMatchObject(expected);
    expect(failureOf(killed).message).toContain("4Gi");
    const reported = ended(1, 137, report("out_of_memory", "Full.", null));
    expect(failureOf(reported)).toMatchObject(expected);
    expect(failureOf(reported).message).not.toContain("undefined");
  });

  it("names the GPUs that the pod requested when their memory was full", () => {
    const full = failureOf(withLimits(ended(0, 71), { memory: "4Gi", "nvidia.com/gpu": "2" }));
    expect(full.message).toContain("2 nvidia.com/gpu");
    expect(failureOf(ended(0, 71)).message).toContain("no GPU");
    expect(failureOf(withLimits(ended(0, 70), { "nvidia.com/gpu": "2" })).message).not.toContain("gpu");
    expect(["nvidia.com/gpu", "memory", "/gpu-share"].map(isGpu)).toEqual([true, false, false]);
  });

  it("is a disruption only if the pod has a true DisruptionTarget condition", () => {
    const taken = (status: string, type = "DisruptionTarget") =>
      pod(0, { phase: "Failed", conditions: [{ type, status }] } as Pod["status"]);
    expect(failureOf(taken("True"))).toMatchObject({ class: "Infra", code: "disrupted", retryable: true });
    expect(isDisrupted(taken("True"))).toBe(true);
    for (const other of [taken("False"), taken("True", "Ready"), bare]) {
      expect(isDisrupted(other)).toBe(false);
      expect(failureOf(other)).toMatchObject({ class: "Infra", code: "pod_failed", retryable: true });
    }
  });

  it("before its worker ran has the pod's reason and message", () => {
    const evicted = pod(1, { phase: "Failed", reason: "Evicted", message: "The node is full." } as never);
    const failure = { class: "Infra", code: "Evicted", message: "The node is full.", retryable: true };
    expect(failureOf(evicted)).toEqual({ ...failure, shard: 1 });
    expect("shard" in failureOf(bare)).toBe(false);
    const long = pod(1, { phase: "Failed", reason: "R".repeat(200) } as never);
    expect(failureOf(long).code).toHaveLength(64);
  });
});

describe("the failure of a shard", () => {
  const at = (made: Pod, finishedAt: string | undefined, created?: string): Pod => {
    made.status!.containerStatuses![0]!.state!.terminated!.finishedAt = finishedAt as never;
    return { ...made, metadata: { ...made.metadata, ...(created ? { creationTimestamp: created } : {}) } };
  };

  it("is that of its newest failed pod, in any order of the list", () => {
    const pods = [at(ended(0, 70), ago(5)), at(ended(0, 75), ago(50)), at(ended(0, 137), ago(20))];
    for (const order of [pods, pods.toReversed(), [pods[1], pods[0], pods[2]] as Pod[]])
      expect(failuresByShard(order).get(0)?.code).toBe("internal");
  });

  it("uses the creation time of a pod whose end has no time", () => {
    const older = at(ended(0, 70), ago(50));
    const newer = at(ended(0, 75), undefined, ago(20));
    expect(failuresByShard([newer, older]).get(0)?.code).toBe("temporary");
    const early = pod(0, { phase: "Failed" });
    early.metadata.creationTimestamp = ago(90) as never;
    expect(failuresByShard([older, early, bare]).get(0)?.code).toBe("internal");
    const never = waitingFor("ContainerCreating", "");
    never.metadata.creationTimestamp = ago(10) as never;
    const unstarted = { ...never, status: { ...never.status, phase: "Failed" } } as Pod;
    expect(failuresByShard([unstarted, older]).get(0)?.code).toBe("pod_failed");
  });

  it("ignores pods that run, have succeeded or have no shard", () => {
    const failed = ended(1, 75);
    const unindexed = { ...ended(0, 75), metadata: bare.metadata };
    const pods = [running(0), pod(2, { phase: "Succeeded" }), bare, unindexed, failed];
    expect([...failuresByShard(pods).keys()]).toEqual([1]);
  });

  it("is that of the Job when its pods no longer exist", () => {
    const other = { type: "Suspended", status: "False", reason: "JobResumed", message: "Resumed." };
    for (const type of ["Failed", "FailureTarget"]) {
      const failed = failureOfJob(child({ conditions: [other, ...conditions(type)] } as never));
      expect(failed).toEqual({
        class: "System",
        code: "Because",
        message: "The Job says so.",
        retryable: true,
      });
    }
    for (const status of [undefined, {}, { conditions: [other] }]) {
      const made = { ...child(), status } as never;
      expect(failureOfJob(made)).toMatchObject({ class: "System", code: "JobFailed", retryable: true });
    }
  });
});
