// The order in which the gate admits jobs: limits per tenant and in total, priority, age and fairness, also when jobs
// leave or the leader changes. Pure; random sequences are checked against invariants.
import { describe, expect, it } from "vitest";
import { type Candidate, type Limits, makeFairGate } from "../../../controllers/queueing/fair-gate.ts";
import type { JobKind } from "../../../src/schemas/job-kind.ts";

const limits = (training: number, total = 0): Limits => ({
  perTenant: { training, inference: 3, embedding: 0 },
  total,
});
let count = 0;
function job(tenant: string, more: Partial<Candidate> = {}): Candidate {
  count++;
  const name = `job-${String(count).padStart(4, "0")}`;
  const createdAt = new Date(Date.UTC(2026, 0, 1) + count * 1000).toISOString();
  return { uid: name, name, tenant, kind: "training", priority: 0, createdAt, ...more };
}
function gateOf(of: Limits) {
  const turns: string[] = [];
  return { gate: makeFairGate(of, ({ name }) => turns.push(name)), turns };
}

describe("the fair gate", () => {
  it("admits jobs up to the limit of a tenant and kind; other tenants and kinds do not count", () => {
    const { gate } = gateOf(limits(2));
    expect([1, 2, 3].map(() => gate.ask(job("a")) === true)).toEqual([true, true, false]);
    expect(gate.ask(job("b"))).toBe(true);
    expect(gate.ask(job("a", { kind: "inference" }))).toBe(true);
    expect(gate.counts()).toEqual({ running: 4, waiting: 1 });
  });

  it("gives the reason for a wait in a message that does not change while the job waits", () => {
    const { gate } = gateOf(limits(1));
    const [first, second, third] = [job("a"), job("a"), job("a")];
    gate.ask(first);
    const words = gate.ask(second);
    expect(words).toBe(
      "The job waits in the queue. When it joined, 1 of 1 training jobs of the tenant were running and no job waited ahead of it.",
    );
    expect(gate.ask(third)).toMatch(
      /1 of 1 training jobs of the tenant were running and 1 job waited ahead of it/,
    );
    expect(gate.ask(second)).toBe(words);
    expect(gate.ask(job("a"), "What it was told before.")).toBe("What it was told before.");
  });

  it("gives a free place to the job with the highest priority, then to the oldest", () => {
    const { gate, turns } = gateOf(limits(1));
    const [running, old, young, urgent] = [job("a"), job("a"), job("a"), job("a", { priority: 5 })];
    for (const one of [running, young, old, urgent]) gate.ask(one);
    for (const one of [running, urgent, old]) gate.leave(one.uid);
    expect(turns).toEqual([urgent, old, young].map(({ name }) => name));
    expect(gate.runs(young.uid)).toBe(true);
  });

  it("restores the queue of an earlier leader before it gives a free place to anybody", () => {
    const { gate, turns } = gateOf(limits(1));
    const [young, urgent] = [job("a"), job("a", { priority: 5 })];
    const waiting = [young, urgent].map((each) => ({ job: each, message: `told ${each.priority}` }));
    gate.restore(waiting);
    expect([turns, gate.runs(urgent.uid), gate.ask(young)]).toEqual([[urgent.name], true, "told 0"]);
    expect(gate.counts()).toEqual({ running: 1, waiting: 1 });
  });

  it("gives a free place under the total limit to the tenant with the fewest running jobs", () => {
    const { gate, turns } = gateOf(limits(0, 3));
    const greedy = [1, 2, 3, 4, 5].map(() => job("greedy"));
    for (const one of greedy) gate.ask(one);
    const modest = [job("modest"), job("modest")];
    for (const one of modest) expect(gate.ask(one)).toMatch(/3 of 3 jobs of all tenants were running/);
    gate.leave(greedy[0]!.uid);
    gate.leave(greedy[1]!.uid);
    // One each, then the older of the two that wait.
    expect(turns).toEqual([modest[0]!.name, greedy[3]!.name]);
  });

  it("ranks priority above fairness between tenants", () => {
    const { gate, turns } = gateOf(limits(0, 2));
    const [first, second] = [job("a"), job("a")];
    for (const one of [first, second]) gate.ask(one);
    const [modest, urgent] = [job("b"), job("a", { priority: 1 })];
    for (const one of [modest, urgent]) gate.ask(one);
    gate.leave(first.uid);
    expect(turns).toEqual([urgent.name]);
  });

  it("keeps jobs that run at a change of the leader, even beyond the limit, and admits more only below it", () => {
    const { gate, turns } = gateOf(limits(2));
    const held = [1, 2, 3].map(() => job("a"));
    for (const one of held) gate.hold(one);
    expect(held.map((one) => gate.ask(one))).toEqual([true, true, true]);
    const next = job("a");
    expect(gate.ask(next)).toMatch(/3 of 2 training jobs/);
    gate.leave(held[0]!.uid);
    expect(turns).toEqual([]);
    gate.leave(held[1]!.uid);
    expect(turns).toEqual([next.name]);
  });

  it("removes a job that leaves from the queue, and queues a job that comes back again", () => {
    const { gate, turns } = gateOf(limits(1));
    const [running, waiting, last] = [job("a"), job("a"), job("a")];
    for (const one of [running, waiting, last]) gate.ask(one);
    gate.leave(waiting.uid);
    gate.leave(running.uid);
    expect(turns).toEqual([last.name]);
    expect(gate.ask(running)).not.toBe(true);
    gate.leave("unknown");
    expect(gate.counts()).toEqual({ running: 1, waiting: 1 });
  });

  it("never exceeds a limit, and never leaves a place free for which a job waits, in random sequences", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 20; round++) {
      const of = limits(1 + random(3), random(2) * (3 + random(4)));
      const gate = makeFairGate(of, () => {});
      const present = new Map<string, Candidate>();
      for (let step = 0; step < 200; step++) {
        const kind: JobKind = random(2) === 0 ? "training" : "inference";
        const one = job(`tenant-${random(5)}`, { kind, priority: random(3) });
        const known = [...present.values()];
        const some = known[random(known.length)];
        if (random(5) < 3 || some === undefined) present.set(one.uid, one);
        else if (random(2) === 0) present.delete(some.uid);
        if (present.has(one.uid)) gate.ask(one);
        else if (some !== undefined && !present.has(some.uid)) gate.leave(some.uid);
        const all = [...present.values()];
        const runs = all.filter(({ uid }) => gate.runs(uid));
        const perLane = Map.groupBy(runs, ({ kind: k, tenant }) => `${k} ${tenant}`);
        const hasRoom = ({ kind: k, tenant }: Candidate) =>
          (perLane.get(`${k} ${tenant}`)?.length ?? 0) < of.perTenant[k];
        const passed = [...perLane.values()].some((lane) => lane.length > of.perTenant[lane[0]!.kind]);
        const isFull = of.total > 0 && runs.length >= of.total;
        const forgotten = !isFull && all.some((other) => !gate.runs(other.uid) && hasRoom(other));
        expect({ passed, over: of.total > 0 && runs.length > of.total, forgotten }).toEqual({
          passed: false,
          over: false,
          forgotten: false,
        });
        expect(gate.counts()).toEqual({ running: runs.length, waiting: all.length - runs.length });
      }
    }
  });

  it("admits each of 10,000 jobs of 1,000 tenants", () => {
    const turns: Candidate[] = [];
    const one = { training: 1, inference: 1, embedding: 1 };
    const gate = makeFairGate({ perTenant: one, total: 200 }, (next) => turns.push(next));
    const all = Array.from({ length: 10_000 }, (_, n) => job(`tenant-${n % 1000}`));
    for (const next of all) if (gate.ask(next) === true) turns.push(next);
    for (let at = 0; at < turns.length; at++) gate.leave(turns[at]!.uid);
    expect(new Set(turns).size).toBe(10_000);
    expect(gate.counts()).toEqual({ running: 0, waiting: 0 });
  });
});
