// The metrics of the runtime, without servers: each outcome of a reconcile, and the waits, work and retries of a
// workqueue.
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Controller, startController } from "../../controllers/runtime/controller.ts";
import { makeRuntimeMetrics, type RuntimeMetrics } from "../../controllers/runtime/metrics.ts";
import { type Outcome, RetryError, TerminalError } from "../../controllers/runtime/outcome.ts";
import { Workqueue } from "../../controllers/runtime/workqueue.ts";
import { makeLog } from "../../src/log.ts";
import { poll } from "../support/poll.ts";

let registry: Registry;
let metrics: RuntimeMetrics;
let queue: Workqueue;
let controller: Controller | undefined;

beforeEach(() => {
  registry = new Registry();
  metrics = makeRuntimeMetrics(registry, ["models"]);
  queue = new Workqueue({ random: () => 1, baseBackoffMs: 1 });
});
afterEach(async () => {
  vi.useRealTimers();
  queue.close();
  await controller?.stop();
  controller = undefined;
});

async function value(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const metric = name.replace(/_(count|sum)$/, "");
  const found = (await registry.getSingleMetric(metric)?.get())?.values as
    | { metricName?: string; value: number; labels: Record<string, string | number> }[]
    | undefined;
  return found?.find(
    (one) =>
      (one.metricName ?? metric) === name &&
      Object.entries(labels).every(([key, text]) => one.labels[key] === text),
  )?.value;
}

/** Runs reconciles with these outcomes one after the other, and repeats the last one. */
function run(...ends: (() => Outcome | Promise<Outcome>)[]): void {
  controller = startController({
    name: "models",
    queue,
    watches: [],
    concurrency: 3,
    reconcile: async () => (ends.length > 1 ? ends.shift()! : ends[0]!)(),
    log: makeLog("test", "silent"),
    metrics,
  });
  queue.add("a");
}
const fail = (error: Error) => () => Promise.reject<Outcome>(error);
const total = (result: string) => value("controller_runtime_reconcile_total", { result });

describe("a reconcile", () => {
  it("that succeeds is counted as a success without a retry", async () => {
    run(() => ({}));
    await poll("one success", async () => (await total("success")) === 1);
    expect(await value("controller_runtime_reconcile_time_seconds_count")).toBe(1);
    expect(await value("controller_runtime_reconcile_errors_total")).toBe(0);
    expect(await value("controller_runtime_max_concurrent_reconciles")).toBe(3);
    expect(await value("workqueue_retries_total")).toBe(0);
    expect(await value("workqueue_adds_total")).toBe(1);
  });

  it("that requests a later reconcile is counted as requeue_after and not as an error", async () => {
    run(() => ({ requeueAfterMs: 60_000 }));
    await poll("one requeue", async () => (await total("requeue_after")) === 1);
    expect(await total("success")).toBe(0);
    expect(await value("controller_runtime_reconcile_errors_total")).toBe(0);
  });

  it("that fails is counted as an error and a retry", async () => {
    run(fail(new Error("no")), fail(new Error("no")), () => ({}));
    await poll("the success", async () => (await total("success")) === 1);
    expect(await total("error")).toBe(2);
    expect(await value("controller_runtime_reconcile_errors_total")).toBe(2);
    expect(await value("controller_runtime_terminal_reconcile_errors_total")).toBe(0);
    expect(await value("workqueue_retries_total")).toBe(2);
    expect(await value("workqueue_adds_total")).toBe(3);
  });

  it("with a conflict is counted as a retry and not as an error", async () => {
    run(fail(new RetryError("changed meanwhile")), () => ({}));
    await poll("the success", async () => (await total("success")) === 1);
    expect(await total("requeue")).toBe(1);
    expect(await value("controller_runtime_reconcile_errors_total")).toBe(0);
    expect(await value("workqueue_retries_total")).toBe(1);
  });

  it("with a terminal error is counted as an error, a terminal error, and no retry", async () => {
    run(fail(new TerminalError("never")));
    await poll("one error", async () => (await total("error")) === 1);
    expect(await value("controller_runtime_terminal_reconcile_errors_total")).toBe(1);
    expect(await value("workqueue_retries_total")).toBe(0);
  });

  it("shows an active worker and its running time while it runs", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    run(() => promise);
    await poll("one active worker", async () => (await value("controller_runtime_active_workers")) === 1);
    vi.advanceTimersByTime(20);
    expect(await value("workqueue_longest_running_processor_seconds")).toBe(0.02);
    expect(await value("workqueue_unfinished_work_seconds")).toBe(0.02);
    resolve({});
    await poll("one success", async () => (await total("success")) === 1);
    expect(await value("controller_runtime_active_workers")).toBe(0);
    expect(await value("workqueue_longest_running_processor_seconds")).toBe(0);
    expect(await value("workqueue_work_duration_seconds_sum")).toBe(0.02);
  });
});

describe("a workqueue", () => {
  beforeEach(() => metrics.watchQueue("models", queue));

  it("counts waiting keys, each once, and the time that they waited", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    queue.add("a");
    queue.add("a");
    queue.add("b");
    expect(await value("workqueue_depth")).toBe(2);
    expect(await value("workqueue_adds_total")).toBe(2);
    expect(await value("workqueue_queue_duration_seconds_count")).toBe(0);
    vi.advanceTimersByTime(20);
    await queue.take();
    expect(await value("workqueue_depth")).toBe(1);
    expect(await value("workqueue_queue_duration_seconds_count")).toBe(1);
    expect(await value("workqueue_queue_duration_seconds_sum")).toBe(0.02);
  });

  it("counts repeated additions of a key that is being processed as one more", async () => {
    queue.add("a");
    const first = queue.take();
    queue.add("a");
    queue.add("a");
    await first;
    expect(await value("workqueue_adds_total")).toBe(2);
    queue.done("a");
    expect(await queue.take()).toBe("a");
    expect(await value("workqueue_queue_duration_seconds_count")).toBe(2);
    expect(await value("workqueue_work_duration_seconds_count")).toBe(1);
  });
});

describe("a lease", () => {
  it("is read at each scrape", async () => {
    let leads = false;
    metrics.watchLease("operator", () => leads);
    expect(await value("leader_election_master_status", { name: "operator" })).toBe(0);
    leads = true;
    expect(await value("leader_election_master_status", { name: "operator" })).toBe(1);
  });
});

describe("requests", () => {
  it("are counted by method and status; a request without an answer is counted as an error", async () => {
    metrics.request("GET", 200, 0.2);
    metrics.request("GET", 0, 15);
    expect(await value("rest_client_requests_total", { code: "200" })).toBe(1);
    expect(await value("rest_client_requests_total", { code: "<error>" })).toBe(1);
    expect(await value("rest_client_request_duration_seconds_sum", { verb: "GET" })).toBeCloseTo(15.2);
  });
});
