// Measures the processor time of a command and everything that it starts, with a cgroup of its own. Called by run-suite.ts.
// Pods of a local cluster run in the cluster's cgroup, so their time is not included.
import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

export interface CpuMeter {
  /** The same command, which enters the cgroup before it starts. */
  wrap(argv: readonly string[]): readonly string[];
  /** Seconds used so far; undefined where this user may not make cgroups. */
  seconds(): number | undefined;
  close(): void;
}

const root = "/sys/fs/cgroup";

export function makeCpuMeter(name: string): CpuMeter {
  const isV1 = existsSync(join(root, "cpuacct"));
  const folder = join(root, isV1 ? "cpuacct" : "", `plosive-test-${name}`);
  try {
    mkdirSync(folder, { recursive: true });
  } catch {
    return { wrap: (argv) => argv, seconds: () => undefined, close: () => {} };
  }
  return {
    wrap: (argv) => ["/bin/sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder, ...argv],
    seconds() {
      if (isV1) return Number(readFileSync(join(folder, "cpuacct.usage"), "utf8")) / 1e9;
      const usage = /^usage_usec (\d+)$/m.exec(readFileSync(join(folder, "cpu.stat"), "utf8"))?.[1];
      return usage === undefined ? undefined : Number(usage) / 1e6;
    },
    close() {
      try {
        rmdirSync(folder);
      } catch {
        // A process that is still ending keeps it; an empty cgroup costs nothing.
      }
    },
  };
}
