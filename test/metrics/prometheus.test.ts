// The metrics of running processes, two replicas of the operator and the API: they match the documentation, change with
// events, and give every dashboard panel and every alert rule data in a real Prometheus that scrapes them.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import { type ApiProcess, startApiProcess } from "../support/api-process.ts";
import { useCluster } from "../support/kube.ts";
import { runOperator, type TestOperator } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Exposition, onPorts, type Prometheus, scrape, startPrometheus } from "../support/prometheus.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { useStorage } from "../support/s3.ts";
import { documented } from "./documented.ts";
import { askPanels, askRule, filled, readDashboards, readRules, renderRules } from "./questions.ts";
import { applyJob, embed, failToInfer, type Stage, stall, train, useTheApi, waitForPods } from "./story.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
const dir = mkdtempSync(join(tmpdir(), "plosive-metrics-"));
const ends: (() => Promise<unknown>)[] = [];
const running = new Set<TestOperator>();
let namespace: string;
let api: ApiProcess;
let leader: TestOperator;
let standby: TestOperator;
let prometheus: Prometheus;
let stage: Stage;
/** Names of custom resources. */
let waiting: string;
let failed: string;
let confirmInVain: () => Promise<void>;
/** When the operators started, in seconds since 1970. */
let began: number;

beforeAll(async () => {
  const made = await cluster.namespace();
  namespace = made.name;
  const receiver: Receiver = await startReceiver();
  ends.push(() => receiver.stop());
  const operators: TestOperator[] = [];
  began = Date.now() / 1000;
  for (const identity of ["one", "two"]) {
    const operator = await runOperator({
      cluster,
      namespace: made,
      databaseUrl: database.url,
      storage: store.config,
      identity,
      // The story's models have no custom resources; on a busy machine a repair of drift would create them.
      driftMs: 600_000,
      leaseMs: { durationMs: 75_000, deadlineMs: 60_000, periodMs: 500 },
      config: { PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: new Set([receiver.origin]) },
    });
    running.add(operator);
    operators.push(operator);
  }
  api = await startApiProcess({
    databaseUrl: database.urlOf("plosive_api"),
    // Tickets name the real store. The API's own requests to the store fail, because nothing listens on its port.
    storage: {
      ...store.config,
      PLOSIVE_S3_ENDPOINT: "http://127.0.0.1:9",
      PLOSIVE_S3_PUBLIC_ENDPOINT: store.config.PLOSIVE_S3_ENDPOINT,
    },
    env: {
      PLOSIVE_KUBECONFIG: made.apiKubeconfig,
      PLOSIVE_NAMESPACE: namespace,
      PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: receiver.origin,
      PLOSIVE_RATE_KEYS_PER_MINUTE: "1",
    },
  });
  ends.push(() => api.stop());
  leader = await poll("a leader", () => operators.find((operator) => operator.leads()));
  standby = operators.find((operator) => operator !== leader)!;
  prometheus = await startPrometheus({
    scrape: [
      onPorts("plosive-operator", namespace, leader.metricsPort, standby.metricsPort, leader.runsMetricsPort),
      onPorts("plosive-api", namespace, api.metricsPort),
    ],
    ruleFiles: [renderRules(namespace, join(dir, "rules.yaml"))],
  });
  ends.push(() => prometheus.stop());
  await leader.leading;
  // Prometheus does not see counts before the first scrape as a change.
  await poll(
    "Prometheus to hear from all four",
    async () => (await prometheus.query("up == 1")).length === 4,
  );
  stage = { cluster, namespace, pool: database.pool, operator: leader };
  [waiting, failed, confirmInVain] = await Promise.all([
    waitForPods(stage),
    failToInfer(stage),
    useTheApi(api, database.pool, receiver),
    train(stage),
    embed(stage),
  ]);
});
afterAll(async () => {
  for (const operator of running) await end(operator);
  for (const one of ends) await one();
  rmSync(dir, { recursive: true, force: true });
});

async function end(operator: TestOperator): Promise<void> {
  if (running.delete(operator)) await operator.stop();
}

const operatorSections = [
  "All",
  "Operator and run endpoint: the API server",
  "Operator: jobs",
  "Operator: deliveries and background work",
  "Operator: its own health",
];
const own = (name: string) => !/^(process|nodejs)_/.test(name);

