// How waiting requests end. The waits themselves: wait.test.ts and events.test.ts.
import { setTimeout } from "node:timers/promises";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { eventStream } from "../../src/api/event-stream.ts";
import { makeLive } from "../../src/api/live.ts";
import type { Call } from "../../src/api/route.ts";
import { poll } from "../support/poll.ts";

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

it.each([
  ["that the stream sends", undefined],
  ["of other types", ["webhook.disabled" as const]],
])("two streams that catch up with very many events %s read half of the time together", async (_, types) => {
  const live = makeLive({ listener, registry: new Registry(), connections: 2 });
  const queryMs = 20;
  let reading = 0;
  let most = 0;
  let queries = 0;
  const any = async (): Promise<object[]> => {
    most = Math.max(most, ++reading);
    await setTimeout(queryMs);
    reading -= 1;
    queries += 1;
    return Array.from({ length: 100 }, (_, i) => ({ id: i, type: "model.created", data: {}, created_at: 0 }));
  };
  const end = new AbortController();
  const call = { tenantId: "a", keyId: "b", deps: { live, db: { any } }, request: { signal: end.signal } };
  const began = performance.now();
  const streams = [1, 2].map(() =>
    eventStream(call as unknown as Call, { after: 0, types, onEnd: () => {} }).resume(),
  );
  await poll("ten queries", () => queries >= 10);
  end.abort();
  const took = performance.now() - began;
  for (const stream of streams) stream.destroy();
  expect(most).toBe(1);
  // Timers may fire a fraction of a millisecond early.
  expect(queries).toBeLessThanOrEqual(took / (2 * queryMs) + 2);
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
