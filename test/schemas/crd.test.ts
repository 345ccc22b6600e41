// The custom resource definitions on a real API server: samples, bounds, immutability, and one table of training
// configurations that zod and the API server must both accept or reject.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { trainingConfig } from "../../src/schemas/training-config.ts";
import { tool } from "../../tools/cache.ts";
import { useCluster } from "../support/kube.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const cluster = useCluster();
let namespace: string;

type Answer = { ok: boolean; text: string };

/** stdout of kubectl; rejects when it fails. */
const kubectl = async (...args: string[]): Promise<string> =>
  (
    await run(tool("kubectl"), ["--kubeconfig", cluster.plane.kubeconfigPath, ...args], {
      maxBuffer: 16 << 20,
    })
  ).stdout;

/** The same requests as kubectl's, without the start of a process for each. */
const send = (method: "POST" | "PATCH", path: string, body: unknown, query = {}): Promise<Answer> => {
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const folder = `/apis/plosive.dev/v1alpha1/namespaces/${namespace}`;
  return cluster.admin
    .send({
      method,
      path: `${folder}/${path}`,
      body,
      contentType,
      query: { fieldValidation: "Strict", ...query },
    })
    .then(
      () => ({ ok: true, text: "" }),
      (error: unknown) => ({ ok: false, text: String(error) }),
    );
};
const create = (object: { kind: string }, query = {}) =>
  send("POST", `${object.kind.toLowerCase()}s`, object, query);
const dryRun = { dryRun: "All" };

const sample = (name: string) => parse(readFileSync(join(root, "crds/samples", `${name}.yaml`), "utf8"));
const merge = (name: string, spec: unknown) => send("PATCH", `trainingjobs/${name}`, { spec });

beforeAll(async () => {
  ({ name: namespace } = await cluster.namespace());
  await kubectl("apply", "-f", join(root, "crds"));
  await kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all");
});

describe("a sample", () => {
  const names = readdirSync(join(root, "crds/samples")).map((file) => file.replace(".yaml", ""));
  it.each(names)("%s is accepted or rejected according to its name", async (name) => {
    const answer = await create(sample(name), dryRun);
    expect(answer.ok, answer.text).toBe(!name.startsWith("illegal"));
  });

  it("with a value out of bounds is rejected with a message that names the bound", async () => {
    const answer = await create(sample("illegal-epochs"));
    expect(answer.text).toContain("spec.config.epochs");
    expect(answer.text).toContain("less than or equal to 100");
  });
});

describe("kubectl explain", () => {
  it.each(["trainingjob", "inferencejob", "embeddingjob", "model"])(
    "describes every field of %s",
    async (kind) => {
      const crd = JSON.parse(await kubectl("get", "crd", `${kind}s.plosive.dev`, "-o", "json"));
      const { spec, status } = crd.spec.versions[0].schema.openAPIV3Schema.properties;
      expect([...undescribed(spec, "spec"), ...undescribed(status, "status")]).toEqual([]);
    },
  );
});

type Node = { description?: string; properties?: Record<string, Node>; items?: Node };

function undescribed(node: Node, path: string): string[] {
  const own = node.description || path.endsWith("[]") ? [] : [path];
  const below = Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
    undescribed(child, `${path}.${name}`),
  );
  return [...own, ...below, ...(node.items ? undescribed(node.items, `${path}[]`) : [])];
}

