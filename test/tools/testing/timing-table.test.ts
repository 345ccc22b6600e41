// The table at the end of `make test`.
import { expect, test } from "vitest";
import { suites } from "../../../tools/testing/suites.ts";
import { timingTable } from "../../../tools/testing/timing-table.ts";

const [suite] = suites;

test("has a line for each suite and the 20 slowest files, the slowest first", () => {
  const files = Array.from({ length: 30 }, (_, i) => ({ name: `test/f${i}.test.ts`, seconds: i }));
  const outcome = { passed: 3, failed: ["x"], skipped: [], files };
  const lines = timingTable([{ suite: suite!, outcome, seconds: 12.4, cpuSeconds: undefined }]).split("\n");
  expect(lines[1]).toMatch(/^lint +3 passed, 1 failed, 0 skipped +12 +\?$/);
  const slow = lines.filter((line) => line.includes(".test.ts"));
  expect(slow).toHaveLength(20);
  expect(slow[0]).toMatch(/f29\.test\.ts +29$/);
});
