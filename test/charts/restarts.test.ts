// Pods start anew when an upgrade changes what they read only at their start, and are left alone otherwise.
import { describe, expect, it } from "vitest";
import { images, one, render } from "../support/chart.ts";

const operatorWith = async (...sets: string[]) =>
  JSON.stringify(one(await render(...images, ...sets), "Deployment", "plosive-operator").spec?.template);

describe("the operator's pods", () => {
  it.each([
    "images.worker=registry/worker:2",
    "images.trainer=registry/trainer:2",
    "imagePullPolicy=Always",
    "profiles.default.train.resources.limits.memory=7Gi",
    "profiles.batch.train.nodeSelector.pool=batch",
  ])("start anew for %s, because they read the worker profiles at their start", async (set) => {
    expect(await operatorWith(set)).not.toBe(await operatorWith());
  });

  it.each(["api.replicas=3", "images.postgres=registry/postgres:2", "metrics.podMonitors.enabled=true"])(
    "are left alone by %s",
    async (set) => {
      expect(await operatorWith(set)).toBe(await operatorWith());
    },
  );
});
