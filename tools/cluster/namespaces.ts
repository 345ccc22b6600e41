// Manages the namespaces in which a whole local cluster runs: finds them by a mark in the command line, starts them,
// ends them, and connects them to the host by a veth pair. Called by up.ts, down.ts and status.ts. Needs root.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../process.ts";
import type { ClusterPlace } from "./place.ts";

/**
 * Host pids of the processes whose command line contains the cluster's mark: `unshare` and the first process inside.
 */
function markedProcesses({ mark }: ClusterPlace): { pid: number; isFirst: boolean }[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark)) return [];
        // NSpid lists the pid in each namespace, starting with the host's; the first process has pid 1 in the
        // innermost.
        const numbers =
          /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]?.split(/\s+/) ?? [];
        return [{ pid: Number(pid), isFirst: numbers.length > 1 && numbers.at(-1) === "1" }];
      } catch {
        return [];
      }
    });
}

export function firstProcess(place: ClusterPlace): number | undefined {
  return markedProcesses(place).find((process) => process.isFirst)?.pid;
}

/** Starts the first process, detached from this one, and returns its pid on the host. */
export async function startNamespaces(place: ClusterPlace): Promise<number> {
  const here = import.meta.dirname;
  const unshare = [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--mount-proc",
    "--propagation",
    "private",
    "--kill-child=KILL",
  ];
  const first = [
    join(here, "first-process.sh"),
    place.mark,
    place.dir,
    process.execPath,
    join(here, "supervisor.ts"),
    place.name,
  ];
  const child = spawn("unshare", [...unshare, "--", "bash", ...first], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore"],
    cwd: "/",
  });
  child.unref();
  let pid: number | undefined;
  const found = async () => {
    pid = firstProcess(place);
    return pid !== undefined;
  };
  await waitUntil("the cluster's namespaces", found, { timeoutMs: 10_000 });
  return pid ?? -1;
}

/** Creates the veth pair, its addresses and the route to pods and services. Idempotent. */
export function connectNetwork({ addresses }: ClusterPlace, firstPid: number): void {
  const { hostInterface, hostAddress, insideAddress, linkPrefix, routedRange } = addresses;
  const inside = (...command: string[]) =>
    execFileSync("nsenter", ["-t", String(firstPid), "-n", ...command]);
  const host = (...args: string[]) => execFileSync("ip", args);
  if (networkInterfaces()[hostInterface] !== undefined) return;
  // An incomplete link of a killed run has no address yet; it is deleted and created again.
  spawnSync("ip", ["link", "delete", hostInterface], { stdio: "ignore" });
  host("link", "add", hostInterface, "type", "veth", "peer", "name", "eth0", "netns", String(firstPid));
  inside("ip", "address", "add", `${insideAddress}/${linkPrefix}`, "dev", "eth0");
  inside("ip", "link", "set", "eth0", "up");
  inside("ip", "route", "add", "default", "via", hostAddress);
  host("link", "set", hostInterface, "up");
  host("route", "replace", routedRange, "via", insideAddress, "dev", hostInterface, "onlink");
  // Assigns the address last, because it marks the link as complete.
  host("address", "add", `${hostAddress}/${linkPrefix}`, "dev", hostInterface);
}

/** Kills all processes in the namespaces and waits until they and the interface are gone. Idempotent. */
export async function endNamespaces(place: ClusterPlace): Promise<void> {
  for (const { pid } of markedProcesses(place)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended by itself meanwhile.
    }
  }
  await waitUntil("the cluster's processes to end", async () => markedProcesses(place).length === 0, {
    timeoutMs: 30_000,
  });
  const { hostInterface } = place.addresses;
  spawnSync("ip", ["link", "delete", hostInterface], { stdio: "ignore" });
  await waitUntil("the interface to go", async () => !existsSync(`/sys/class/net/${hostInterface}`), {
    timeoutMs: 10_000,
  });
}

const cgroupMount = "/sys/fs/cgroup";
/**
 * CPU weights for cgroup v1 and v2, ten times the default: otherwise all pods together get as much CPU as a single
 * process.
 */
const weights = { "cpu.shares": 10_240, "cpu.weight": 1_000 };

/** The folder of each controller on cgroup v1, the single tree on v2. */
function cgroupTrees(): string[] {
  if (existsSync(join(cgroupMount, "cgroup.controllers"))) return [cgroupMount];
  return readdirSync(cgroupMount)
    .map((controller) => join(cgroupMount, controller))
    .filter((tree) => existsSync(join(tree, "cgroup.procs")));
}

/** Creates the kubelet's cgroup root with the controllers that the kubelet uses. */
export function makeCgroup({ cgroup }: ClusterPlace): void {
  for (const tree of cgroupTrees()) {
    if (existsSync(join(tree, "cgroup.subtree_control"))) {
      for (const controller of ["cpu", "cpuset", "memory", "pids", "io", "hugetlb"]) {
        try {
          writeFileSync(join(tree, "cgroup.subtree_control"), `+${controller}`);
        } catch {
          // This kernel lacks the controller, or the v1 side of a hybrid hierarchy uses it.
        }
      }
    }
    mkdirSync(join(tree, cgroup), { recursive: true });
    // On v1 a new cpuset is empty and accepts no processes until it has CPUs and memory nodes; copies those of its
    // parent.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const parent = join(tree, file);
      const own = join(tree, cgroup, file);
      if (existsSync(parent) && existsSync(own) && readFileSync(own, "utf8").trim() === "") {
        writeFileSync(own, readFileSync(parent, "utf8").trim());
      }
    }
    for (const [file, weight] of Object.entries(weights)) {
      const own = join(tree, cgroup, file);
      if (existsSync(own)) writeFileSync(own, String(weight));
    }
  }
}

/** Removes the empty cgroups of the killed containers. */
export async function removeCgroup({ cgroup }: ClusterPlace): Promise<void> {
  const remove = (dir: string) => {
    if (!existsSync(dir)) return;
    for (const entry of readdirSync(dir, { withFileTypes: true }))
      if (entry.isDirectory()) remove(join(dir, entry.name));
    rmdirSync(dir);
  };
  const removeAll = async () => {
    for (const tree of cgroupTrees()) remove(join(tree, cgroup));
    return true;
  };
  // Until the kernel has removed the killed processes from the cgroups, rmdir fails with EBUSY.
  await waitUntil("the cluster's cgroups to be empty", removeAll, { timeoutMs: 30_000 });
}
