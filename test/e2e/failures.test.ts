// Each way in which a worker's pod can fail or not start, with a real kubelet, scheduler and Job controller: the
// failure in the custom resource, REST and the events, and the number of pods. All tests run at once, because most of
// them only wait.
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Account, sharedAccount } from "./accounts.ts";
import { clusterName, create, evict, kubectl, until } from "./cluster.ts";
import { addInjection, secretName } from "./injection.ts";
import {
  cancel,
  endOf,
  eventsOf,
  expectFailed,
  type Made,
  type Pod,
  podsOf,
  runningPod,
  statusOf,
  toldToEnd,
  train,
  type Wanted,
  waitsFor,
} from "./jobs.ts";
import { workerProcesses } from "./machine.ts";
import { emptyNode } from "./node.ts";
import { addProfiles, pool } from "./profiles.ts";
import { sharedTrainable, type Trainable } from "./takes.ts";

interface Named {
  readonly metadata: { readonly name: string };
}

let account: Account;
let data: Trainable;
/** Makes the names unique: resources of an earlier run on the same cluster still exist. */
const run = Date.now().toString(36);

beforeAll(async () => {
  await Promise.all([addProfiles(), addInjection()]);
  account = await sharedAccount();
  data = await sharedTrainable(account);
});

const failing = (profile: string, spec: object = {}): Promise<Made> =>
  train(account, `${profile}-${run}`, data, { profile, retries: { perShard: 1 }, ...spec });

describe.concurrent("a pod that ends", () => {
  const rows: (Wanted & { profile: string; pods: number; spec?: object })[] = [
    {
      profile: "bad-manifest",
      ...{ class: "User", code: "bad_manifest", reason: "UserError", exitCode: 64, pods: 1 },
      message: /environment is incomplete/,
    },
    {
      profile: "forbidden",
      ...{ class: "User", code: "forbidden", reason: "UserError", exitCode: 77, pods: 1 },
      message: /refused this pod: 403/,
    },
    {
      profile: "unusable-audio",
      ...{ class: "User", code: "unusable_audio", reason: "UserError", exitCode: 65, pods: 1 },
      message: /^None of the audio can be used\.$/,
    },
    {
      profile: "internal",
      ...{ class: "System", code: "internal", reason: "SystemError", exitCode: 70, pods: 2 },
      message: /^RuntimeError: During parsing environment variable: 'NPY_DISABLE_CPU_FEATURES'/,
    },
    {
      profile: "temporary",
      ...{ class: "Infra", code: "temporary", reason: "InfrastructureError", exitCode: 75, pods: 1 },
      // A pod tries for a minute and a half, so there is one.
      spec: { retries: { perShard: 0 } },
      message: /^Fetching the work failed 9 times, the last time: NameResolutionError/,
    },
    {
      profile: "gpu-memory",
      ...{ class: "Resources", code: "gpu_out_of_memory", reason: "ResourceLimit", exitCode: 71, pods: 2 },
      message: /^The GPU has too little memory\. .*happened 2 times/,
    },
    {
      profile: "little-memory",
      ...{ class: "Resources", code: "out_of_memory", reason: "ResourceLimit", exitCode: 137, pods: 2 },
      message: /limit of 40Mi/,
    },
  ];

  test.each(rows)(
    "of profile $profile with exit code $exitCode fails the job with $class/$code after $pods pods",
    async (row) => {
      const { profile, pods, spec, ...wanted } = row;
      const ended = await expectFailed(await failing(profile, spec), wanted);
      expect(ended.pods).toBe(pods);
    },
  );
});

describe.concurrent("a pod that cannot start", () => {
  const late = { pendingDeadlineSeconds: 40 };
  const rows = [
    {
      profile: "no-image",
      ...({ waits: "ImageUnavailable", class: "System", code: "image_unavailable" } as const),
      words: /127\.0\.0\.1:1\/plosive-worker:none/,
    },
    {
      profile: "no-name",
      ...({ waits: "ImageUnavailable", class: "System", code: "image_unavailable" } as const),
      words: /InvalidImageName: .*plosive\/\/worker/,
    },
    {
      profile: "no-secret",
      ...({ waits: "ImageUnavailable", class: "System", code: "image_unavailable" } as const),
      words: new RegExp(`CreateContainerConfigError: secret "${secretName}" not found`),
    },
    {
      profile: "no-gpu",
      ...({ waits: "Unschedulable", class: "Quota", code: "unschedulable" } as const),
      words: /Insufficient nvidia\.com\/gpu/,
    },
  ] as const;

  test.each(rows)(
    "of profile $profile waits as $waits, and fails the job at its pending deadline",
    async (row) => {
      const job = await failing(row.profile, late);
      await waitsFor(job, row.waits, row.words);
      await expectFailed(job, {
        class: row.class,
        code: row.code,
        reason: "PendingDeadlineExceeded",
        message: new RegExp(`within 40 s: .*${row.words.source}`),
      });
    },
  );
});