describe("every process", () => {
  it.each([
    ["the leader", () => leader.metricsPort, operatorSections],
    ["the standby", () => standby.metricsPort, operatorSections],
    [
      "the run endpoint",
      () => leader.runsMetricsPort,
      ["All", "Operator and run endpoint: the API server", "Run endpoint"],
    ],
    ["the API", () => api.metricsPort, ["All", "API"]],
  ] as const)(
    "%s serves the metrics of docs/metrics.md with their types and labels, and no others",
    async (_, port, sections) => {
      const table = documented(...sections);
      expect(table.size).toBeGreaterThan(9);
      const { types, samples } = await scrape(port());
      const served = [...types].filter(([name]) => own(name));
      expect(Object.fromEntries(served)).toEqual(
        Object.fromEntries([...table].map(([name, { type }]) => [name, type])),
      );
      for (const { name, labels } of samples.filter((sample) => own(sample.name))) {
        const metric = table.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
        const names = Object.keys(labels).filter((label) => label !== "le");
        const known = table.get(metric)?.labels ?? {};
        expect(names.sort(), name).toEqual(Object.keys(known).sort());
        for (const [label, value] of Object.entries(labels)) {
          expect(value, name).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
          if ((known[label] ?? []).length > 0) expect(known[label], name).toContain(value);
        }
      }
    },
  );

  it("shows all jobs on the standby, which does not lead and has no reconciles", async () => {
    const jobs = (page: Exposition) => page.samples.filter(({ name }) => name === "plosive_jobs");
    // Each replica has its own cache, which learns of the last change in its own time.
    const [a, b] = await poll("both to show the same jobs", async () => {
      const pages = await Promise.all([scrape(leader.metricsPort), scrape(standby.metricsPort)]);
      expect(jobs(pages[1])).toEqual(jobs(pages[0]));
      return pages;
    });
    expect(a.value("leader_election_master_status")).toBe(1);
    expect(b.value("leader_election_master_status")).toBe(0);
    expect(b.value("plosive_jobs")).toBe(4);
    expect(b.value("controller_runtime_reconcile_total")).toBe(0);
    expect(b.value("plosive_jobs_finished_total")).toBe(0);
  });
});

describe("the leader's metrics", () => {
  /** Metric, labels, and the expected value: exact, or more than 0. */
  const moved: [string, Record<string, string>, number | "more"][] = [
    ["plosive_jobs", { kind: "training", phase: "Succeeded" }, 1],
    ["plosive_jobs", { kind: "training", phase: "Waiting" }, 1],
    ["plosive_jobs", { kind: "inference", phase: "Failed" }, 1],
    ["plosive_jobs_not_progressing", { kind: "training", reason: "WaitingForPods" }, 1],
    ["plosive_jobs_oldest_wait_seconds", { kind: "training", phase: "Waiting" }, "more"],
    ["plosive_jobs_finished_total", { kind: "training", outcome: "succeeded" }, 1],
    ["plosive_jobs_finished_total", { kind: "embedding", outcome: "succeeded" }, 1],
    ["plosive_jobs_finished_total", { kind: "inference", outcome: "failed", failure_class: "User" }, 1],
    ["plosive_jobs_finished_total", {}, 3],
    ["plosive_job_queue_seconds_count", { kind: "training" }, 2],
    ["plosive_job_create_seconds_count", { kind: "training" }, 2],
    ["plosive_job_start_seconds_count", { kind: "training" }, 1],
    ["plosive_job_run_seconds_count", { kind: "training" }, 1],
    ["plosive_job_run_seconds_count", {}, "more"],
    ["plosive_status_lag_seconds_count", { sink: "row" }, 3],
    ["plosive_status_lag_seconds_count", { sink: "resource" }, 3],
    ["plosive_status_overdue_seconds", {}, 0],
    ["plosive_shard_retries_total", { class: "User" }, 1],
    ["plosive_shard_retries_total", {}, 1],
    ["plosive_audio_seconds_processed_total", { kind: "embedding" }, 3],
    ["controller_runtime_reconcile_total", { controller: "trainingjobs", result: "success" }, "more"],
    ["controller_runtime_reconcile_total", { controller: "trainingjobs", result: "requeue_after" }, "more"],
    ["controller_runtime_reconcile_time_seconds_count", { controller: "embeddingjobs" }, "more"],
    ["controller_runtime_max_concurrent_reconciles", { controller: "models" }, "more"],
    ["workqueue_adds_total", { name: "inferencejobs" }, "more"],
    ["workqueue_queue_duration_seconds_count", { name: "inferencejobs" }, "more"],
    ["workqueue_work_duration_seconds_count", { name: "inferencejobs" }, "more"],
    ["rest_client_requests_total", { method: "POST", code: "201" }, "more"],
    ["rest_client_requests_total", { method: "PATCH", code: "200" }, "more"],
    ["rest_client_request_duration_seconds_count", { verb: "GET" }, "more"],
    ["plosive_informer_relists_total", { resource: "pods" }, 1],
    ["plosive_informer_objects", { resource: "trainingjobs" }, 2],
    ["plosive_informer_objects", { resource: "models" }, 1],
    ["plosive_drift_total", {}, 0],
    ["plosive_purges_failing", {}, 0],
    ["plosive_deletion_overdue_seconds", {}, 0],
  ];

  it.each(moved)("include %s %o with the value %s", async (name, labels, expected) => {
    await poll(`${name} ${JSON.stringify(labels)}`, async () => {
      const value = (await scrape(leader.metricsPort)).value(name, labels);
      if (value === expected || (expected === "more" && (value ?? 0) > 0)) return true;
      throw new Error(`it is ${value}`);
    });
  });

  it.each([
    ["accepted", 1],
    ["stale", 1],
    ["invalid", 1],
    ["refused", 1],
    ["ended", "more"],
  ])("of the run endpoint include the requests of pods that are %s", async (result, expected) => {
    const value = (await scrape(leader.runsMetricsPort)).value("plosive_progress_reports_total", { result });
    if (expected === "more") expect(value).toBeGreaterThan(0);
    else expect(value).toBe(expected);
  });

  it("have recent timestamps of caches and sweeps, and plausible durations", async () => {
    const page = await poll("each sweep to have gone through", async () => {
      const now = await scrape(leader.metricsPort);
      const times = now.samples.filter(({ name }) => name === "plosive_sweep_last_success_timestamp_seconds");
      return times.length > 0 && times.every(({ value }) => value > 0) && now;
    });
    const seconds = Date.now() / 1000;
    for (const { name, value, labels } of page.samples) {
      if (!name.endsWith("_timestamp_seconds") || !own(name)) continue;
      // Drift is swept only once here.
      const oldest = labels.sweep === "drift" ? began : seconds - 120;
      expect(value, `${name} ${JSON.stringify(labels)}`).toBeGreaterThan(oldest);
      expect(seconds - value).toBeGreaterThan(-1);
    }
    for (const name of ["plosive_job_queue_seconds", "plosive_job_start_seconds", "plosive_job_run_seconds"])
      expect(page.value(`${name}_sum`, { kind: "training" }), name).toBeLessThan(2 * (seconds - began));
    expect(page.value("plosive_job_run_seconds_sum", { kind: "training" })).toBeGreaterThan(0);
    expect(page.value("plosive_job_run_seconds_bucket", { kind: "training", le: "+Inf" })).toBe(1);
  });
});

