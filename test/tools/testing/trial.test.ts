// Slices of trials: each part is played by some seed, and the full trial plays all.
import { expect, test } from "vitest";
import { nextPoint, seed, sliceOf } from "../../support/trial.ts";

test("a slice begins where the seed says and goes on in steps", () => {
  const first = nextPoint(4);
  expect(first).toBe(seed % 4);
  expect(nextPoint(4, first)).toBe(first + 4);
});

test("a slice has as many cases as wanted, in their order", () => {
  const cases = ["a", "b", "c", "d"];
  const slice = sliceOf(cases, 2);
  expect(slice).toHaveLength(2);
  expect(slice).toContain(cases[seed % 4]);
  expect(cases.filter((one) => slice.includes(one))).toEqual(slice);
});