describe.concurrent("a pod that does not end", () => {
  test("is deleted when the job fails at its active deadline", async () => {
    const job = await train(account, `too-long-${run}`, data, {
      profile: "silent",
      activeDeadlineSeconds: 5,
    });
    await expectFailed(job, {
      class: "User",
      code: "deadline_exceeded",
      reason: "DeadlineExceeded",
      message: /longer than its limit of 5 s/,
    });
    await until("the pod to go", 180_000, async () => ((await podsOf(job)).length === 0 ? true : undefined));
  });

  test("and sends no report is replaced once, then the job fails", async () => {
    const job = await train(account, `silent-${run}`, data, {
      profile: "silent",
      progressDeadlineSeconds: 8,
      retries: { perShard: 5 },
    });
    const { pods } = await expectFailed(job, {
      class: "Infra",
      code: "stalled",
      reason: "InfrastructureError",
      message: /The worker sent no report for 8 s\. That happened 2 times/,
    });
    expect(pods).toBe(2);
    const stalled = (await eventsOf(job)).filter(({ reason }) => reason === "ProgressStalled");
    expect(stalled.map(({ message }) => message)).toContainEqual(expect.stringMatching(/Its pod is deleted/));
  });
});

describe.concurrent("a worker that hangs", () => {
  test("is replaced, and the job succeeds", async () => {
    const job = await train(account, `hangs-${run}`, data, {
      // Long enough for the trainer to load its libraries on a busy machine.
      progressDeadlineSeconds: 45,
      retries: { perShard: 1 },
    });
    const first = await until("the pod", 240_000, async () => (await podsOf(job))[0]);
    const hanging = await until("the worker's process", 240_000, async () => {
      const pids = workerProcesses(first.metadata.uid);
      return pids.length > 0 ? pids : undefined;
    });
    for (const pid of hanging) process.kill(pid, "SIGSTOP");
    await toldToEnd(job, first);
    // As the kubelet does after the pod's termination grace period.
    for (const pid of hanging) process.kill(pid, "SIGKILL");
    const { status, pods } = await endOf(job, "Succeeded");
    expect(pods).toBe(2);
    expect(status.attempt).toBe(1);
    const events = (await eventsOf(job)).filter(({ reason }) => reason === "ProgressStalled");
    expect(events.map(({ message }) => message)).toEqual([
      expect.stringMatching(/The worker sent no report for 45 s\. Its pod is deleted/),
    ]);
  });
});

describe.concurrent("a pod that is evicted", () => {
  const evictReady = async ({ metadata }: Pod) => {
    await until("the pod to be ready for its end", 180_000, async () =>
      (await kubectl("logs", metadata.name)).includes("ready") ? true : undefined,
    );
    await evict(metadata.name);
  };

  test("is replaced infraPerShard times, whatever perShard is", async () => {
    const job = await train(account, `evicted-${run}`, data, {
      profile: "silent",
      retries: { perShard: 0, infraPerShard: 1 },
    });
    const first = await runningPod(job);
    await evictReady(first);
    await evictReady(await runningPod(job, first));
    await expectFailed(job, {
      class: "Infra",
      code: "disrupted",
      reason: "InfrastructureError",
      message: /evict.*That happened 2 times/i,
    });
  });
});

describe.concurrent("a pod whose node is gone", () => {
  test("is replaced on another node, and the shard's perShard retries are not charged", async () => {
    const { metadata } = await create<Named>(emptyNode(`spare-${run}`));
    const job = await train(account, `node-gone-${run}`, data, {
      profile: "spare-pool",
      retries: { perShard: 0 },
    });
    const first = await until("the scheduler to place the pod", 180_000, async () =>
      (await podsOf(job)).find(({ spec }) => spec.nodeName === metadata.name),
    );
    await kubectl("delete", "node", metadata.name);
    await kubectl("label", "--overwrite", "node", clusterName, `${pool}=spare`);
    const second = await runningPod(job, first);
    expect(second.spec.nodeName).toBe(clusterName);
    const events = await until("the event of the lost pod", 180_000, async () => {
      const lost = (await eventsOf(job)).filter(({ reason }) => reason === "InfrastructureError");
      return lost.length > 0 ? lost : undefined;
    });
    expect(events.map(({ message }) => message)).toEqual([expect.stringMatching(/node/i)]);
    expect((await statusOf(job)).shards).toMatchObject({ failed: 0 });
    await cancel(job);
    await endOf(job, "Cancelled");
  });
});

describe("a missing input file", () => {
  test("fails the job at once, with the name of the file", async () => {
    const lost = data.files[0]?.id ?? "";
    const folder = `/data/plosive/embeddings/${account.tenant}/${lost}`;
    const move = (from: string, to: string) =>
      kubectl("exec", "plosive-object-store-0", "--", "mv", from, to);
    await move(folder, `${folder}.away`);
    // Restores the file, because other test files train on the same dataset.
    onTestFinished(() => move(`${folder}.away`, folder).then(() => {}));
    const job = await train(account, `input-missing-${run}`, data, { retries: { perShard: 1 } });
    const { pods } = await expectFailed(job, {
      class: "User",
      code: "input_missing",
      reason: "UserError",
      exitCode: 66,
      message: new RegExp(
        `The embedding of ${lost} is not in the object store.*Renew the embedding: plosive-admin embeddings renew`,
      ),
    });
    expect(pods).toBe(1);
  });
});
