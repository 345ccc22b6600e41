// Addresses of local clusters: several clusters run side by side on one machine, so their addresses must not overlap.
import { expect, test } from "vitest";
import { addressBlock, checkName, chooseNumber } from "../../tools/cluster/place.ts";

/** First and last address of a range, as numbers. */
function bounds(range: string): [number, number] {
  const [address = "", prefix = "32"] = range.split("/");
  const start = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return [start, start + 2 ** (32 - Number(prefix)) - 1];
}
const contains = (outer: string, inner: string) => {
  const [[from, to], [first, last]] = [bounds(outer), bounds(inner)];
  return from <= first && last <= to;
};
const overlap = (a: string, b: string) => bounds(a)[0] <= bounds(b)[1] && bounds(b)[0] <= bounds(a)[1];

test("the default cluster has the addresses that the documentation names", () => {
  expect(addressBlock(0)).toMatchObject({
    hostAddress: "10.90.0.1",
    insideAddress: "10.90.0.2",
    hostInterface: "plosive0",
    podRange: "10.128.0.0/17",
    serviceRange: "10.128.128.0/17",
  });
});

test("pods and services share the routed range without overlap, and the fixed addresses are addresses of services", () => {
  for (const number of [0, 1, 17, 63]) {
    const block = addressBlock(number);
    expect(contains(block.routedRange, block.podRange)).toBe(true);
    expect(contains(block.routedRange, block.serviceRange)).toBe(true);
    expect(overlap(block.podRange, block.serviceRange)).toBe(false);
    expect(contains(block.serviceRange, block.kubernetesServiceAddress)).toBe(true);
    expect(contains(block.serviceRange, block.dnsAddress)).toBe(true);
    // The kernel truncates interface names to 15 characters.
    expect(block.hostInterface.length).toBeLessThanOrEqual(15);
  }
});

test("no two clusters share an address or an interface", () => {
  const blocks = Array.from({ length: 64 }, (_, number) => addressBlock(number));
  for (const [index, a] of blocks.entries()) {
    for (const b of blocks.slice(index + 1)) {
      expect(overlap(a.routedRange, b.routedRange)).toBe(false);
      expect(overlap(`${a.hostAddress}/${a.linkPrefix}`, `${b.hostAddress}/${b.linkPrefix}`)).toBe(false);
      expect(a.hostInterface).not.toBe(b.hostInterface);
      expect(overlap(a.routedRange, `${b.hostAddress}/${b.linkPrefix}`)).toBe(false);
    }
  }
});

test.each([-1, 64, 1.5, Number.NaN])("%s is not a valid cluster number", (number) => {
  expect(() => addressBlock(number)).toThrow("not within");
});

test.each([
  { name: "plosive", taken: {}, number: 0 },
  { name: "plosive", taken: { e2e: 1 }, number: 0 },
  { name: "e2e", taken: {}, number: 1 },
  { name: "e2e", taken: { plosive: 0, other: 1, third: 3 }, number: 2 },
  { name: "e2e", taken: { e2e: 7, plosive: 0 }, number: 7 },
])("$name gets number $number beside $taken", ({ name, taken, number }) => {
  expect(chooseNumber(name, new Map(Object.entries(taken)))).toBe(number);
});

test("a cluster is refused when all numbers are taken", () => {
  const taken = new Map(Array.from({ length: 63 }, (_, index) => [`c${index}`, index + 1]));
  expect(() => chooseNumber("one-more", taken)).toThrow("taken");
});

test.each(["", "E2E", "1st", "../up", "a b", "a".repeat(32)])("'%s' is not a valid cluster name", (name) => {
  expect(() => checkName(name)).toThrow("not a valid cluster name");
});
