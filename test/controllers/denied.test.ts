// What the API server or its admission policies deny: the job waits, says why, and goes on once it is allowed. And what the
// operator cannot do for long is shown in the resource. Real API server with a policy and a webhook, Postgres and S3.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { makeOutbox, type OutboxOptions } from "../../controllers/outbox.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { advanceJob, maybeOneJob } from "../../src/db/job.ts";
import { KubeError } from "../../src/kube/errors.ts";
import { events, inferenceJobs, jobs } from "../../src/kube/kinds.ts";
import { poll } from "../support/poll.ts";
import { execute } from "../support/postgres.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;
const folder = mkdtempSync(join(tmpdir(), "plosive-denied-"));
let tenant: string;
let model: string;
let webhook: Server;
let webhookFails = false;
const admission = "/apis/admissionregistration.k8s.io/v1";
const made: string[] = [];

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
  const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...subject], {
    stdio: "ignore",
  });
  // A denial without a code, which arrives as 400.
  webhook = createServer(
    { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) },
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (webhookFails) return response.writeHead(500).end();
      const { uid } = JSON.parse(Buffer.concat(chunks).toString()).request;
      const review = { uid, allowed: false, status: { message: "no images from there" } };
      response.setHeader("Content-Type", "application/json");
      response.end(
        JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: review }),
      );
    },
  );
  await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  for (const path of made.splice(0))
    await cluster.admin.send({ method: "DELETE", path }).catch(() => undefined);
  webhook.closeAllConnections();
  webhook.close();
  rmSync(folder, { recursive: true, force: true });
});

async function create(plural: string, name: string, body: object): Promise<string> {
  await cluster.admin.send({
    method: "POST",
    path: `${admission}/${plural}`,
    body: { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name }, ...body },
  });
  const path = `${admission}/${plural}/${name}`;
  made.push(path);
  return path;
}
const here = () => ({ matchLabels: { "kubernetes.io/metadata.name": stage.namespace } });

/** Denies these resources in the operator's namespace by a policy, as 422. Returns the function that allows them. */
async function denyByPolicy(apiGroups: string[], resources: string[]): Promise<() => Promise<void>> {
  const name = `deny-${resources[0]}-${stage.namespace}`;
  const rule = { apiGroups, apiVersions: ["*"], operations: ["CREATE"], resources };
  const validations = [{ expression: "false", message: "not on weekdays" }];
  await create("validatingadmissionpolicies", name, {
    kind: "ValidatingAdmissionPolicy",
    spec: { matchConstraints: { resourceRules: [rule] }, validations },
  });
  const binding = await create("validatingadmissionpolicybindings", name, {
    kind: "ValidatingAdmissionPolicyBinding",
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: here() },
    },
  });
  return async () => void (await cluster.admin.send({ method: "DELETE", path: binding }));
}

/** Waits until the API server enforces it: a Job that is only tried is denied. */
const enforced = () =>
  poll("the denial to be enforced", async () => {
    const job = {
      metadata: { name: "tried", namespace: stage.namespace },
      spec: {
        template: {
          spec: { restartPolicy: "Never", containers: [{ name: "a", image: "registry.test/a" }] },
        },
      },
    };
    const path = `/apis/batch/v1/namespaces/${stage.namespace}/jobs`;
    return await cluster.admin
      .send({ method: "POST", path, query: { dryRun: "All" }, body: job })
      .then(() => undefined)
      .catch((error: unknown) => String(error));
  });

const statusOf = async (id: string) =>
  (await cluster.admin.find(inferenceJobs, stage.ref(`ij-${id}`)))?.status;
const synced = (id: string, status: string) =>
  poll(`StoreSynced ${status}`, async () =>
    (await statusOf(id))?.conditions?.find((each) => each.type === "StoreSynced" && each.status === status),
  );
const rowOf = (id: string) => maybeOneJob(database.pool, "inference", id);
const held = (id: string) =>
  poll("the reason", async () =>
    (await statusOf(id))?.conditions?.find(
      ({ type, status }) => type === "QuotaReserved" && status === "False",
    ),
  );
/** A change of the spec makes the operator try again before its pause ends. */
async function nudge(id: string): Promise<void> {
  for (const suspend of [true, false]) {
    await cluster.admin.patch(inferenceJobs, stage.ref(`ij-${id}`), { spec: { suspend } });
    await poll(
      "the operator to see it",
      async () => ((await statusOf(id))?.phase === "Suspended") === suspend,
    );
  }
}

