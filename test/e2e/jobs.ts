// Training jobs as a platform engineer applies them, and the three places that show why one failed: the custom
// resource, REST, the events. Called by the end-to-end tests.
import { expect } from "vitest";
import { pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import type { Account } from "./accounts.ts";
import { create, kubectl, listOf, until } from "./cluster.ts";
import { workerProcesses } from "./machine.ts";
import { smallBatches, type Trainable, types } from "./takes.ts";

interface Metadata {
  readonly name: string;
  readonly uid: string;
}
export interface Pod {
  readonly metadata: Metadata & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase: string; readonly conditions?: readonly { type: string }[] };
}
interface Resource {
  readonly metadata: Metadata;
  readonly status?: JobStatus;
}
interface Event {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly involvedObject: Metadata;
}

/** A training job; its id in the REST API is the uid of its resource. */
export interface Made {
  readonly name: string;
  readonly id: string;
  readonly account: Account;
}

const patienceMs = 420_000;

/** The resource of a training job. `spec` replaces or extends the default spec. */
export const trainingJob = (
  { tenant }: Account,
  name: string,
  { datasetId, annotationSetId }: Pick<Trainable, "datasetId" | "annotationSetId">,
  spec: object,
) => ({
  apiVersion: "plosive.dev/v1alpha1",
  kind: "TrainingJob",
  metadata: { name },
  spec: {
    ...{ tenantId: tenant, datasetId, annotationSetId },
    shards: { count: 1 },
    config: { artifact_types: types, epochs: 1, ...smallBatches },
    ...spec,
  },
});

/** Applies a training job and waits until it is accepted. */
export async function train(account: Account, name: string, data: Trainable, spec: object): Promise<Made> {
  const { metadata } = await create<Resource>(trainingJob(account, name, data, spec));
  const job = { name, id: metadata.uid, account };
  await until(`${name} to be accepted`, patienceMs, async () => {
    const accepted = conditionOf(await statusOf(job), "Accepted");
    if (accepted !== undefined) expect(accepted).toMatchObject({ status: "True" });
    return accepted;
  });
  return job;
}

/** Minimum time between two lists of a type: many tests ask at once. */
const freshMs = 500;
function shared<T>(type: ResourceType): () => Promise<readonly T[]> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<readonly T[]>;
  return () => {
    if (Date.now() - asked > freshMs) {
      asked = Date.now();
      answer = listOf<T>(type);
    }
    return answer;
  };
}
const allTrainings = shared<Resource>(trainingJobs);
const allPods = shared<Pod>(pods);
const allEvents = shared<Event>({ apiVersion: "v1", kind: "Event", plural: "events" });

export const statusOf = async ({ id }: Made): Promise<JobStatus> =>
  (await allTrainings()).find(({ metadata }) => metadata.uid === id)?.status ?? {};

export const podsOf = async ({ name }: Pick<Made, "name">): Promise<readonly Pod[]> =>
  (await allPods()).filter(({ metadata }) => metadata.labels?.["plosive.dev/job"] === name);

export const eventsOf = async ({ id }: Made): Promise<readonly Event[]> =>
  (await allEvents()).filter(({ involvedObject }) => involvedObject.uid === id);

export const conditionOf = (status: JobStatus, type: Condition["type"]) =>
  status.conditions?.find((condition) => condition.type === type);

/** The first pod of the job that runs, other than `but`. */
export const runningPod = (job: Pick<Made, "name">, but?: Pod) =>
  until(`a running pod of ${job.name}`, patienceMs, async () =>
    (await podsOf(job)).find(
      ({ metadata, status }) => status.phase === "Running" && metadata.uid !== but?.metadata.uid,
    ),
  );

/** Waits until the pod of the job has been asked to end. */
export const toldToEnd = (job: Made, { metadata }: Pod) =>
  until(`pod ${metadata.name} to be told to end`, patienceMs, async () => {
    const pod = (await podsOf(job)).find((one) => one.metadata.uid === metadata.uid);
    return pod?.metadata.deletionTimestamp === undefined ? undefined : true;
  });

/**
 * Lets the worker of a running pod work until `reached`, and stops it there, so that it does not finish before the next step.
 * The result lets it continue. The worker is stopped during each probe, because what the probe sees lags behind it: a short
 * training could end meanwhile. Between two probes it works as long as the last one took, so at least half of the time, or for
 * `workMs` if that is less.
 */
