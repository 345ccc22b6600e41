// The operator as the process that the chart runs: it is killed, stopped, and cut off from the API server, Postgres
// or the object store while jobs run. The test restarts it as the kubelet does; no Job is created twice and no result
// is lost.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import type { RunEndpoint } from "../../controllers/runs/endpoint.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { leases } from "../../src/kube/kinds.ts";
import { freePorts, nodeEnv } from "../../tools/process.ts";
import { type TestNamespace, useOwnCluster } from "../support/kube.ts";
import { endPod, jobsOf, podOf, put, startPod, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { audience, startRuns } from "../support/runs.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useOwnCluster();
const database = useDatabase();
const store = useStorage();
const dir = mkdtempSync(join(tmpdir(), "plosive-operator-"));
let space: TestNamespace;
let postgres: TestProxy;
let s3: TestProxy;
let healthPort = 0;
let runs: RunEndpoint;
let child: ChildProcess | undefined;
let starts = 0;
/** Whether the test, as the kubelet does, restarts a process that has ended. */
let restarts = false;

beforeAll(async () => {
  [postgres, s3] = await Promise.all([
    startProxy(database.urlOf("plosive_operator")),
    startProxy(store.config.PLOSIVE_S3_ENDPOINT),
  ]);
  writeProfile({ image: "registry.test/worker:1" });
  [healthPort = 0] = await freePorts(1);
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), s3?.stop()]);
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  space = await cluster.namespace();
  restarts = true;
  runs = await startRuns({
    cluster,
    namespace: space,
    databaseUrl: postgres.url,
    storage: { ...store.config, PLOSIVE_S3_ENDPOINT: s3.url },
  });
  start();
});
afterEach(async () => {
  restarts = false;
  await end("SIGKILL");
  await runs.stop();
  await database.pool.query(sql.type(z.object({}))`delete from inference_jobs`);
  await database.pool.query(sql.type(z.object({}))`delete from models`);
  await database.pool.query(sql.type(z.object({}))`delete from training_jobs`);
  // The operator of the next test has another Lease, and would wait until this one counts as gone.
  await database.pool.query(sql.type(z.object({}))`delete from installations`);
});

function writeProfile(pod: object): void {
  const profiles = { default: { embed: pod, train: pod, detect: pod } };
  writeFileSync(join(dir, "profiles.json"), JSON.stringify(profiles));
}

function start(): void {
  starts++;
  writeFileSync(join(dir, "operator.log"), "");
  const started = spawn(process.execPath, ["controllers/main.ts"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...nodeEnv,
      PLOSIVE_DATABASE_URL: postgres.url,
      PLOSIVE_DATABASE_POOL: "6",
      PLOSIVE_S3_ENDPOINT: s3.url,
      PLOSIVE_S3_BUCKET: store.config.PLOSIVE_S3_BUCKET,
      PLOSIVE_S3_ACCESS_KEY_ID: store.config.PLOSIVE_S3_ACCESS_KEY_ID,
      PLOSIVE_S3_SECRET_ACCESS_KEY: store.config.PLOSIVE_S3_SECRET_ACCESS_KEY,
      PLOSIVE_NAMESPACE: space.name,
      PLOSIVE_KUBECONFIG: space.operatorKubeconfig,
      PLOSIVE_METRICS_PORT: "0",
      PLOSIVE_HEALTH_PORT: String(healthPort),
      PLOSIVE_RUNS_URL: "https://operator.test:8443",
      PLOSIVE_RUNS_CA_CONFIGMAP: "plosive-runs-ca",
      PLOSIVE_RUNS_AUDIENCE: audience,
      PLOSIVE_PROFILES_FILE: join(dir, "profiles.json"),
    },
  });
  child = started;
  let log = "";
  started.stdout.on("data", (chunk: Buffer) => {
    log += chunk;
    writeFileSync(join(dir, "operator.log"), log);
  });
  started.once("exit", () => {
    if (restarts && child === started) start();
  });
}

/** The exit code, once the process has ended. */
async function end(signal: NodeJS.Signals): Promise<number | null> {
  const ending = child;
  if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return null;
  const code = new Promise<number | null>((resolve) => ending.once("exit", resolve));
  ending.kill(signal);
  return code;
}

const logged = (text: string) => readFileSync(join(dir, "operator.log"), "utf8").includes(text);
const names = async () => (await jobsOf(cluster.admin, space.name)).map(({ metadata }) => metadata.name);

