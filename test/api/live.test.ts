// How waiting requests end. The waits themselves: wait.test.ts and events.test.ts.
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { makeLive } from "../../src/api/live.ts";

const listener = { on: () => undefined, end: async () => undefined } as unknown as Parameters<
  typeof makeLive
>[0]["listener"];
const makeWatch = () => {
  const live = makeLive({ listener, registry: new Registry(), connections: 1 });
  return { live, watch: live.watch(["plosive_jobs 1"]) };
};
/** Longer than the timeout of a test. */
const longMs = 3_600_000;

it("a tenant whose reads do not end leaves the slots of the others free", async () => {
  const live = makeLive({ listener, registry: new Registry(), connections: 2 });
  const stuck = new Promise<never>(() => {});
  for (let i = 0; i < 10; i++) void live.withReadSlot("slow", () => stuck);
  expect(await live.withReadSlot("quick", async () => "read")).toBe("read");
});

it("a wait that begins while the process ends is over at once", async () => {
  const { live, watch } = makeWatch();
  live.end();
  expect(await watch.next(longMs, new AbortController().signal)).toEqual(new Set());
});

it("a wait of a client that has gone is over at once", async () => {
  expect(await makeWatch().watch.next(longMs, AbortSignal.abort())).toEqual(new Set());
});

it("a running wait ends with the process and with its client", async () => {
  const { live, watch } = makeWatch();
  const client = new AbortController();
  const byProcess = watch.next(longMs, new AbortController().signal);
  const byClient = makeWatch().watch.next(longMs, client.signal);
  live.end();
  client.abort();
  expect(await Promise.all([byProcess, byClient])).toEqual([new Set(), new Set()]);
});
