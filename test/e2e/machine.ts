// Traces that a cluster could leave on the machine: mounts, interfaces, routes, iptables rules, processes. Called by
// the end-to-end test, which compares the state before and after.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Traces {
  readonly mounts: readonly string[];
  readonly interfaces: readonly string[];
  readonly routes: readonly string[];
  readonly iptables: readonly string[];
  readonly cgroups: readonly string[];
}

/** The machine's state as comparable lines, without counters and without the traces of clusters other than `own`. */
export function readTraces(own: { hostInterface: string; cgroup: string }): Traces {
  // Another local cluster (a running demo) may start or stop meanwhile; plosive<n> is its interface.
  const isForeign = (line: string) =>
    (/\bplosive\d+\b/.exec(line)?.[0] ?? own.hostInterface) !== own.hostInterface;
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  return {
    mounts: lines(readFileSync("/proc/self/mounts", "utf8")).filter(
      (line) => !line.includes("/clusters/plosive/"),
    ),
    interfaces: readdirSync("/sys/class/net").filter((name) => !isForeign(name)),
    routes: lines(execFileSync("ip", ["route"], { encoding: "utf8" })).filter((line) => !isForeign(line)),
    iptables: lines(execFileSync("iptables-save", { encoding: "utf8" }))
      .filter((line) => !line.startsWith("#"))
      .map((line) => line.replace(/\[\d+:\d+\]/, "")),
    cgroups: readdirSync("/sys/fs/cgroup")
      .map((tree) => join("/sys/fs/cgroup", tree, own.cgroup))
      .concat(join("/sys/fs/cgroup", own.cgroup))
      .filter((folder) => existsSync(folder)),
  };
}

/** Lines of `now` that are not in `before`. */
export function newTraces(before: Traces, now: Traces): string[] {
  const added = (key: keyof Traces) =>
    now[key].filter((line) => !before[key].includes(line)).map((line) => `${key}: ${line}`);
  return [
    ...added("mounts"),
    ...added("interfaces"),
    ...added("routes"),
    ...added("iptables"),
    ...added("cgroups"),
  ];
}

/** Host pids of a pod's worker: processes in the pod's cgroup that run the Python package. */
export const workerProcesses = (podUid: string): number[] => podProcesses(podUid, "plosive_worker");

/** Host pids of processes in the pod's cgroup whose command line contains the word. */
export function podProcesses(podUid: string, word: string): number[] {
  const text = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      // It ended while we looked.
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => text(pid, "cmdline").includes(word) && text(pid, "cgroup").includes(podUid))
    .map(Number);
}

/** Host pid of a cluster's component: a process of that name whose command line names the cluster's folder. */
export function findProcess(program: string, clusterDir: string): number {
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [command = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (command.endsWith(`/${program}`) && args.some((arg) => arg.includes(`${clusterDir}/`)))
        return Number(pid);
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error(`no process ${program} of ${clusterDir} is running`);
}