describe("Prometheus", () => {
  const dashboards = readDashboards();
  const place = () => ({ namespace, operator: "plosive-operator", api: "plosive-api" });

  it.each(dashboards)("has data for every panel of $title", async (dashboard) => {
    expect(dashboard.panels.length).toBeGreaterThan(15);
    await askPanels(prometheus, dashboard, place());
  });

  it.each(dashboards)("finds the installation for the variables of $title", async ({ templating }) => {
    const expected: Record<string, string> = place();
    const queries = templating.list.filter(({ type }) => type === "query");
    expect(queries).toHaveLength(2);
    for (const { name, definition = "" } of queries) {
      const [, selector = "", label] =
        /^label_values\((.+), (\w+)\)$/.exec(filled(definition, place())) ?? [];
      const path = `/label/${label}/values?match[]=${encodeURIComponent(selector)}`;
      expect(await prometheus.get(path), definition).toEqual([expected[name]]);
    }
  });

  it("counts each job once, although two replicas serve it", async () => {
    const jobs = dashboards.find(({ title }) => title === "Plosive jobs")!;
    const panel = (title: string) =>
      filled(jobs.panels.find((one) => one.title === title)!.targets[0]!.expr, place());
    // The last scrape is up to a second old.
    await poll("four jobs of each replica and three ended ones", async () => {
      const of = async (expr: string) => (await prometheus.query(expr))[0]?.value[1];
      const ended = await of('sum(plosive_jobs{phase=~"Succeeded|Failed"})');
      return (await of("sum(plosive_jobs)")) === "8" && ended === "6";
    });
    expect((await prometheus.query(panel("Waiting")))[0]?.value[1]).toBe("1");
    const open = await prometheus.query(panel("Open jobs"));
    expect(open.reduce((sum, { value }) => sum + Number(value[1]), 0)).toBe(1);
  });

  it("finds series for every selector of the alert rules, and alerts only on the failures that the test caused", async () => {
    const { groups } = await prometheus.get<{
      groups: { rules: { name: string; query: string; health: string }[] }[];
    }>("/rules?type=alert");
    const loaded = groups.flatMap(({ rules }) => rules);
    const rules = readRules(join(dir, "rules.yaml"));
    expect(loaded.map(({ name }) => name).sort()).toEqual(rules.map(({ alert }) => alert).sort());
    for (const rule of rules) {
      expect(rule.expr, rule.alert).toContain(`{namespace="${namespace}",job="plosive-`);
      const found = await askRule(prometheus, rule);
      // Two of these requests of a pod were invalid on purpose.
      if (rule.alert === "PlosiveProgressRejected") expect(found[0]).toBeGreaterThan(0.05);
      else if (rule.alert === "PlosiveApiErrors")
        // A rate needs two scrapes with a change between them.
        await poll("the failed confirmations to be complained about", async () => {
          await confirmInVain();
          return Number((await prometheus.query(rule.expr))[0]?.value[1]) > 0.05;
        });
      // The failed confirmations count against the budget, and how many there are depends on the machine.
      else if (rule.alert === "PlosiveApiErrorBudget") expect(found.length).toBeLessThanOrEqual(1);
      // Drift is swept only once here, which is too long ago when the test takes more than five minutes.
      else if (rule.alert === "PlosiveSweepStale") expect(found.length).toBeLessThanOrEqual(1);
      else expect(found, rule.alert).toEqual([]);
    }
    await poll("Prometheus to have asked every rule itself", async () => {
      const now = await prometheus.get<{ groups: { rules: { health: string }[] }[] }>("/rules?type=alert");
      return now.groups.flatMap((group) => group.rules).every(({ health }) => health === "ok");
    });
  });
});

