// The tables of docs/metrics.md, for the test that compares them with the metrics of processes. Called by
// prometheus.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";

type Documented = { type: string; labels: Record<string, string[]> };

/** Rows of the tables below these headings of docs/metrics.md: type, and labels with their values if they are listed. */
export function documented(...headings: string[]): Map<string, Documented> {
  const text = readFileSync(join(repoDir, "docs/metrics.md"), "utf8");
  const rows = headings.flatMap((heading) => {
    const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
    return [...section.matchAll(/^\| `(\w+)` \| (\w+) \|(.*?)\| .+ \|$/gm)];
  });
  return new Map(
    rows.map(([, name = "", type = "", cell = ""]) => {
      const labels = [...cell.matchAll(/`(\w+)`(?::((?: `[^`]+`,?)+))?(?:,|\s|$)/g)];
      const values = (list = "") => [...list.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
      return [
        name,
        { type, labels: Object.fromEntries(labels.map(([, label, list]) => [label, values(list)])) },
      ];
    }),
  );
}
