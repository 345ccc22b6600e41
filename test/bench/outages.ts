// `node test/bench/outages.ts`: the outages of test/controllers/outages.test.ts at their full length, 25 minutes in
// total. Writes the table of docs/benchmarks-operator-outages.md and fails when a target is missed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";
import type { Figures } from "../support/outage.ts";

type Line = Figures & { what: string; seconds: number; jobs: number; madeMeanwhile: number; exits: number };

const dir = mkdtempSync(join(tmpdir(), "plosive-outages-"));
const file = join(dir, "figures");
const vitest = spawn(
  process.execPath,
  [join(repoDir, "node_modules/vitest/vitest.mjs"), "run", "test/controllers/outages.test.ts"],
  {
    cwd: repoDir,
    stdio: "inherit",
    env: { ...process.env, PLOSIVE_TRIALS: "full", PLOSIVE_OUTAGES_FILE: file },
  },
);
const [code] = await once(vitest, "exit");
const lines = readFileSync(file, "utf8").trim().split("\n");
rmSync(dir, { recursive: true, force: true });

const head =
  "| unavailable | duration | jobs (created meanwhile) | operator caught up after | all pods created after | all completed after | restarts |\n" +
  "|---|---|---|---|---|---|---|";
const rows = lines.map((text) => {
  const line = JSON.parse(text) as Line;
  const { what, seconds, jobs, madeMeanwhile, caughtUpSeconds, podsSeconds, completedSeconds, exits } = line;
  return `| ${what.replace(/,$/, "")} | ${seconds} s | ${jobs} (${madeMeanwhile}) | ${caughtUpSeconds} s | ${podsSeconds} s | ${completedSeconds} s | ${exits} |`;
});
const doc = join(repoDir, "docs/benchmarks-operator-outages.md");
const [before = "", , after = ""] = readFileSync(doc, "utf8").split(
  /(\n\| unavailable \|[^\n]*(?:\n\|[^\n]*)*)/,
);
writeFileSync(doc, `${before}\n${[head, ...rows].join("\n")}${after}`);
process.exitCode = code;
