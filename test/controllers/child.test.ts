// The pod of a run, as the operator describes it to Kubernetes, without a cluster.
import { describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { buildJob } from "../../controllers/job/child.ts";
import { podProfile } from "../../src/schemas/profile.ts";

describe("the pod of a run", () => {
  const podOf = (profile: object) =>
    (job({ image: "worker", ...profile }).spec as unknown as { template: Pod }).template;

  it("takes labels, annotations and affinity from its profile, beside the labels that it is found by", () => {
    const { metadata, spec } = podOf({
      labels: { team: "audio" },
      annotations: { note: "x" },
      affinity: { podAffinity: {} },
    });
    expect(metadata.labels).toMatchObject({ team: "audio", "app.kubernetes.io/name": "plosive-worker" });
    expect(metadata.annotations).toEqual({ note: "x" });
    expect(spec.affinity).toEqual({ podAffinity: {} });
  });

  it("runs as a fixed user unless the platform chooses one", () => {
    expect(podOf({}).spec.securityContext).toMatchObject({ runAsUser: 65532, fsGroup: 65532 });
    const { securityContext } = podOf({ arbitraryUserId: true }).spec;
    expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  });

  it("trusts the authorities of the object store, which it mounts from a ConfigMap", () => {
    const { containers, volumes } = podOf({ storeCa: { configMap: "company", key: "bundle.pem" } }).spec;
    const file = containers[0].env.find(({ name }) => name === "PLOSIVE_STORE_CA_FILE")?.value ?? "";
    const mount = containers[0].volumeMounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
    expect(volumes.find(({ name }) => name === mount?.name)).toMatchObject({
      configMap: { name: "company", items: [{ key: "bundle.pem", path: file.split("/").at(-1) }] },
    });
    expect(JSON.stringify(podOf({}))).not.toContain("STORE_CA");
  });

  it.each([
    [{}, "4Gi"],
    [{ scratchSize: "500Mi" }, "500Mi"],
  ])("knows the limit of its scratch volume, which it must not fill: %o", (profile, size) => {
    const { containers, volumes } = podOf(profile).spec;
    expect(volumes).toContainEqual({ name: "scratch", emptyDir: { sizeLimit: size } });
    expect(containers[0].env).toContainEqual({ name: "PLOSIVE_SCRATCH_SIZE", value: size });
  });

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

interface Pod {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    affinity?: object;
    securityContext: object;
    containers: [
      { env: { name: string; value: string }[]; volumeMounts: { name: string; mountPath: string }[] },
    ];
    volumes: { name: string }[];
  };
}

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
