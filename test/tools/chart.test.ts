// What tools/chart.ts tells when the chart does not come up.
import { expect, test } from "vitest";
import { endedContainers, type Pods } from "../../tools/chart.ts";

const pod = (name: string, ready: boolean, lastState: object): Pods["items"][number] => ({
  metadata: { name },
  status: { containerStatuses: [{ name: "main", ready, lastState }] },
});

test("the log of a container that ends again and again is asked for, and of no other", () => {
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
