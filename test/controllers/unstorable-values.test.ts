// Reports, termination logs and cancel reasons may contain any value, such as a text that Postgres cannot store or a
// number that a status cannot hold. None may block its own job or another. Real API server, Postgres and run
// endpoint.
import { sql } from "slonik";
import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import { endPod, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;
let tenant: string;
let model: string;
beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
});

async function runningJob() {
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  const pod = await stage.podOf(`ij-${id}-1`);
  await startPod(cluster.admin, pod);
  return { id, pod };
}
const ending = (id: string) =>
  poll("the end of the job", async () => {
    const { status } = await cluster.admin.get(inferenceJobs, stage.ref(`ij-${id}`));
    return status?.completionTime === undefined ? undefined : status;
  });
const rowOf = (id: string) => maybeOneJob(database.pool, "inference", id);
/** The worker's termination log. */
const words = (more: object) =>
  JSON.stringify({
    code: "bad_manifest",
    message: "No.",
    hint: null,
    shard: 0,
    item: null,
    items_done: null,
    items_total: null,
    items_failed: null,
    ...more,
  });

it("a report that cannot be stored does not block the report of another pod", async () => {
  const [bad, good] = [await runningJob(), await runningJob()];
  const worker = stage.worker(bad.pod);
  expect(await worker.report({ items_total: 3_000_000_000 })).toBe(422);
  expect(await worker.report({ checkpoint_step: 3_000_000_000 })).toBe(422);
  expect(await worker.report({ metrics: [{ step: 3_000_000_000, name: "loss", value: 1 }] })).toBe(422);
  expect(await worker.report({ message: "a\0b \ud800" })).toBe(204);
  expect(await stage.worker(good.pod).report({ message: "Fine" })).toBe(204);
  const said = (id: string) =>
    poll("the report", () =>
      database.pool.maybeOneFirst(sql.type(z.object({ message: z.string() }))`
        select message from shard_progress where run_id = ${`ij-${id}-1`}`),
    );
  expect(await said(good.id)).toBe("Fine");
  expect(await said(bad.id)).toBe("ab \ufffd");
});

it("a termination log that Postgres cannot store still ends its job", async () => {
  const { id, pod } = await runningJob();
  // The cut at 1000 code units splits a surrogate pair.
  await endPod(cluster.admin, pod, 64, words({ message: `a\0b${"x".repeat(996)}`, hint: "\u{1f50a}" }));
  const status = await ending(id);
  expect(status.failure).toMatchObject({ class: "User", code: "bad_manifest" });
  const row = await rowOf(id);
  expect(row?.status).toBe("failed");
  expect(row?.error_message).toMatch(/^abx{996}/);
});

it("impossible counts do not lead to a status that the API server refuses", async () => {
  const { id, pod } = await runningJob();
  const counts = { items_done: -5, items_total: -5, items_failed: 0 };
  await endPod(cluster.admin, pod, 0, words({ ...counts, code: "ok" }));
  const status = await ending(id);
  expect(status.failure?.code).toBe("result_missing");
  expect((await rowOf(id))?.status).toBe("failed");
});

it("a cancel whose reason Postgres cannot store still cancels the job", async () => {
  const { id } = await runningJob();
  await cluster.admin.patch(inferenceJobs, stage.ref(`ij-${id}`), {
    spec: { cancel: { reason: "en\0ough" } },
  });
  expect((await ending(id)).phase).toBe("Cancelled");
  expect(await rowOf(id)).toMatchObject({ status: "cancelled", status_message: "enough" });
});
