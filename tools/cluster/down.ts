// Takes a local cluster down: every process, mount, interface, route, cgroup and file that it made, but the image store.
// Called by main.ts, and by up.ts before it starts over a killed run. Harmless when nothing is there.
import { rmdirSync, rmSync } from "node:fs";
import { endNamespaces, removeCgroup } from "./namespaces.ts";
import { checkName, findPlace } from "./place.ts";

/** The caller holds the lock (main.ts). */
export async function down(name: string, say: (line: string) => void): Promise<void> {
  const place = findPlace(checkName(name));
  if (place === undefined) {
    say(`cluster ${name} is not there`);
    return;
  }
  // First the processes: mounts, bridge and iptables rules are in their namespaces and vanish with the last one.
  await endNamespaces(place);
  await removeCgroup(place);
  // Mount points for paths that are fixed in kubelet and CNI; a folder that holds anything is somebody else's.
  for (const path of ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"]) {
    try {
      rmdirSync(path);
    } catch {
      // Not there, not empty, or in use by another cluster.
    }
  }
  // The number last: until everything else is gone no other cluster may take the addresses.
  rmSync(place.dir, { recursive: true, force: true });
  say(`cluster ${name} is down; its images stay in ${place.imagesDir}`);
}