describe("a training job", () => {
  const name = sample("training-job").metadata.name;
  beforeAll(async () => {
    expect(await create(sample("training-job"))).toMatchObject({ ok: true });
  });

  it.each([
    ["tenantId", { tenantId: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2fff" }],
    ["datasetId", { datasetId: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2fff" }],
    ["annotationSetId", { annotationSetId: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2fff" }],
    ["config", { config: { epochs: 21 } }],
    ["shards.count", { shards: { count: 2 } }],
    ["retries", { retries: { perShard: 5 } }],
    ["activeDeadlineSeconds", { activeDeadlineSeconds: 5 }],
    ["pendingDeadlineSeconds", { pendingDeadlineSeconds: 5 }],
    ["progressDeadlineSeconds", { progressDeadlineSeconds: 5 }],
    ["ttlSecondsAfterFinished", { ttlSecondsAfterFinished: 5 }],
    ["priorityClassName", { priorityClassName: "urgent" }],
    ["profile", { profile: "gpu" }],
  ])("rejects a change of %s", async (field, spec) => {
    const answer = await merge(name, spec);
    expect(answer.ok).toBe(false);
    expect(answer.text).toContain(`${field} cannot be changed after creation`);
  });

  it.each([
    ["suspend", { suspend: true }],
    ["suspend, back", { suspend: false }],
    ["shards.parallelism", { shards: { parallelism: 3 } }],
    ["the same config again", { config: sample("training-job").spec.config }],
    ["queueName", { queueName: "night" }],
    ["queueName, to another", { queueName: "day" }],
    ["queueName, to none", { queueName: null }],
  ])("accepts a change of %s", async (_field, spec) => {
    expect(await merge(name, spec)).toMatchObject({ ok: true });
  });

  it("accepts cancel once and rejects its change and removal", async () => {
    expect(await merge(name, { cancel: { reason: "wrong labels" } })).toMatchObject({ ok: true });
    expect((await merge(name, { cancel: { reason: "another" } })).text).toContain(
      "cancel cannot be changed once it is set",
    );
    expect((await merge(name, { cancel: null })).text).toContain("cancel cannot be removed once it is set");
  });
});

describe("an inference job", () => {
  const change = (spec: unknown) => send("PATCH", "inferencejobs/fixed", { spec });
  const files = ["0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f41"];
  beforeAll(async () => {
    const object = sample("inference-job");
    object.metadata.name = "fixed";
    expect(await create(object)).toMatchObject({ ok: true });
  });

  it.each([
    ["datasetId", { datasetId: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2fff" }],
    ["datasetId", { datasetId: null }],
    ["modelId", { modelId: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2fff" }],
    ["audioFileIds", { audioFileIds: files }],
    ["config", { config: { thresholds: { click: 0.4 } } }],
    ["config", { config: null }],
  ])("rejects a change of %s to %j", async (field, spec) => {
    expect((await change(spec)).text).toContain(`${field} cannot be changed after creation`);
  });

  it("rejects a spec that names both files and a dataset", async () => {
    const object = sample("inference-job");
    object.metadata.name = "both";
    object.spec.audioFileIds = files;
    expect((await create(object)).text).toContain("not both");
    delete object.spec.datasetId;
    expect(await create(object)).toMatchObject({ ok: true });
  });

  it("rejects an id that is not a UUID in lower-case letters", async () => {
    const object = sample("inference-job");
    object.metadata.name = "loud";
    object.spec.tenantId = object.spec.tenantId.toUpperCase();
    expect((await create(object)).text).toContain("spec.tenantId");
  });
});

describe("an optional field", () => {
  const name = "tj-with-all";
  beforeAll(async () => {
    const object = sample("training-job");
    object.metadata.name = name;
    object.spec = {
      ...object.spec,
      priorityClassName: "urgent",
      ttlSecondsAfterFinished: 60,
      queueName: "day",
    };
    expect(await create(object)).toMatchObject({ ok: true });
  });

  it.each([
    ["priorityClassName", null],
    ["priorityClassName", "other"],
    ["ttlSecondsAfterFinished", null],
    ["ttlSecondsAfterFinished", 61],
  ])("rejects a change of %s to %s", async (field, value) => {
    expect((await merge(name, { [field]: value })).text).toContain(
      `${field} cannot be changed after creation`,
    );
  });

  it("such as queueName is immutable once the job is admitted", async () => {
    expect(await merge(name, { queueName: "night" })).toMatchObject({ ok: true });
    const status = { admittedTime: "2026-01-01T12:00:00Z" };
    expect(await send("PATCH", `trainingjobs/${name}/status`, { status })).toMatchObject({ ok: true });
    for (const queueName of ["day", null]) {
      expect((await merge(name, { queueName })).text).toContain(
        "queueName cannot be changed after admission",
      );
    }
    expect(await merge(name, { queueName: "night", suspend: true })).toMatchObject({ ok: true });
  });
});

describe("the name of a resource", () => {
  it.each([
    [52, true],
    [53, false],
  ])("with %d characters is accepted: %s", async (length, taken) => {
    for (const kind of ["training-job", "inference-job", "embedding-job"]) {
      const object = sample(kind);
      object.metadata.name = "n".repeat(length);
      const answer = await create(object, dryRun);
      expect(answer.ok, answer.text).toBe(taken);
      if (!taken) expect(answer.text).toContain("the name must have at most 52 characters");
    }
  });
});

describe("zod and the API server agree on", () => {
  const types = ["click"];
  const table: [string, unknown, boolean][] = [
    ["types alone", { artifact_types: types }, true],
    ["no types", { artifact_types: [] }, false],
    ["types absent", { epochs: 5 }, false],
    ["a type with a slash", { artifact_types: ["a/b"] }, false],
    ["a type of 65 characters", { artifact_types: ["a".repeat(65)] }, false],
    ["least epochs", { artifact_types: types, epochs: 1 }, true],
    ["no epochs", { artifact_types: types, epochs: 0 }, false],
    ["most epochs", { artifact_types: types, epochs: 100 }, true],
    ["epochs 101", { artifact_types: types, epochs: 101 }, false],
    ["epochs as text", { artifact_types: types, epochs: "20" }, false],
    ["half an epoch", { artifact_types: types, epochs: 1.5 }, false],
    ["split .1", { artifact_types: types, validation_split: 0.1 }, true],
    ["split .5", { artifact_types: types, validation_split: 0.5 }, true],
    ["split .05", { artifact_types: types, validation_split: 0.05 }, false],
    ["rate .0001", { artifact_types: types, learning_rate: 0.0001 }, true],
    ["rate .2", { artifact_types: types, learning_rate: 0.2 }, false],
    ["batch 8", { artifact_types: types, batch_size: 8 }, true],
    ["batch 257", { artifact_types: types, batch_size: 257 }, false],
    ["chunk 0", { artifact_types: types, chunk_size_ms: 0 }, false],
    ["stride 1", { artifact_types: types, stride_ms: 1 }, true],
    ["seed -1", { artifact_types: types, seed: -1 }, false],
  ];
  it.each(table)("%s", async (_name, config, valid) => {
    const body = sample("training-job");
    body.metadata.name = "tj-table";
    body.spec.config = config;
    const answer = await create(body, dryRun);
    expect({ zod: trainingConfig.safeParse(config).success, server: answer.ok }, answer.text).toEqual({
      zod: valid,
      server: valid,
    });
  });
});
