// Removes a local cluster: all its processes, mounts, interfaces, routes, cgroups and files, except its image store.
// Called by main.ts, and by up.ts to clean up after a killed run. Idempotent.
import { rmdirSync, rmSync } from "node:fs";
import { endNamespaces, removeCgroup } from "./namespaces.ts";
import { checkName, findPlace } from "./place.ts";

/** Removes the cluster of that name. The caller holds the lock (main.ts). */
export async function down(name: string, say: (line: string) => void): Promise<void> {
  const place = findPlace(checkName(name));
  if (place === undefined) {
    say(`cluster ${name} does not exist`);
    return;
  }
  // Processes first: mounts, bridge and iptables rules belong to their namespaces, which end with the last process.
  await endNamespaces(place);
  await removeCgroup(place);
  // Mount points for paths that are fixed in kubelet and CNI. Removes only empty folders, because others are not from
  // here.
  for (const path of ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"]) {
    try {
      rmdirSync(path);
    } catch {
      // Missing, not empty, or in use by another cluster.
    }
  }
  // The cluster number last: no other cluster may take the addresses until everything else is removed.
  rmSync(place.dir, { recursive: true, force: true });
  say(`cluster ${name} is removed; its images are kept in ${place.imagesDir}`);
}