export function holdAfter(
  { metadata }: Pod,
  what: string,
  reached: () => Promise<boolean>,
  workMs = Number.POSITIVE_INFINITY,
): Promise<() => void> {
  let hasRun = false;
  return until(what, patienceMs, async () => {
    const pids = workerProcesses(metadata.uid);
    if (hasRun) expect(pids.length, "the worker must not have ended yet").toBeGreaterThan(0);
    hasRun ||= pids.length > 0;
    const signal = (name: NodeJS.Signals) => pids.forEach((pid) => void process.kill(pid, name));
    signal("SIGSTOP");
    const began = Date.now();
    let isReached = false;
    try {
      isReached = hasRun && (await reached());
    } finally {
      if (!isReached) signal("SIGCONT");
    }
    if (isReached) return () => signal("SIGCONT");
    await new Promise((resolve) => setTimeout(resolve, Math.min(Date.now() - began, workMs)));
    return undefined;
  });
}

/** Waits until the job waits with this reason and message, and until REST shows the same message. */
export async function waitsFor(job: Made, reason: Condition["reason"], words: RegExp): Promise<void> {
  const why = await until(`${job.name} to wait for ${reason} as in ${words}`, patienceMs, async () => {
    const status = await statusOf(job);
    expect(status.phase).not.toBe("Failed");
    const progressing = conditionOf(status, "Progressing");
    return progressing?.reason === reason && words.test(progressing.message) ? progressing : undefined;
  });
  expect(why.status).toBe("False");
  await until(`these words in the record of ${job.name}`, patienceMs, async () => {
    const { status, status_message } = await job.account.user.getTrainingJob(job.id);
    expect(["queued", "running"]).toContain(status);
    return words.test(status_message ?? "") ? true : undefined;
  });
}

export interface Ended {
  readonly status: JobStatus;
  /** How many pods the job has had. */
  readonly pods: number;
}

/** Waits for the end of the job, and counts its pods by the Job's events, which remain when the Job is gone. */
export async function endOf(job: Made, phase: "Failed" | "Succeeded" | "Cancelled"): Promise<Ended> {
  const status = await until(`${job.name} to be ${phase}`, patienceMs, async () => {
    const now = await statusOf(job);
    if (now.completionTime !== undefined) expect(now.phase, now.failure?.message).toBe(phase);
    return now.phase === phase ? now : undefined;
  });
  const created = (await allEvents()).filter(
    ({ reason, involvedObject }) =>
      reason === "SuccessfulCreate" && involvedObject.name.startsWith(`tj-${job.id}-`),
  );
  return { status, pods: created.length };
}

export interface Wanted {
  readonly class: NonNullable<JobStatus["failure"]>["class"];
  readonly code: string;
  readonly reason: Condition["reason"];
  readonly message: RegExp;
  readonly exitCode?: number;
}

/** Expects the same failure in the resource, in REST and in the events. */
export async function expectFailed(job: Made, wanted: Wanted): Promise<Ended> {
  const ended = await endOf(job, "Failed");
  const { failure, conditions } = ended.status;
  expect(failure).toMatchObject({
    class: wanted.class,
    code: wanted.code,
    message: expect.stringMatching(wanted.message),
    ...(wanted.exitCode === undefined ? {} : { exitCode: wanted.exitCode }),
  });
  const message = failure?.message;
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: "Failed", status: "True", reason: wanted.reason, message }),
  );
  expect(await job.account.user.getTrainingJob(job.id)).toMatchObject({
    status: "failed",
    error_message: message,
  });
  await until(`the event of the end of ${job.name}`, patienceMs, async () =>
    (await eventsOf(job)).find(
      (event) => event.type === "Warning" && event.reason === wanted.reason && event.message === message,
    ),
  );
  return ended;
}

/** Cancels the job; `endOf` waits for its end. */
export const cancel = ({ name }: Made) =>
  kubectl("patch", "trainingjob", name, "--type=merge", '--patch={"spec":{"cancel":{"reason":"enough"}}}');

/** SHA-256 of the files of the job's model: of their bytes in the object store. */
export async function digestsOf(job: Made): Promise<Record<string, string>> {
  const { runId } = await statusOf(job);
  const folder = `/data/plosive/models/${job.account.tenant}/${job.id}/${runId}`;
  const digests: Record<string, string> = {};
  for (const file of ["weights.safetensors", "model.onnx"]) {
    const text = await kubectl("exec", "plosive-object-store-0", "--", "sha256sum", `${folder}/${file}`);
    expect(text).toMatch(/^[0-9a-f]{64} /);
    digests[file] = text.slice(0, 64);
  }
  return digests;
}
