// How long each test file took when it was last run: `make check` chooses by it. Kept outside of the work tree, so that
// clones share it. Called by run-suites.ts and tools/check.ts.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "../cache.ts";
import type { FileTime } from "./report.ts";

const path = join(cacheDir, "test-timings.json");

/** Seconds by test file; empty before the first run. */
export function readTimings(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, number>;
  } catch {
    return {};
  }
}

/** Renamed into place: a run that is killed leaves the file of the run before. */
export function keepTimings(files: readonly FileTime[]): void {
  const all = { ...readTimings(), ...Object.fromEntries(files.map(({ name, seconds }) => [name, seconds])) };
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(all));
  renameSync(`${path}.${process.pid}`, path);
}
