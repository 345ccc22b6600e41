// The table of trials in CONTRIBUTING.md equals the one in tools/testing/trials.ts.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { trials } from "../../../tools/testing/trials.ts";

test("CONTRIBUTING.md describes every trial correctly", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const rows = trials.map(
    ({ name, title, proves, slice, minutes }) =>
      `| \`${name}\` | ${title} | ${proves} | ${slice} | ${minutes} min |`,
  );
  const table = text
    .split("\n")
    .filter((line) => /^\| `[\w-]+` \| [^|]+ \| [^|]+ \| [^|]+ \| \d+ min \|$/.test(line));
  expect(table).toEqual(rows);
});
