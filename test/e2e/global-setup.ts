// vitest's globalSetup: brings up the one cluster of all end-to-end tests before the first of them, and takes it down
// after the last. With PLOSIVE_E2E_KEEP=1 it uses an existing cluster and keeps it, for the development of tests; `node
// tools/up.ts --name e2e` brings new code into it.
import { rmSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { findPlace } from "../../tools/cluster/place.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { bringDown, bringUp, clusterName } from "./cluster.ts";
import { readTraces, type Traces } from "./machine.ts";
import { sharedFolder } from "./shared.ts";
import { takes } from "./takes.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** In the environment of every process of the cluster. */
    mark: string;
    /** The traces on the machine before the cluster. */
    before: Traces;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeps = process.env.PLOSIVE_E2E_KEEP === "1";
  const mark = `${process.pid}-${Date.now()}`;
  if (!keeps) await bringDown();
  // The cluster does not have an interface of its own yet.
  project.provide("before", readTraces({ hostInterface: "", cgroup: `plosive-${clusterName}` }));
  project.provide("mark", mark);
  // In parallel: one waits for ffmpeg, the other for the kubelet.
  const isThere = keeps && findPlace(clusterName) !== undefined;
  await Promise.all([composeVoices(takes), isThere ? undefined : bringUp(mark)]);
  return async () => {
    rmSync(sharedFolder(mark), { recursive: true, force: true });
    if (!keeps) await bringDown();
  };
}
