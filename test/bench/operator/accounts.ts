// CPU time and memory of all processes, from the kernel's counters. Called by the phases of the benchmark.
import { cpuOfFamily } from "../measure.ts";
import { cpuSeconds, residentBytes } from "../servers.ts";

export type Accounts = { readonly [name: string]: number };

/** CPU seconds so far, by name. For Postgres it is the sum of all its processes. */
export function accounts(pids: { readonly [name: string]: number }): Accounts {
  const entries = Object.entries(pids).map(([name, pid]) => [
    name,
    name === "Postgres" ? cpuOfFamily(pid) : cpuSeconds(pid),
  ]);
  return Object.fromEntries(entries) as Accounts;
}

export const between = (before: Accounts, after: Accounts): Accounts =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));

/** The peak resident memory of a process, sampled four times a second. */
export function watchMemory(pid: number): { now(): number; peak(): number; end(): void } {
  let peak = residentBytes(pid);
  let now = peak;
  const sample = () => {
    try {
      now = residentBytes(pid);
    } catch {
      // The process has exited. Code that needs it reports that.
    }
    peak = Math.max(peak, now);
    return now;
  };
  const timer = setInterval(sample, 250);
  return { now: sample, peak: () => peak, end: () => clearInterval(timer) };
}