it("a Job that a policy denies waits with its words, and is created once the policy allows it", async () => {
  const allow = await denyByPolicy(["batch"], ["jobs"]);
  expect(await enforced()).toMatch(/: 422 .*not on weekdays/);
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  expect(await held(id)).toMatchObject({
    reason: "WaitingForQuota",
    message: expect.stringMatching(/^The cluster rejects the job's Kubernetes Job: .*not on weekdays/),
  });
  expect((await rowOf(id))?.status_message).toContain("not on weekdays");
  await allow();
  await poll("the policy to end", async () => {
    await nudge(id);
    return await cluster.admin.find(jobs, stage.ref(`ij-${id}-1`));
  });
});

/** Asks the webhook, which denies or fails, about each Job of the operator's namespace. Returns the function that ends it. */
async function askWebhook(fails: boolean): Promise<() => Promise<void>> {
  webhookFails = fails;
  const { port } = webhook.address() as AddressInfo;
  const path = await create("validatingwebhookconfigurations", `deny-${stage.namespace}`, {
    kind: "ValidatingWebhookConfiguration",
    webhooks: [
      {
        name: "images.example.com",
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: readFileSync(join(folder, "cert")).toString("base64"),
        },
        rules: [{ apiGroups: ["batch"], apiVersions: ["*"], operations: ["CREATE"], resources: ["jobs"] }],
        namespaceSelector: here(),
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  return async () => void (await cluster.admin.send({ method: "DELETE", path }));
}

it("a Job that a webhook denies without a code waits too", async () => {
  const end = await askWebhook(false);
  expect(await enforced()).toMatch(/: 400 .*no images from there/);
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  expect((await held(id)).message).toContain("no images from there");
  await end();
  await poll("the webhook to end", async () => {
    await nudge(id);
    return await cluster.admin.find(jobs, stage.ref(`ij-${id}-1`));
  });
});

it("a job whose Job cannot be created because a webhook fails says so, and gets its Job when the webhook is gone", async () => {
  const end = await askWebhook(true);
  expect(await enforced()).toMatch(/: 500 .*failed calling webhook/);
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  const failing = await synced(id, "False");
  expect(failing.reason).toBe("ReconcileFailed");
  expect(failing.message).toContain("failed calling webhook");
  await end();
  await poll("its Job", () => cluster.admin.find(jobs, stage.ref(`ij-${id}-1`)));
  await synced(id, "True");
});

it("a job whose custom resource is denied stays open with the reason, and is submitted later", async () => {
  const allow = await denyByPolicy(["plosive.dev"], ["inferencejobs"]);
  const deniedRow = async () => {
    const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
    return {
      id,
      row: await poll("a message or a resource", async () => (await message(id)) ?? (await statusOf(id))),
    };
  };
  const message = async (id: string) => (await rowOf(id))?.status_message ?? undefined;
  // Jobs of the first moments may still pass.
  const { id, row } = await poll("a denied job", async () => {
    const found = await deniedRow();
    return typeof found.row === "string" && found.row.includes("weekdays") ? found : undefined;
  });
  expect(row).toMatch(/^The cluster rejects the job: .*not on weekdays/);
  expect((await rowOf(id))?.status).toBe("pending");
  await allow();
  await poll("its Job", () => cluster.admin.find(jobs, stage.ref(`ij-${id}-1`)));
  // The Job may exist before the operator has recorded that it could submit the custom resource.
  await poll("the error to be gone from the row", async () => {
    const submitted = sql.type(z.object({ submit_error: z.string().nullable() }))`
      select submit_error from inference_jobs where id = ${id}`;
    return (await database.pool.oneFirst(submitted)) === null;
  });
});

it("a job whose Job has the name of a foreign one says so, and goes on when that is gone", async () => {
  const foreign = await cluster.admin.get(jobs, stage.ref((await anyJob()).metadata.name));
  const id = await database.pool.transaction(async (tx: Db) => {
    const { id } = await insertInferenceJob(tx as never, tenant, model, 1);
    const { completions, completionMode, template } = foreign.spec as unknown as Record<string, unknown>;
    const spec = template as { spec: object };
    await cluster.admin.create(jobs, {
      metadata: { name: `ij-${id}-1`, namespace: stage.namespace },
      spec: { completions, completionMode, suspend: true, template: { spec: spec.spec } },
    } as never);
    return id;
  });
  const failing = await synced(id, "False");
  expect(failing.reason).toBe("ReconcileFailed");
  expect(failing.message).toContain(`Job ij-${id}-1 exists and belongs to something else`);
  await poll("the event", async () => {
    const { items } = await cluster.admin.list(events, stage.namespace);
    return items.some((event) => (event as unknown as { reason: string }).reason === "ReconcileFailed");
  });
  await cluster.admin.remove(jobs, stage.ref(`ij-${id}-1`));
  await poll("an own Job", async () => {
    const job = await cluster.admin.find(jobs, stage.ref(`ij-${id}-1`));
    return job?.metadata.ownerReferences !== undefined;
  });
  await synced(id, "True");
});

const anyJob = () => poll("some Job", async () => (await cluster.admin.list(jobs, stage.namespace)).items[0]);

it("a denied cancellation is tried again later and later, and holds up no other", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) {
    const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
    await execute(
      database.pool,
      sql.fragment`update inference_jobs set installation = 'other', status = 'cancelling', submitted_at = now(),
        cancel_requested_at = now() where id = ${id}`,
    );
    ids.push(id);
  }
  const asked: string[] = [];
  const patch = async (_type: unknown, { name }: { name: string }) => {
    asked.push(name.slice(3));
    throw new KubeError("patch is forbidden", { status: 403, reason: "Forbidden" });
  };
  const outbox = makeOutbox({
    db: database.operatorPool,
    kube: { patch },
    installation: "other",
    namespace: stage.namespace,
    log: { error: () => undefined },
    signal: new AbortController().signal,
  } as unknown as OutboxOptions);
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    await outbox.forwardCancels();
    await outbox.forwardCancels();
    expect(asked.toSorted()).toEqual(ids.toSorted());
    // A reconcile of the job, which still runs, leaves the reason.
    const running = { statusMessage: "3 of 20 files", progressPercent: 15, platformJobName: null };
    for (const id of ids)
      await advanceJob(database.operatorPool, "inference", id, { ...running, status: "running" });
    const shown = await Promise.all(ids.map(async (id) => (await rowOf(id))?.status_message));
    expect(shown).toEqual(ids.map(() => "The cluster rejects the cancellation: patch is forbidden"));
    vi.advanceTimersByTime(1_001);
    await outbox.forwardCancels();
    expect(asked).toHaveLength(4);
    vi.advanceTimersByTime(1_001);
    await outbox.forwardCancels();
    expect(asked).toHaveLength(4);
  } finally {
    vi.useRealTimers();
  }
});
