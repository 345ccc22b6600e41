// The last of the end-to-end tests: the removal of a cluster leaves no traces on the machine.
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { processesWith } from "../../tools/testing/leftovers.ts";
import { bringDown, clusterPlace, markName } from "./cluster.ts";
import { newTraces, readTraces } from "./machine.ts";

test("cluster-down leaves no process, mount, interface, route or iptables rule", async () => {
  const mark = inject("mark");
  expect(processesWith(markName, mark).length, "the mark must be in the cluster's processes").toBeGreaterThan(
    5,
  );
  const { dir, cgroup, addresses } = clusterPlace();
  await bringDown();
  expect(processesWith(markName, mark)).toEqual([]);
  const now = readTraces({ hostInterface: addresses.hostInterface, cgroup });
  expect(newTraces(inject("before"), now)).toEqual([]);
  expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(dir);
});
