// Replicas, disruption budgets, spread over nodes, and autoscaling of the chart's Deployments.
import { describe, expect, it } from "vitest";
import { images, type Manifest, one, render } from "../support/chart.ts";

type Spread = { topologyKey: string; whenUnsatisfiable: string; labelSelector: { matchLabels: object } };
const deployment = (manifests: Manifest[], part: string) =>
  one(manifests, "Deployment", `plosive-${part}`).spec as unknown as {
    replicas?: number;
    template: { metadata: { labels: object }; spec: { topologySpreadConstraints: Spread[] } };
  };

describe.each(["api", "operator", "runs"])("the %s", (part) => {
  it("has two replicas on different nodes, of which a drain takes one at a time", async () => {
    const manifests = await render(...images);
    const { replicas, template } = deployment(manifests, part);
    expect(replicas).toBe(2);
    const { topologySpreadConstraints: spread } = template.spec;
    expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
      "topology.kubernetes.io/zone",
      "kubernetes.io/hostname",
    ]);
    for (const { whenUnsatisfiable, labelSelector } of spread) {
      // A cluster of one node runs both.
      expect(whenUnsatisfiable).toBe("ScheduleAnyway");
      expect(template.metadata.labels).toMatchObject(labelSelector.matchLabels);
    }
    const budget = one(manifests, "PodDisruptionBudget", `plosive-${part}`).spec as unknown as {
      maxUnavailable: number;
      selector: { matchLabels: object };
    };
    expect(budget.maxUnavailable).toBe(1);
    expect(template.metadata.labels).toMatchObject(budget.selector.matchLabels);
  });

  it("takes another spread, and no budget", async () => {
    const set = (value: string) => `${part}.${value}`;
    const manifests = await render(
      ...images,
      set("topologySpreadConstraints[0].topologyKey=rack"),
      set("podDisruptionBudget.enabled=false"),
    );
    expect(deployment(manifests, part).template.spec.topologySpreadConstraints).toEqual([
      { topologyKey: "rack" },
    ]);
    const budgets = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
    expect(budgets.map(({ metadata }) => metadata.name)).not.toContain(`plosive-${part}`);
  });
});

it("leaves the number of API replicas to the autoscaler if there is one", async () => {
  const manifests = await render(...images, "api.autoscaling.enabled=true", "api.autoscaling.maxReplicas=9");
  expect(deployment(manifests, "api").replicas).toBeUndefined();
  expect(deployment(manifests, "operator").replicas).toBe(2);
  expect(one(manifests, "HorizontalPodAutoscaler", "plosive-api").spec).toMatchObject({
    scaleTargetRef: { kind: "Deployment", name: "plosive-api" },
    minReplicas: 2,
    maxReplicas: 9,
  });
  expect((await render(...images)).map(({ kind }) => kind)).not.toContain("HorizontalPodAutoscaler");
});

it.each(["api.podDisruptionBudget.maxUnavailable=0", "api.podDisruptionBudget.maxUnavailable=half"])(
  "refuses %s, with which no node could be drained",
  async (set) => {
    await expect(render(...images, set)).rejects.toThrow("maxUnavailable");
  },
);
