// The table of tested versions in docs/install.md equals the one in tools/testing/compat.ts.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compat } from "../../../tools/testing/compat.ts";

test("docs/install.md describes each suite of make compat correctly", () => {
  const rows = compat.map(
    ({ name, subject, tests }) =>
      `| ${subject} | \`${name}\` | ${tests.map((path) => `\`${path}\``).join(", ")} |`,
  );
  const names = new Set(compat.map(({ name }) => name));
  const table = readFileSync("docs/install.md", "utf8")
    .split("\n")
    .filter((line) => names.has(/^\| [^|]+ \| `([^`|]+)` \|/.exec(line)?.[1] ?? ""));
  expect(table).toEqual(rows);
});
