// When the operator takes Kueue for installed or removed: answers of the API server in an order that a real one gives only now and
// then. kueue-comes-and-goes.test.ts has a real one.
import { expect, it } from "vitest";
import { type KueueMode, startWorkloads } from "../../../controllers/queueing/workloads.ts";
import type { Kube } from "../../../src/kube/client.ts";
import { KubeError } from "../../../src/kube/errors.ts";
import { makeLog } from "../../../src/log.ts";
import { poll } from "../../support/poll.ts";

const installed = { versions: [{ version: "v1beta1" }, { version: "v1beta2" }] };
const absent = new KubeError("no such group", { status: 404, reason: "NotFound" });
const down = new KubeError("no answer", { status: 0, reason: "Unreachable" });

/** Starts with an API server that gives these answers, the last one for ever. */
function look(mode: KueueMode, answers: readonly unknown[]) {
  let looks = 0;
  const send = async () => {
    const answer = answers[Math.min(looks++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const options = {
    kube: { send } as unknown as Kube,
    namespace: "n",
    random: () => 0,
    metrics: {} as never,
  };
  const workloads = startWorkloads({ ...options, mode, lookMs: 1, log: makeLog("test", "silent") });
  return { workloads, looks: () => looks };
}

it("Kueue is installed when two looks in a row find it; failures and a single look do not count", async () => {
  const { workloads, looks } = look("auto", [
    absent,
    down,
    installed,
    absent,
    installed,
    down,
    installed,
    installed,
  ]);
  await workloads.changed;
  expect(looks()).toBe(8);
  expect(workloads.found()).toBeUndefined();
  await workloads.stop();
});

it("without a change the operator goes on looking until it stops", async () => {
  const { workloads, looks } = look("auto", [absent]);
  await poll("some looks", () => looks() > 5);
  await workloads.stop();
  const stopped = looks();
  await new Promise(setImmediate);
  expect(looks()).toBe(stopped);
});

it("Kueue that is turned off is never looked for", async () => {
  const { workloads, looks } = look("off", [installed]);
  await workloads.known;
  expect(looks()).toBe(0);
  await workloads.stop();
});
