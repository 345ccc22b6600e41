// The semaphore in front of the pool, and the ids of rows.
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/db/driver/id.ts";
import { BusyError, makeKeyedSemaphore, makeSemaphore } from "../../src/db/driver/semaphore.ts";

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: resolve };
}

describe("a semaphore", () => {
  it("runs at most its limit at once and the others in their order", async () => {
    const limit = makeSemaphore(2, 1_000);
    const gates = Array.from({ length: 5 }, gate);
    const started: number[] = [];
    const all = gates.map((one, i) =>
      limit(async () => {
        started.push(i);
        await one.wait();
        return i;
      }),
    );
    await turn();
    expect(started).toEqual([0, 1]);
    gates[1]?.open();
    await all[1];
    await turn();
    expect(started).toEqual([0, 1, 2]);
    for (const one of gates) one.open();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it("gives the slot of failed work to the next caller", async () => {
    const limit = makeSemaphore(1, 1_000);
    const failed = limit(() => Promise.reject(new Error("no")));
    const next = limit(async () => "yes");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("rejects callers that waited too long, does not run them, and loses no slot", async () => {
    const limit = makeSemaphore(1, 20);
    const { wait, open } = gate();
    const first = limit(wait);
    let ran = false;
    const second = limit(async () => {
      ran = true;
    });
    await expect(second).rejects.toBeInstanceOf(BusyError);
    open();
    await first;
    expect(await limit(async () => "free")).toBe("free");
    expect(ran).toBe(false);
  });
});

describe("an operation that waits for many units of a semaphore", () => {
  it("is not overtaken, and leaves its place when it has waited too long", async () => {
    const { acquire } = makeSemaphore(2, 20);
    await acquire();
    const served: string[] = [];
    const large = acquire(2).catch(() => served.push("large refused"));
    const small = acquire().then(() => served.push("small"));
    await turn();
    expect(served).toEqual([]);
    await Promise.all([large, small]);
    expect(served).toEqual(["large refused", "small"]);
  });
});

describe("a keyed semaphore", () => {
  it("limits each key alone, counts units, and serves in order", async () => {
    const refusal = new Error("too many of one key");
    const acquire = makeKeyedSemaphore(3, 20, () => refusal);
    const releases = [await acquire("a", 2), await acquire("a", 1)];
    await expect(acquire("a")).rejects.toBe(refusal);
    (await acquire("b", 3))();
    for (const release of releases) release();
    (await acquire("a", 3))();
  });

  it("refuses at once when too many operations of a key wait", async () => {
    const acquire = makeKeyedSemaphore(1, 10_000, () => new BusyError("full"));
    const all = Array.from({ length: 500 }, async () => (await acquire("a"))());
    await expect(acquire("a")).rejects.toBeInstanceOf(BusyError);
    await Promise.all(all);
  });
});

describe("a row id", () => {
  it("is a UUID of version 7 with the present time, greater than the one before", () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, newId);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    const ms = Number.parseInt((ids[0] as string).replace("-", "").slice(0, 12), 16);
    expect(Math.abs(ms - before)).toBeLessThan(1_000);
  });
});
