// Every CEL rule of every custom resource on a real API server: one change that it accepts, one that it rejects. The
// rules come from the definitions, so that none can be added without its two fixtures.
import { beforeAll, describe, expect, it } from "vitest";
import { crdOf } from "../../src/gen/crd.ts";
import { resourceTypeOf } from "../../src/kube/kinds.ts";
import type { Kind } from "../../src/schemas/kind.ts";
import { kinds } from "../../src/schemas/kinds.ts";
import { useCluster } from "../support/kube.ts";

type Spec = Record<string, unknown>;
type Node = {
  properties?: Record<string, Node>;
  items?: Node;
  "x-kubernetes-validations"?: { rule: string; message: string }[];
};
type Rule = { path: string; rule: string; message: string };

const id = (last: string) => `0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f${last}`;
const allKinds = kinds as unknown as Kind[];

/** All rules of a definition with their places: "", "spec", "spec.shards.count". */
function rulesOf(kind: Kind): Rule[] {
  const version = (crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Node } }[] } }).spec
    .versions[0];
  const walk = (node: Node, path: string): Rule[] => [
    ...(node["x-kubernetes-validations"] ?? []).map((rule) => ({ path, ...rule })),
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
      walk(child, path === "" ? name : `${path}.${name}`),
    ),
    ...(node.items === undefined ? [] : walk(node.items, `${path}[]`)),
  ];
  return walk(version!.schema.openAPIV3Schema, "");
}

/** A job's spec with every optional field, so that each rule has a value to check. */
const job = {
  tenantId: id("00"),
  cancel: { reason: "wrong labels" },
  shards: { count: 2, parallelism: 1 },
  retries: { perShard: 1, infraPerShard: 1, maxFailedShards: 0 },
  activeDeadlineSeconds: 100,
  pendingDeadlineSeconds: 100,
  progressDeadlineSeconds: 100,
  ttlSecondsAfterFinished: 100,
  priorityClassName: "urgent",
  queueName: "day",
  profile: "gpu",
};
const full: Record<string, Spec> = {
  TrainingJob: {
    ...job,
    datasetId: id("01"),
    annotationSetId: id("02"),
    config: { artifact_types: ["click"] },
  },
  InferenceJob: { ...job, modelId: id("03"), datasetId: id("01"), config: { threshold: 0.5 } },
  EmbeddingJob: job,
  Model: {
    tenantId: id("00"),
    trainingJobId: id("04"),
    artifactTypes: ["click"],
    objectStoreKey: "key",
    sha256: "a",
    sizeBytes: 1,
  },
};
/** Replaces `full` for kinds that cannot have every field at once. */
const instead: Record<string, Spec> = { "InferenceJob audioFileIds": { audioFileIds: [id("05")] } };
/** Another value of each immutable field. */
const other: Spec = {
  tenantId: id("10"),
  datasetId: id("11"),
  annotationSetId: id("12"),
  modelId: id("13"),
  trainingJobId: id("14"),
  audioFileIds: [id("15")],
  cancel: { reason: "another" },
  "shards.count": 3,
  retries: { perShard: 2 },
  activeDeadlineSeconds: 101,
  pendingDeadlineSeconds: 101,
  progressDeadlineSeconds: 101,
  ttlSecondsAfterFinished: 101,
  priorityClassName: "other",
  profile: "default",
};
const otherConfig: Spec = { TrainingJob: { epochs: 3 }, InferenceJob: { threshold: 0.6 } };

const at = (spec: Spec, path: string): unknown =>
  path.split(".").reduce<unknown>((node, name) => (node as Spec)[name], spec);
const nested = (path: string, value: unknown): Spec =>
  path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Spec;

const cluster = useCluster();
let namespace: string;
let made = 0;

beforeAll(async () => {
  ({ name: namespace } = await cluster.namespace());
});

/** Creates the object, and returns the API server's message when it rejects it. */
async function create(kind: Kind, spec: Spec, name = `fixture-${made++}`): Promise<string> {
  await cluster.admin.create(resourceTypeOf(kind), { metadata: { namespace, name }, spec } as never);
  return name;
}
const resultOf = (call: Promise<unknown>) =>
  call.then(
    () => "accepted",
    (error: unknown) => String(error),
  );
const change = (kind: Kind, name: string, spec: Spec) =>
  resultOf(cluster.admin.patch(resourceTypeOf(kind), { namespace, name }, { spec }));

/** A spec that contains the field. */
function specWith({ kind }: Kind, field: string): Spec {
  const more = instead[`${kind} ${field}`];
  const { datasetId: _, ...rest } = full[kind]!;
  return more === undefined ? full[kind]! : { ...rest, ...more };
}

/** The API server's answers to the two fixtures of a rule. */
async function judge(kind: Kind, { path, rule }: Rule): Promise<{ passing: string; failing: string }> {
  const spec = full[kind.kind]!;
  const field = path.replace(/^spec\.?/, "");
  if (rule === "self == oldSelf") {
    const own = specWith(kind, field);
    const name = await create(kind, own);
    const value = field === "config" ? otherConfig[kind.kind] : other[field];
    const passing = await change(kind, name, nested(field, at(own, field)));
    return { passing, failing: await change(kind, name, nested(field, value)) };
  }
  const kept = /^has\(self\.(\w+)\) == has\(oldSelf\.\w+\)$/.exec(rule)?.[1];
  if (kept !== undefined || rule.startsWith("!has(oldSelf.cancel)")) {
    const member = kept ?? "cancel";
    const own = specWith(kind, member);
    const name = await create(kind, own);
    const passing = await change(kind, name, { [member]: own[member] });
    return { passing, failing: await change(kind, name, { [member]: null }) };
  }
  if (rule.startsWith("size(self.metadata.name)")) {
    const [long, longer] = [52, 53].map((length) => "n".repeat(length));
    return {
      passing: await resultOf(create(kind, spec, long)),
      failing: await resultOf(create(kind, spec, longer)),
    };
  }
  if (rule.includes("admittedTime")) {
    const name = await create(kind, spec);
    const passing = await change(kind, name, { queueName: "night" });
    await cluster.admin.apply(
      resourceTypeOf(kind),
      { metadata: { namespace, name }, status: { admittedTime: "2026-01-01T12:00:00Z" } } as never,
      { fieldManager: "test", subresource: "status" },
    );
    return { passing, failing: await change(kind, name, { queueName: "day" }) };
  }
  if (rule === "!has(self.datasetId) || !has(self.audioFileIds)") {
    const passing = await resultOf(create(kind, spec));
    return { passing, failing: await resultOf(create(kind, { ...spec, audioFileIds: [id("05")] })) };
  }
  throw new Error(`write the two fixtures of the rule ${rule}`);
}

describe.each(allKinds.map((kind) => [kind.kind, kind] as const))("a rule of a %s", (_name, kind) => {
  it.each(rulesOf(kind).map((rule) => [rule.path || "(root)", rule.rule, rule] as const))(
    "at %s (%s) accepts one change and rejects another",
    async (_path, _rule, rule) => {
      const { passing, failing } = await judge(kind, rule);
      expect(passing).toBe("accepted");
      expect(failing).toContain(rule.message);
    },
  );
});
