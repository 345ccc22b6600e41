// Worker profiles against a real API server, whose namespace enforces Pod Security "restricted": pods have all fields of their
// profile, and an operator does not start with a profile that no pod could have.
import { beforeAll, describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { checkProfiles } from "../../controllers/job/check-profiles.ts";
import { buildJob } from "../../controllers/job/child.ts";
import { jobs } from "../../src/kube/kinds.ts";
import { makeLog } from "../../src/log.ts";
import { type PodProfile, parseProfiles, podProfile } from "../../src/schemas/profile.ts";
import { type TestNamespace, useOwnCluster } from "../support/kube.ts";
import { podOf } from "../support/operator.ts";

// Of its own: priority classes and runtime classes belong to no namespace.
const cluster = useOwnCluster();
let space: TestNamespace;
const id = "00000000-0000-4000-8000-000000000000";
const settings = {
  runsUrl: "https://runs",
  runsAudience: "runs",
  caConfigMap: "ca",
  serviceAccount: "plosive-worker",
};
const log = makeLog("test", "silent");

const zone = "topology.kubernetes.io/zone";
const inZone = { matchExpressions: [{ key: zone, operator: "In", values: ["a"] }] };
const workers = { matchLabels: { "app.kubernetes.io/name": "plosive-worker" } };
const full = {
  image: "registry.test/worker:1",
  imagePullSecrets: [{ name: "other-registry" }],
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [inZone] } },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: zone, labelSelector: workers } },
      ],
    },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zone,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: workers,
      matchLabelKeys: ["plosive.dev/job"],
    },
  ],
  labels: { "cost-centre": "voices" },
  annotations: { "example.com/note": "a note" },
  priorityClassName: "soon",
  runtimeClassName: "boxed",
  volumes: [
    { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
    { name: "words", configMap: { name: "words" } },
    { name: "takes", persistentVolumeClaim: { claimName: "takes", readOnly: true } },
  ],
  volumeMounts: [
    { name: "cache", mountPath: "/mnt/cache" },
    { name: "words", mountPath: "/mnt/data/words", readOnly: true },
    { name: "takes", mountPath: "/mnt/data/takes", subPath: "2026", readOnly: true },
  ],
};

beforeAll(async () => {
  space = await cluster.namespace();
  const post = (path: string, body: object) => cluster.admin.send({ method: "POST", path, body });
  await post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "soon" }, value: 100 });
  await post("/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "boxed" }, handler: "boxed" });
});

it("the pods of a job have every field of their profile, and the worker's own volumes", async () => {
  const job = buildJob(
    {
      metadata: { name: `ej-${id}`, namespace: space.name, uid: id },
      spec: {
        tenantId: id,
        shards: { count: 1, parallelism: 1 },
        retries: { perShard: 1, maxFailedShards: 0 },
      },
    } as unknown as JobResource,
    {
      kind: "embedding",
      type: { plural: "embeddingjobs", apiVersion: "plosive.dev/v1alpha1", kind: "EmbeddingJob" } as never,
      verb: "embed",
    },
    1,
    podProfile.parse(full),
    settings,
    { labels: {}, suspend: false },
  );
  // The owner does not exist, and the garbage collector would delete the Job.
  delete job.metadata.ownerReferences;
  await cluster.admin.create(jobs, job);
  const { metadata, spec } = (await podOf(cluster.admin, space.name, `ej-${id}-1`)) as unknown as {
    metadata: { labels: object; annotations: object };
    spec: Record<string, unknown> & { containers: [{ volumeMounts: { name: string }[] }] };
  };
  const { image: _, volumes, volumeMounts, labels, annotations, ...fields } = full;
  expect(spec).toMatchObject(fields);
  expect(metadata).toMatchObject({ labels: { ...labels, "plosive.dev/job": `ej-${id}` }, annotations });
  const own = ["token", "ca", "scratch"].map((name) => expect.objectContaining({ name }));
  const sources = volumes.map(({ name }) => expect.objectContaining({ name }));
  expect(spec.volumes).toEqual([...sources, ...own]);
  expect(spec.containers[0].volumeMounts).toEqual([
    ...volumeMounts.map((mount) => expect.objectContaining(mount)),
    ...own,
  ]);
});

describe("an operator that starts", () => {
  const check = (train: object) => {
    const one = { image: "registry.test/worker:1" };
    const profiles = parseProfiles(
      JSON.stringify({ default: { embed: one, train: { ...one, ...train }, detect: one } }),
    );
    return checkProfiles({ kube: cluster.admin, namespace: space.name, profiles, settings, log });
  };

  it("accepts a profile with all fields, and creates nothing", async () => {
    const before = (await cluster.admin.list(jobs, space.name)).items.length;
    await check(full);
    expect((await cluster.admin.list(jobs, space.name)).items).toHaveLength(before);
  });

  it.each<[string, Partial<Record<keyof PodProfile, unknown>>, RegExp]>([
    [
      "a misspelt field",
      { affinity: { nodeAffinity: { required: {} } } },
      /unknown field .*nodeAffinity.required/,
    ],
    ["a value of the wrong type", { topologySpreadConstraints: [{ maxSkew: "one" }] }, /maxSkew/],
    [
      "a value out of range",
      { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: zone, whenUnsatisfiable: "DoNotSchedule" }] },
      /maxSkew/,
    ],
    ["a label that is none", { labels: { team: "a b" } }, /labels/],
  ])("refuses %s, and names the profile and the field", async (_, train, reason) => {
    await expect(check(train)).rejects.toThrow(/the worker profile default\.train/);
    await expect(check(train)).rejects.toThrow(reason);
  });

  it("starts without an answer that could refuse its profiles", async () => {
    const profiles = parseProfiles(JSON.stringify({ default: { embed: full, train: full, detect: full } }));
    await checkProfiles({ kube: cluster.admin, namespace: "nowhere", profiles, settings, log });
  });
});
