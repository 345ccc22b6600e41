// Slices of trials: for each part there is a seed that runs it, and the full trial runs all parts.
import { expect, test } from "vitest";
import { nextPoint, seed, sliceOf } from "../../support/trial.ts";

test("a slice starts at the case of its seed and continues in steps", () => {
  const first = nextPoint(4);
  expect(first).toBe(seed % 4);
  expect(nextPoint(4, first)).toBe(first + 4);
});

test("a slice has the requested number of cases in their order", () => {
  const cases = ["a", "b", "c", "d"];
  const slice = sliceOf(cases, 2);
  expect(slice).toHaveLength(2);
  expect(slice).toContain(cases[seed % 4]);
  expect(cases.filter((one) => slice.includes(one))).toEqual(slice);
});
