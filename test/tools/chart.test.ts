// The diagnosis of tools/chart.ts when the chart does not become ready.
import { expect, test } from "vitest";
import { endedContainers, type Pods } from "../../tools/chart.ts";

const pod = (name: string, ready: boolean, lastState: object): Pods["items"][number] => ({
  metadata: { name },
  status: { containerStatuses: [{ name: "main", ready, lastState }] },
});

test("the diagnosis requests the log of a container that keeps crashing, and of no other", () => {
  const pods: Pods = {
    items: [
      pod("crashing", false, { terminated: { exitCode: 1 } }),
      pod("starting", false, {}),
      pod("recovered", true, { terminated: { exitCode: 1 } }),
      { metadata: { name: "unscheduled" }, status: {} },
    ],
  };
  expect(endedContainers(pods)).toEqual([{ pod: "crashing", container: "main" }]);
});
