// One trace from a request over the custom resource, its Job and its pod to the end of the job, in a real collector.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeLog } from "../../src/log.ts";
import { makeTracing, type Tracing } from "../../src/tracing.ts";
import { makeTenant, type ServedApi, serveApi, testDeps } from "../support/api.ts";
import { type Collector, startCollector } from "../support/collector.ts";
import { useCluster } from "../support/kube.ts";
import { endPod, podOf, runOperator, startPod, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";
import { finishTraining } from "../support/training.ts";
import { makeTrainable } from "../support/world.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let namespace = "";
let collector: Collector;
let operator: TestOperator;
let api: ServedApi;
const tracings: Tracing[] = [];
const log = makeLog("test", "error");

beforeAll(async () => {
  collector = await startCollector();
  const tracing = async (part: "api" | "operator") => {
    const made = await makeTracing({ part, log, config: { PLOSIVE_OTLP_ENDPOINT: collector.endpoint } });
    tracings.push(made!);
    return made;
  };
  const space = await cluster.namespace();
  namespace = space.name;
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: database.url,
    storage: store.config,
    tracing: await tracing("operator"),
  });
  api = await serveApi({ ...testDeps(database.apiPool, store.storage), tracing: await tracing("api") });
  await operator.leading;
});
afterAll(async () => {
  await Promise.all([operator?.stop(), api?.stop()]);
  await Promise.all(tracings.map((tracing) => tracing.stop()));
  await collector?.stop();
});

/** Creates a training through the API, and returns its pod. */
async function train(traceparent: string) {
  const client = await makeTenant(database.pool, api.url);
  const body = await makeTrainable(client, database.pool);
  const { id } = (await client.post("/api/v1/training-jobs", body, { traceparent })).body;
  const pod = await podOf(cluster.admin, namespace, `tj-${id}-1`);
  await startPod(cluster.admin, pod);
  const hasEnded = async () => {
    const { status } = (await client.get(`/api/v1/training-jobs/${id}`)).body;
    return status === "completed" || status === "failed";
  };
  return { id, pod, tenant: client.tenantId, end: () => poll("the end of the training", hasEnded) };
}

const traceOf = (digit: string) => ({
  traceId: digit.repeat(32),
  traceparent: `00-${digit.repeat(32)}-00f067aa0ba902b7-01`,
});

/** The spans of a trace, by name; each name is there once. */
async function spansOf(traceId: string, names: readonly string[]) {
  return await poll(`the spans of ${traceId}`, () => {
    const found = collector.spans.filter((span) => span.traceId === traceId);
    expect(found.map(({ name }) => name).sort()).toEqual([...names].sort());
    return Object.fromEntries(found.map((span) => [span.name, span]));
  });
}

describe("a trace", () => {
  const names = ["POST /api/v1/training-jobs", "TrainingJob", "queue", "start", "run", "pod"];

  it("goes from the caller over the request, the job and its stages to the pod", async () => {
    const { traceId, traceparent } = traceOf("a");
    const { id, pod, tenant, end } = await train(traceparent);
    await finishTraining(cluster.admin, pod, new Worker(cluster, () => operator, pod));
    await end();
    const spans = await spansOf(traceId, names);
    const [request, job, run, worker] = [names[0]!, "TrainingJob", "run", "pod"].map((name) => spans[name]!);
    expect(request).toMatchObject({
      service: "plosive-api",
      parentSpanId: "00f067aa0ba902b7",
      isError: false,
    });
    expect(request?.attributes).toMatchObject({
      "http.route": "/api/v1/training-jobs",
      "http.response.status_code": 201,
      "plosive.tenant.id": tenant,
    });
    expect(job).toMatchObject({ service: "plosive-operator", parentSpanId: request?.spanId, isError: false });
    expect(job?.attributes).toMatchObject({
      "k8s.namespace.name": namespace,
      "plosive.job.name": `tj-${id}`,
      "plosive.job.outcome": "succeeded",
    });
    for (const stage of ["queue", "start", "run"]) {
      expect(spans[stage]?.parentSpanId).toBe(job?.spanId);
      expect(spans[stage]!.startMs).toBeGreaterThanOrEqual(job!.startMs);
      expect(spans[stage]!.endMs).toBeLessThanOrEqual(job!.endMs);
    }
    expect(worker?.parentSpanId).toBe(run?.spanId);
    expect(worker?.attributes).toMatchObject({
      "k8s.pod.name": pod.metadata.name,
      "plosive.shard": 0,
      "process.exit.code": 0,
    });
  });

  it("shows a failed pod and why the job failed", async () => {
    const { traceId, traceparent } = traceOf("b");
    const { pod, end } = await train(traceparent);
    await endPod(cluster.admin, pod, 64, JSON.stringify({ code: "bad_manifest", message: "No." }));
    await end();
    const spans = await spansOf(traceId, names);
    expect(spans.TrainingJob).toMatchObject({ isError: true });
    expect(spans.TrainingJob?.attributes).toMatchObject({
      "plosive.job.outcome": "failed",
      "error.type": "bad_manifest",
      "plosive.failure.class": "User",
    });
    expect(spans.pod).toMatchObject({ isError: true, attributes: { "process.exit.code": 64 } });
  });

  it("is not recorded if the caller does not record it", async () => {
    const { traceId, traceparent } = traceOf("c");
    const { pod, end } = await train(traceparent.replace(/01$/, "00"));
    await finishTraining(cluster.admin, pod, new Worker(cluster, () => operator, pod));
    await end();
    // One that is recorded comes after it.
    for (const tracing of tracings) tracing.begin("last", { parent: traceOf("d").traceparent }).end();
    await poll(
      "the last spans of both",
      () => collector.spans.filter(({ name }) => name === "last").length === 2,
    );
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });
});

it("without a collector there is no tracing", async () => {
  expect(await makeTracing({ part: "api", log, config: {} })).toBeUndefined();
});
