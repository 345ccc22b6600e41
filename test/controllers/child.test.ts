// The pod of a run, as the operator describes it to Kubernetes, without a cluster.
import { describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { buildJob } from "../../controllers/job/child.ts";
import { podProfile } from "../../src/schemas/profile.ts";

describe("the pod of a run", () => {
  it.each([
    [undefined, "false"],
    [false, "false"],
    [true, "true"],
  ])("decodes without confinement only if its profile says so: %s", (allowUnconfinedDecoding, value) => {
    const name = "PLOSIVE_ALLOW_UNCONFINED_DECODING";
    const env = [{ name, value: "own" }];
    const { template } = job({ image: "worker", env, allowUnconfinedDecoding }).spec as unknown as {
      template: { spec: { containers: [{ env: { name: string; value: string }[] }] } };
    };
    const values = template.spec.containers[0].env.filter((each) => each.name === name);
    // Of two variables with one name, Kubernetes takes the last.
    expect(values.at(-1)).toEqual({ name, value });
  });
});

function job(profile: object) {
  const id = "00000000-0000-4000-8000-000000000000";
  const shards = { count: 1, parallelism: 1 };
  const spec = { tenantId: id, shards, retries: { perShard: 1, maxFailedShards: 0 } };
  const cr = { metadata: { name: `ej-${id}`, namespace: "plosive", uid: id }, spec };
  const type = { plural: "embeddingjobs", apiVersion: "plosive.dev/v1alpha1", kind: "EmbeddingJob" };
  return buildJob(
    cr as unknown as JobResource,
    { kind: "embedding", type: type as never, verb: "embed" },
    1,
    podProfile.parse(profile),
    { runsUrl: "https://runs", runsAudience: "runs", caConfigMap: "ca", serviceAccount: "worker" },
    { labels: {}, suspend: false },
  );
}
