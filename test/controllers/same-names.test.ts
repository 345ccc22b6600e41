// Names that are reused or used twice: the operator does not confuse the objects of two resources. Real API server,
// Postgres and REST; the test plays the kubelet.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { inferenceJobs, jobs, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { searchable, trainable, useAdoption } from "../support/adoption.ts";
import { bindPod, buryPod, endPod, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";

const stage = useAdoption();
const { cluster, api, apply, find, refusal } = stage;

const bind = (pod: Pod) => bindPod(cluster.admin, pod);
const bury = (pod: Pod) => buryPod(cluster.admin, pod);

it("the deletion of a resource does not delete the Job of another kind's resource with the same name", async () => {
  const client = await api.tenant();
  const search = await searchable(api.db, client, 1);
  const { files: _, ...spec } = search;
  const training = (await apply(trainingJobs, "nightly", await trainable(api.db, client))).metadata.uid!;
  const inference = (await apply(inferenceJobs, "nightly", spec)).metadata.uid!;
  const kept = await stage.podOf(`tj-${training}-1`);
  await stage.podOf(`ij-${inference}-1`);
  await cluster.admin.remove(inferenceJobs, stage.ref("nightly"));
  await poll("the Job of the one that went to go", async () => {
    return (await cluster.admin.find(jobs, stage.ref(`ij-${inference}-1`))) === undefined;
  });
  await poll("its row to end", async () => {
    return (await client.get(`/api/v1/inference-jobs/${inference}`)).body.status === "cancelled";
  });
  const job = await cluster.admin.get(jobs, stage.ref(`tj-${training}-1`));
  expect(job.metadata.deletionTimestamp).toBeUndefined();
  expect((await stage.podOf(`tj-${training}-1`)).metadata.uid).toBe(kept.metadata.uid);
});

it("pods that end late are not counted for the next job of the same name, even of another tenant", async () => {
  const [first, second] = [await api.tenant(), await api.tenant()];
  const before = (await apply(trainingJobs, "turn", await trainable(api.db, first))).metadata.uid!;
  const pod = await stage.podOf(`tj-${before}-1`);
  await bind(pod);
  await startPod(cluster.admin, pod);
  await cluster.admin.remove(trainingJobs, stage.ref("turn"));
  await poll("the pod to be on its way out", async () => {
    return (await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp !== undefined;
  });
  const after = (await apply(trainingJobs, "turn", await trainable(api.db, second))).metadata.uid!;
  await startPod(cluster.admin, await stage.podOf(`tj-${after}-1`));
  const path = `/api/v1/training-jobs/${after}`;
  await poll("the next to run", async () => (await second.get(path)).body.status === "running");
  await endPod(cluster.admin, pod, 143);
  await bury(pod);
  // The next job's own pod ends, too, and is retried. When its end is recorded, the operator has seen both ends.
  await endPod(cluster.admin, await stage.podOf(`tj-${after}-1`), 1);
  const recorded = await poll("a recorded pod", async () => {
    const runs = await api.db.anyFirst(sql.type(z.object({ run_id: z.string() }))`
      select run_id from run_pods where job_id = ${after}`);
    return runs.length > 0 && runs;
  });
  expect(recorded).toEqual([`tj-${after}-1`]);
  const codesOf = (texts: string[]) => texts.flatMap((text) => /exit code (\d+)/.exec(text)?.[1] ?? []);
  const codes = await poll("the Kubernetes event of its own pod", async () => {
    const { items } = await cluster.admin.list(
      { apiVersion: "events.k8s.io/v1", kind: "Event", plural: "events" },
      stage.namespace,
    );
    const notes = items
      .map((event) => event as unknown as { regarding: { uid?: string }; note: string })
      .filter(({ regarding }) => regarding.uid === after)
      .map(({ note }) => note);
    return codesOf(notes).length > 0 && codesOf(notes);
  });
  expect(codes).toEqual(["1"]);
  await endPod(cluster.admin, await stage.podOf(`tj-${after}-1`), 64);
  await poll("the next to end", async () => (await second.get(path)).body.status === "failed");
  const messages = (await second.get(`${path}/events`)).body.items as { message: string }[];
  expect(codesOf(messages.map(({ message }) => message))).toEqual(["64"]);
});

it("a resource that is named after the id of an adopted job is refused and cannot cancel that job", async () => {
  const client = await api.tenant();
  const spec = await trainable(api.db, client);
  const id = (await apply(trainingJobs, "mine", spec)).metadata.uid!;
  await stage.podOf(`tj-${id}-1`);
  await apply(trainingJobs, `tj-${id}`, spec);
  expect(await refusal(trainingJobs, `tj-${id}`)).toMatchObject({
    reason: "PreconditionFailed",
    message: "The job whose id is in this name belongs to the resource mine.",
  });
  await cluster.admin.remove(trainingJobs, stage.ref(`tj-${id}`));
  await poll("the other to go", async () => (await find(trainingJobs, `tj-${id}`)) === undefined);
  // The pod of a later job shows that the operator has handled the deletion.
  const other = (await apply(trainingJobs, "later", spec)).metadata.uid!;
  await stage.podOf(`tj-${other}-1`);
  expect((await client.get(`/api/v1/training-jobs/${id}`)).body.status).toBe("queued");
});

it("a job ends when its resource is deleted, even if a finalizer holds the resource back", async () => {
  const client = await api.tenant();
  const id = (await apply(trainingJobs, "held", await trainable(api.db, client))).metadata.uid!;
  await stage.podOf(`tj-${id}-1`);
  const finalizers = (names: string[]) =>
    cluster.admin.patch(trainingJobs, stage.ref("held"), { metadata: { finalizers: names } });
  await finalizers(["example.com/backup"]);
  await cluster.admin.remove(trainingJobs, stage.ref("held"));
  await poll("its row to end", async () => {
    return (await client.get(`/api/v1/training-jobs/${id}`)).body.status === "cancelled";
  });
  await poll("its Job to go", async () => {
    return (await cluster.admin.find(jobs, stage.ref(`tj-${id}-1`))) === undefined;
  });
  expect((await find(trainingJobs, "held"))?.metadata).toMatchObject({
    uid: id,
    deletionTimestamp: expect.stringMatching(/^\d{4}-/),
    finalizers: ["example.com/backup"],
  });
  await finalizers([]);
});
