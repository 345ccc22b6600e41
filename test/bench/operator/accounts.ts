// CPU time and memory of everybody who takes part, from the kernel's accounts. Called by the phases of the benchmark.
import { cpuOfFamily } from "../measure.ts";
import { cpuSeconds, residentBytes } from "../servers.ts";

export type Accounts = { readonly [name: string]: number };

/** CPU seconds so far, by name. Of Postgres all processes are counted. */
export function accounts(pids: { readonly [name: string]: number }): Accounts {
  const entries = Object.entries(pids).map(([name, pid]) => [
    name,
    name === "Postgres" ? cpuOfFamily(pid) : cpuSeconds(pid),
  ]);
  return Object.fromEntries(entries) as Accounts;
}

export const between = (before: Accounts, after: Accounts): Accounts =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));

/** The most that a process had resident, looked at four times a second. */
export function watchMemory(pid: number): { now(): number; peak(): number; end(): void } {
  let peak = residentBytes(pid);
  let now = peak;
  const look = () => {
    try {
      now = residentBytes(pid);
    } catch {
      // It has ended; whoever needs it will say so.
    }
    peak = Math.max(peak, now);
    return now;
  };
  const timer = setInterval(look, 250);
  return { now: look, peak: () => peak, end: () => clearInterval(timer) };
}
