// The parts of the runtime that need no server: workqueue, controller, store, conditions, completion indexes, names, rate
// limiter.
import { Registry } from "prom-client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseIndexes } from "../../controllers/job/indexes.ts";
import { withCondition } from "../../controllers/runtime/conditions.ts";
import { startController } from "../../controllers/runtime/controller.ts";
import { makeRuntimeMetrics } from "../../controllers/runtime/metrics.ts";
import { pauseSince } from "../../controllers/runtime/pause.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { Workqueue } from "../../controllers/runtime/workqueue.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { makeRateLimit } from "../../src/kube/rate-limit.ts";
import { makeLog } from "../../src/log.ts";
import { parseResourceName, parseRunName, resourceName, runName } from "../../src/schemas/job-kind.ts";
import { poll } from "../support/poll.ts";

describe("the workqueue", () => {
  it("holds a key once, and gives it to one worker at a time", async () => {
    const queue = new Workqueue({ random: () => 1 });
    queue.add("a");
    queue.add("a");
    queue.add("b");
    expect(queue.depth).toBe(2);
    expect(await queue.take()).toBe("a");
    queue.add("a");
    expect(await queue.take()).toBe("b");
    expect(queue.depth).toBe(0);
    const next = queue.take();
    queue.done("a");
    expect(await next).toBe("a");
    queue.close();
    expect(await queue.take()).toBeUndefined();
  });

  it("backs off exponentially while a key fails, and starts again once it is forgotten", () => {
    const queue = new Workqueue({ random: () => 1, baseBackoffMs: 100, maxBackoffMs: 1_000 });
    const waits = Array.from({ length: 6 }, () => queue.addAfterFailure("a"));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    queue.forget("a");
    expect(queue.addAfterFailure("a")).toBe(100);
    queue.close();
  });

  it("prefers new keys to events and events to delayed keys, without starving any of them", async () => {
    const queue = new Workqueue({ random: () => 1 });
    for (const key of ["l1", "l2"]) queue.addAfter(key, 0);
    await poll("the times", () => queue.depth === 2);
    for (const key of ["n1", "n2", "n3", "n4", "n5"]) queue.add(key);
    for (let n = 1; n <= 12; n++) queue.add(`f${n}`, "new");
    queue.add("n5", "new");
    queue.add("f1");
    const given: (string | undefined)[] = [];
    while (queue.depth > 0) given.push(await queue.take());
    const expected = "f1 n1 f2 f3 n2 f4 f5 n3 l1 f6 f7 n4 f8 f9 f10 f11 f12 n5 l2".split(" ");
    expect(given).toEqual(expected);
    queue.close();
  });

  it("does not let retries take the place of delayed keys that are due", async () => {
    const queue = new Workqueue({ random: () => 1, baseBackoffMs: 1 });
    for (let n = 0; n < 30; n++) queue.addAfterFailure(`r${n}`);
    queue.addAfter("d", 1);
    await poll("the times", () => queue.depth === 31);
    const given: (string | undefined)[] = [];
    for (let n = 0; n < 10; n++) given.push(await queue.take());
    expect(given).toContain("d");
    queue.close();
  });

  it("lets keys of one priority use all workers", async () => {
    const queue = new Workqueue({ random: () => 1 });
    for (const key of ["a", "b", "c"]) queue.addAfter(key, 0);
    expect((await Promise.all([queue.take(), queue.take(), queue.take()])).toSorted()).toEqual([
      "a",
      "b",
      "c",
    ]);
    queue.close();
  });

  it("drops the delay of a key that is processed before it is due", async () => {
    const queue = new Workqueue({ random: () => 1 });
    queue.addAfter("a", 20);
    queue.add("a");
    expect(await queue.take()).toBe("a");
    queue.done("a");
    queue.addAfter("b", 40);
    expect(await queue.take()).toBe("b");
    queue.close();
  });

  it("keeps the earliest of several delays", async () => {
    const queue = new Workqueue({ random: () => 1 });
    queue.addAfter("a", 60_000);
    queue.addAfter("a", 5);
    expect(await queue.take()).toBe("a");
    queue.close();
  });

  it("wakes waiting workers when it closes", async () => {
    const queue = new Workqueue({ random: () => 1 });
    const waiting = [queue.take(), queue.take()];
    queue.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });
});

describe("a controller", () => {
  it("lets timers run between reconciles that wait for nothing, so that a leader renews its lease meanwhile", async () => {
    const queue = new Workqueue({ random: () => 1 });
    for (let n = 0; n < 2_000; n++) queue.add(String(n));
    let done = 0;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const controller = startController({
      name: "models",
      queue,
      watches: [],
      concurrency: 24,
      async reconcile() {
        for (const end = performance.now() + 0.2; performance.now() < end; );
        done++;
        return {};
      },
      log: makeLog("test", "silent"),
      metrics: makeRuntimeMetrics(new Registry(), ["models"]),
    });
    await poll("all reconciles", () => done === 2_000);
    clearInterval(timer);
    await controller.stop();
    // 400 ms of work in slices of 4 ms, after which each of the 24 workers ends a reconcile.
    expect(turns).toBeGreaterThanOrEqual(20);
  });
});

const object = (name: string, version: string, uid = name, owner = "o"): KubeObject => ({
  metadata: { name, namespace: "n", uid, resourceVersion: version, labels: { owner } },
});

const listOf = (...objects: KubeObject[]) => new Map(objects.map((one) => [one.metadata.name, one]));

