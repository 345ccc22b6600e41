// What a new leader knows of jobs that ended before it led.
import { expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { makeMemory } from "../../controllers/job/memory.ts";
import { Store } from "../../controllers/runtime/store.ts";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";

function resource(name: string, phase: string): JobResource {
  const conditions = [{ type: phase, status: "True", reason: phase, message: "" }];
  const metadata = { name, uid: `uid-${name}`, resourceVersion: "1" };
  return { metadata, spec: {}, status: { phase, conditions } } as unknown as JobResource;
}

it("a new leader queries no row of a job that has ended, and those of all others", () => {
  const store = new Store<JobResource>();
  for (const phase of ["Succeeded", "Failed", "Cancelled", "Progressing"])
    store.set(resource(phase.toLowerCase(), phase));
  const adapter = { kind: "inference", type: inferenceJobs } as const;
  const { settledUids } = makeMemory({ now: Date.now, pods: new Store<Pod>() }, adapter, store);
  expect([...settledUids].sort()).toEqual(["uid-cancelled", "uid-failed", "uid-succeeded"]);
  store.delete(resource("failed", "Failed"));
  expect([...settledUids].sort()).toEqual(["uid-cancelled", "uid-succeeded"]);
});