async function inferenceInFlight() {
  const tenant = await insertTenant(database.pool);
  const { id, files } = await insertInferenceJob(
    database.pool,
    tenant,
    await insertModel(database.pool, tenant),
    1,
  );
  const run = `ij-${id}-1`;
  const pod = await podOf(cluster.admin, space.name, run);
  await startPod(cluster.admin, pod);
  const work = await new Worker(cluster, () => ({ runsPort: runs.port }), pod).work();
  const detections = [{ artifact_type: "click", start_ms: 1, end_ms: 2, confidence: 0.5 }];
  const facts = {
    duration_ms: 1000,
    sample_rate_hz: 8000,
    channels: 1,
    sha256: "a".repeat(64),
    size_bytes: 10,
  };
  const items = [{ id: files[0], status: "completed", ...facts, detections }];
  return {
    id,
    run,
    leaveResult: () => put(work.result, JSON.stringify({ version: 1, kind: "detect", run, shard: 0, items })),
    exit: () => endPod(cluster.admin, pod, 0),
    ended: async () => (await maybeOneJob(database.pool, "inference", id))?.status === "completed",
  };
}

async function expectOnce(id: string, run: string): Promise<void> {
  expect(await names()).toEqual([run]);
  const detections = await database.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
    select count(*)::int as count from detections where inference_job_id = ${id}`);
  expect(detections).toBe(1);
}

it("an operator that is killed while a job runs ingests the result once after its restart", async () => {
  const job = await inferenceInFlight();
  await end("SIGKILL");
  await job.leaveResult();
  await job.exit();
  // The lease of the dead process has to expire first: 15 s.
  await poll("the row to be completed", job.ended);
  await expectOnce(job.id, job.run);
});

it("an operator that gets SIGTERM releases its lease and exits with 0", async () => {
  await poll("the lead", () => logged("this replica leads"));
  restarts = false;
  expect(await end("SIGTERM")).toBe(0);
  const lease = await cluster.admin.get(leases, { namespace: space.name, name: "plosive-operator" });
  expect(lease.spec?.holderIdentity ?? "").toBe("");
});

it("an operator without Postgres and object store keeps running and loses no result", async () => {
  const job = await inferenceInFlight();
  const before = starts;
  await job.leaveResult();
  s3.cut();
  await job.exit();
  await poll("a failed attempt to read the result", () => logged("reconcile failed; retrying"));
  postgres.cut();
  await poll("a failed attempt to use Postgres", () => logged("a sweep failed; retrying"));
  expect(await job.ended()).toBe(false);
  s3.heal();
  postgres.heal();
  await poll("the row to be completed", job.ended);
  expect(starts).toBe(before);
  await expectOnce(job.id, job.run);
});

it("an operator that starts without Postgres is live, and ready once it has reached Postgres", async () => {
  const answer = async (path: string) => (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status;
  restarts = false;
  await end("SIGKILL");
  postgres.cut();
  start();
  await poll("a failed attempt to use Postgres", () => logged("could not use Postgres"));
  expect(await answer("/healthz")).toBe(200);
  expect(await answer("/readyz")).toBe(503);
  postgres.heal();
  await poll("the operator to be ready", async () => (await answer("/readyz")) === 200);
});

it("an operator whose profile the API server refuses ends before it does anything", async () => {
  restarts = false;
  await end("SIGKILL");
  const image = "registry.test/worker:1";
  writeProfile({ image, topologySpreadConstraints: [{ maxSkew: 0 }] });
  start();
  const code = await new Promise((resolve) => child?.once("exit", resolve));
  writeProfile({ image });
  expect(code).toBe(1);
  expect(logged("the operator runs")).toBe(false);
});

// Last, because it stops the API server.
it("a new row waits while the API server is down, and is submitted after its return, although the lease was lost", async () => {
  await poll("the lead", () => logged("this replica leads"));
  const before = starts;
  await cluster.plane.stopApiServer();
  const tenant = await insertTenant(database.pool);
  const id = await insertTrainingJob(database.pool, tenant);
  await poll("a failed attempt to submit the row", () =>
    database.pool.maybeOneFirst(sql.type(z.object({ submit_error: z.string() }))`
      select submit_error from training_jobs where id = ${id} and submit_error is not null`),
  );
  await poll("the end of the process that lost its lease", () => starts > before);
  await cluster.plane.startApiServer();
  await poll(
    "the row to be queued",
    async () => (await maybeOneJob(database.pool, "training", id))?.status === "queued",
  );
  expect(await names()).toEqual([`tj-${id}-1`]);
  // One restart for the lost lease; a wait for the API server must not cause another.
  expect(starts).toBe(before + 1);
});
