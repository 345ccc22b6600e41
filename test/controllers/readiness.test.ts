// The conditions Ready and Stalled and the observed generation on a real API server, as `kubectl wait`, Flux and Argo CD read them.
import { sql } from "slonik";
import { beforeAll, expect, it } from "vitest";
import { embeddingJobs, models } from "../../src/kube/kinds.ts";
import { poll } from "../support/poll.ts";
import { insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ driftMs: 200 });
const { cluster, database } = stage;
let tenantId: string;
beforeAll(async () => {
  tenantId = await insertTenant(database.pool);
});

const conditionsOf = async (name: string) => {
  const { status } = await cluster.admin.get(embeddingJobs, stage.ref(name));
  return Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, each]));
};

it("a resource that no operator has seen does not look complete", async () => {
  const { name: namespace } = await cluster.namespace();
  const metadata = { namespace, name: "unseen" };
  await cluster.admin.create(embeddingJobs, { metadata, spec: { tenantId, shards: { count: 1 } } } as never);
  expect((await cluster.admin.get(embeddingJobs, metadata)).status).toEqual({ observedGeneration: -1 });
});

it("a job is not ready while it waits to be accepted, and stalled once it is cancelled", async () => {
  const spec = { tenantId, shards: { count: 1 } };
  await cluster.admin.create(embeddingJobs, { metadata: stage.ref("no-uploads"), spec } as never);
  const refused = await poll("the refusal", async () => (await conditionsOf("no-uploads")).Ready);
  expect(refused).toMatchObject({ status: "False", reason: "PreconditionFailed" });
  expect(await conditionsOf("no-uploads")).not.toHaveProperty("Stalled");
  await cluster.admin.patch(embeddingJobs, stage.ref("no-uploads"), {
    spec: { cancel: { reason: "enough" } },
  });
  const stalled = await poll("the end", async () => (await conditionsOf("no-uploads")).Stalled);
  expect(stalled).toMatchObject({ status: "True", reason: "CancelRequested", message: "enough" });
  expect((await conditionsOf("no-uploads")).Ready?.status).toBe("False");
});

it("an ended job follows the generation of its spec, and gets the conditions that an earlier release did not write", async () => {
  const ref = stage.ref("ended");
  const spec = { tenantId, shards: { count: 2 }, cancel: { reason: "enough" } };
  await cluster.admin.create(embeddingJobs, { metadata: ref, spec } as never);
  const {
    Ready: _,
    Stalled: __,
    ...others
  } = await poll("the end", async () => {
    const conditions = await conditionsOf("ended");
    return conditions.Stalled && conditions;
  });
  await cluster.admin.send({
    method: "PATCH",
    path: `/apis/plosive.dev/v1alpha1/namespaces/${ref.namespace}/embeddingjobs/${ref.name}/status`,
    body: { status: { conditions: Object.values(others) } },
    contentType: "application/merge-patch+json",
  });
  await poll("the conditions again", async () => (await conditionsOf("ended")).Stalled);
  await cluster.admin.patch(embeddingJobs, ref, { spec: { shards: { parallelism: 2 } } });
  await poll("the generation", async () => {
    const { metadata, status } = await cluster.admin.get(embeddingJobs, ref);
    return metadata.generation === 2 && status?.observedGeneration === 2;
  });
});

it("a model is ready, also one that is archived", async () => {
  const id = await insertModel(database.pool, tenantId);
  const shown = await poll("the model", async () => {
    const model = await cluster.admin.find(models, stage.ref(`m-${id}`));
    return model?.status?.conditions && model;
  });
  const ready = { type: "Ready", status: "True", observedGeneration: 1 };
  expect(shown.status).toMatchObject({ observedGeneration: 1, phase: "Ready" });
  expect(shown.status?.conditions).toMatchObject([{ ...ready, reason: "Available" }]);
  await database.execute(
    sql.fragment`update models set archived_at = now(), is_active = false where id = ${id}`,
  );
  const archived = await poll("the archived model", async () => {
    const model = await cluster.admin.find(models, stage.ref(`m-${id}`));
    return model?.status?.phase === "Archived" && model;
  });
  expect(archived.status?.conditions).toMatchObject([{ ...ready, reason: "Archived" }]);
});
