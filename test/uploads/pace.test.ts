// The bytes per second of fetches: one tenant takes half of them, all together no more than all.
import { expect, it } from "vitest";
import { makePaceBytes, type PaceBytes } from "../../src/uploads/pace.ts";

const MiB = 1024 * 1024;
const chunk = 64 * 1024;

/** Takes bytes as a fetch does, and returns the seconds that this took. */
async function take(pace: PaceBytes, tenant: string, bytes: number): Promise<number> {
  const began = performance.now();
  for (let left = bytes; left > 0; left -= chunk) await pace(tenant, chunk);
  return (performance.now() - began) / 1_000;
}

it("one tenant takes half, however many files it fetches", async () => {
  const pace = makePaceBytes(4 * MiB);
  const seconds = await Promise.all([take(pace, "a", MiB), take(pace, "a", MiB)]);
  expect(Math.max(...seconds)).toBeGreaterThan(0.95);
});

it("all tenants together take no more than all", async () => {
  const pace = makePaceBytes(4 * MiB);
  const seconds = await Promise.all(["a", "b", "c", "d"].map((tenant) => take(pace, tenant, MiB)));
  expect(Math.max(...seconds)).toBeGreaterThan(0.95);
});

it("a tenant does not wait for the bytes that wait for another tenant's half", async () => {
  const pace = makePaceBytes(4 * MiB);
  let isDone = false;
  let greedy = 0;
  const takeAlways = async () => {
    for (; !isDone; greedy += chunk) await pace("a", chunk);
  };
  for (let n = 0; n < 400; n++) void takeAlways();
  await take(pace, "b", MiB / 2);
  isDone = true;
  // With equal parts, both have taken half a MiB. The rest is for pauses of the machine.
  expect(greedy).toBeLessThan(6 * MiB);
});