describe("the store", () => {
  it("reports each change once, and ignores older versions from a watch", () => {
    const store = new Store<KubeObject>({ owner: ({ metadata }) => metadata.labels?.owner });
    const told: string[] = [];
    store.onChange(({ object: { metadata }, deleted }) => {
      told.push(`${deleted ? "-" : "+"}${metadata.name}@${metadata.resourceVersion}`);
    });
    store.set(object("a", "9"));
    store.set(object("a", "9"));
    store.set(object("a", "8"));
    store.set(object("a", "10", "a", "p"));
    expect(told).toEqual(["+a@9", "+a@10"]);
    expect(store.by("owner", "o")).toEqual([]);
    expect(store.by("owner", "p").map(({ metadata }) => metadata.name)).toEqual(["a"]);
    store.replace(listOf(object("b", "11"), object("a", "3", "another")));
    expect(told.slice(2)).toEqual(["+b@11", "+a@3"]);
    store.replace(listOf());
    expect(store.size).toBe(0);
    expect(store.by("owner", "o")).toEqual([]);
  });

  it("ignores the answer of a write when the object was deleted after it", () => {
    const store = new Store<KubeObject>();
    store.set(object("a", "9"));
    store.delete(object("a", "11"));
    store.set(object("a", "10"));
    expect(store.get("a")).toBeUndefined();
    store.set(object("a", "12", "another"));
    // An event of the first object that arrives after the creation of the second one returned.
    store.delete(object("a", "11"));
    expect(store.get("a")?.metadata.uid).toBe("another");
  });

  it("accepts a list even if it is older than the cache", () => {
    const store = new Store<KubeObject>();
    store.set(object("a", "9"));
    store.set(object("b", "9"));
    store.replace(listOf(object("a", "3", "a", "p")));
    expect([...store.values()]).toEqual([object("a", "3", "a", "p")]);
    // The answer of a write before the list, which the watch shows after it.
    store.set(object("b", "9"));
    expect(store.get("b")).toEqual(object("b", "9"));
  });

  it("keeps only the fields of an object that are read, and reports no change of the others", () => {
    const store = new Store<KubeObject>({}, ({ metadata }) => {
      delete metadata.annotations;
    });
    const told: (string | undefined)[] = [];
    store.onChange(({ object, old }) => {
      told.push(`${old?.metadata.resourceVersion} ${object.metadata.resourceVersion}`);
    });
    const noted = (version: string, note: string, owner = "o") => {
      const made = object("a", version, "a", owner);
      return { metadata: { ...made.metadata, annotations: { note }, managedFields: [note] } };
    };
    store.set(noted("1", "x"));
    store.set(noted("2", "y"));
    store.set(noted("3", "y", "p"));
    expect(told).toEqual(["undefined 1", "2 3"]);
    expect(store.get("a")).toEqual(object("a", "3", "a", "p"));
  });
});

describe("a condition", () => {
  it("keeps its transition time until its status changes", () => {
    const said = {
      type: "Started",
      status: "False" as const,
      reason: "A",
      message: "",
      observedGeneration: 1,
    };
    type Said = Omit<typeof said, "status"> & { status: "True" | "False"; lastTransitionTime: string };
    const first = withCondition<Said>([], said, "t1");
    const second = withCondition<Said>(first, { ...said, reason: "B" }, "t2");
    expect(second[0]).toMatchObject({ reason: "B", lastTransitionTime: "t1" });
    const third = withCondition<Said>(second, { ...said, status: "True" as const }, "t3");
    expect(third[0]?.lastTransitionTime).toBe("t3");
    expect(third).toHaveLength(1);
  });
});

describe("completion indexes", () => {
  it.each([
    [undefined, []],
    ["", []],
    ["0", [0]],
    ["1,3-5,7", [1, 3, 4, 5, 7]],
  ])("%s are parsed", (text, expected) => {
    expect(parseIndexes(text)).toEqual(expected);
  });
});

describe("names", () => {
  const id = "0190a0a0-0000-7000-8000-000000000001";
  it("of resources and runs fit an Indexed Job and can be parsed", () => {
    for (const kind of ["training", "inference", "embedding"] as const) {
      const name = resourceName(kind, id);
      expect(name.length).toBeLessThanOrEqual(52);
      expect(parseResourceName(name)).toEqual({ kind, id });
      expect(parseRunName(runName(name, 12))).toEqual({ kind, id, attempt: 12 });
    }
  });
  it.each(["tj-x-1", `tj-${id}`, `tj-${id}-0`, `tj-${id}-1/../2`, `xx-${id}-1`])(
    "that are not of a run, as %s, are refused",
    (run) => {
      expect(parseRunName(run)).toBeUndefined();
    },
  );
});

describe("the rate limiter", () => {
  it("lets a burst pass and delays the rest", async () => {
    const limit = makeRateLimit({ perSecond: 100, burst: 5 });
    const began = performance.now();
    await Promise.all(Array.from({ length: 15 }, () => limit.take()));
    expect(performance.now() - began).toBeGreaterThan(80);
  });

  it("ends a wait at once when it is aborted, and leaves the token to others", async () => {
    const limit = makeRateLimit({ perSecond: 1, burst: 1 });
    await limit.take();
    const began = performance.now();
    const stopping = new AbortController();
    const given = limit.take(stopping.signal);
    stopping.abort(new Error("the operator stops"));
    await expect(given).rejects.toThrow("the operator stops");
    await limit.take();
    // The second token would come after two seconds.
    expect(performance.now() - began).toBeLessThan(1_800);
  });
});

describe("the pause between two steps", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  it.each([
    { took: 0, pause: 1_000 },
    { took: 300, pause: 700 },
    { took: 900, pause: 500 },
    { took: 5_000, pause: 500 },
  ])("of $took ms at a pace of a second lasts $pause ms", async ({ took, pause }) => {
    vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
    const begun = performance.now();
    vi.advanceTimersByTime(took);
    let isOver = false;
    void pauseSince(begun, 1_000, new AbortController().signal).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(pause - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });
});
