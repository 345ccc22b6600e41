// Finds and ends processes by a word in their environment, which every descendant inherits, whatever its session, process
// group or namespace. Called by tools/test.ts, so that no suite leaves anything behind, and by the end-to-end test.
import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Processes that were started with `name=value` in their environment, in whatever namespace. */
export function processesWith(name: string, value: string): Process[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${name}=${value}`)) return [];
        return [
          {
            pid: Number(pid),
            command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
          },
        ];
      } catch {
        // It ended while we looked, or belongs to somebody else.
        return [];
      }
    });
}

/** Kills them all, also those that they start meanwhile; returns what there was at first. */
export function endProcessesWith(name: string, value: string): Process[] {
  const first = processesWith(name, value);
  for (let round = 0; round < 20; round++) {
    const found = round === 0 ? first : processesWith(name, value);
    if (found.length === 0) break;
    for (const { pid } of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
  }
  return first;
}
