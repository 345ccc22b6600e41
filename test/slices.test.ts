// Work in slices: in order, and others run in between.
import { afterEach, expect, it, vi } from "vitest";
import { inSlices } from "../src/slices.ts";

const work = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

afterEach(() => {
  vi.restoreAllMocks();
});

it("long work lets others run between its slices, and keeps the order", async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const doubled = await inSlices([1, 2, 3, 4, 5], (n) => {
    work(6);
    return 2 * n;
  });
  clearImmediate(immediate);
  expect(doubled).toEqual([2, 4, 6, 8, 10]);
  expect(turns).toBeGreaterThanOrEqual(5);
});

it("short work is done at once", async () => {
  vi.spyOn(performance, "now").mockReturnValue(0);
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  expect(await inSlices([1, 2], (n) => n + 1)).toEqual([2, 3]);
  expect(ran).toBe(false);
});

it("a failure of one item is the failure of all", async () => {
  await expect(inSlices(["{"], JSON.parse)).rejects.toThrow(SyntaxError);
});