// Last, because they change the values that are tested above.
describe("a failure", () => {
  type Answer = { groups: { rules: { name: string; state: string }[] }[] };
  const turned = (alert: string, state: "pending" | "firing") =>
    poll(`${alert} to be ${state}`, async () => {
      const { groups } = await prometheus.get<Answer>("/rules?type=alert");
      const found = groups.flatMap(({ rules }) => rules).find(({ name }) => name === alert);
      if (found?.state === state) return true;
      throw new Error(`it is ${found?.state}`);
    });
  const grew = (name: string, labels: Record<string, string>, least: number) =>
    poll(`${name} ${JSON.stringify(labels)}`, async () => {
      const value = (await scrape(leader.metricsPort)).value(name, labels) ?? 0;
      if (value >= least) return true;
      throw new Error(`it is ${value}`);
    });

  it("is counted: a pod without reports, and its GPU seconds", async () => {
    await stall(stage);
    await grew("plosive_shards_stalled_total", { kind: "inference" }, 1);
    await grew("plosive_shard_retries_total", { class: "Infra" }, 1);
    await grew("plosive_gpu_seconds_total", { kind: "inference" }, 2);
    await turned("PlosiveJobsStalled", "firing");
  });

  it("is counted: a custom resource without a row, as drift", async () => {
    const spec = { tenantId: randomUUID(), modelId: randomUUID() };
    await applyJob(stage, inferenceJobs, `ij-${randomUUID()}`, spec);
    await grew("plosive_drift_total", { direction: "resource" }, 1);
  });

  it("is counted: an object and a custom resource that cannot be deleted", async () => {
    await database.pool.query(sql.type(z.object({}))`
      insert into leftovers (tenant_id, kind, target, attempts, try_at)
      values (gen_random_uuid(), 'upload', 'x', 1, now() + interval '1 hour')`);
    await grew("plosive_purges_failing", {}, 1);
    const ref = { namespace, name: failed };
    await cluster.admin.patch(inferenceJobs, ref, { metadata: { finalizers: ["example.com/held"] } });
    await cluster.admin.remove(inferenceJobs, ref);
    await grew("plosive_deletion_overdue_seconds", { kind: "inference" }, 0.001);
    await cluster.admin.patch(inferenceJobs, ref, { metadata: { finalizers: null } });
    await poll("the end of the deletion", async () => {
      return (await scrape(leader.metricsPort)).value("plosive_deletion_overdue_seconds") === 0;
    });
  });

  it("is counted: a deleted custom resource of an open job, as drift", async () => {
    await cluster.admin.remove(trainingJobs, { namespace, name: waiting });
    await grew("plosive_drift_total", { direction: "row" }, 1);
  });

  it("is shown: after the leader stops, the standby becomes the one leader", async () => {
    await end(leader);
    await poll(
      "the standby to lead",
      async () => (await scrape(standby.metricsPort)).value("leader_election_master_status") === 1,
    );
    await poll("Prometheus to see it", async () => {
      const [found] = await prometheus.query(`sum(leader_election_master_status{namespace="${namespace}"})`);
      return found?.value[1] === "1";
    });
  });

  it("raises an alert: without any replica, PlosiveNoLeader becomes pending", async () => {
    await end(standby);
    await turned("PlosiveNoLeader", "pending");
  });
});
