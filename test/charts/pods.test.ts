// What an installation can add to the chart's pods: labels, annotations, places to run, variables, volumes, authorities to
// trust, and user ids that the platform chooses.
import { describe, expect, it } from "vitest";
import { profiles } from "../../src/schemas/profile.ts";
import { external, images, type Manifest, nameOf, one, pods, render } from "../support/chart.ts";

/** Pod names by the values that configure them. */
const sections: Record<string, string[]> = {
  api: ["plosive-api"],
  operator: ["plosive-operator"],
  runs: ["plosive-runs"],
  jobs: ["plosive-bootstrap", "plosive-secrets"],
  "database.embedded": ["plosive-database"],
  "objectStore.embedded": ["plosive-object-store"],
};

const templates = (manifests: Manifest[]) =>
  Object.fromEntries(pods(manifests).map((manifest) => [nameOf(manifest), manifest.spec!.template!]));

const profilesOf = (manifests: Manifest[]) =>
  profiles.parse(JSON.parse(one(manifests, "ConfigMap", "plosive-profiles").data!["profiles.json"]!));

describe.each(Object.entries(sections))("the values of %s", (section, names) => {
  const inSection = (...sets: string[]) => sets.map((set) => `${section}.${set}`);

  it("give its pods labels, annotations and places to run, and no other pods", async () => {
    const found = templates(
      await render(
        ...images,
        ...inSection(
          "nodeSelector.pool=mine",
          "tolerations[0].key=mine",
          "affinity.podAntiAffinity.mine=yes",
          "priorityClassName=mine",
          "podLabels.mine=yes",
          "podLabels.app\\.kubernetes\\.io/component=other",
          "podAnnotations.mine=yes",
        ),
      ),
    );
    for (const [name, { metadata, spec }] of Object.entries(found)) {
      const { nodeSelector, tolerations, affinity, priorityClassName } = spec;
      const given = { nodeSelector, tolerations, affinity, priorityClassName };
      if (names.includes(name)) {
        expect(given, name).toEqual({
          nodeSelector: { pool: "mine" },
          tolerations: [{ key: "mine" }],
          affinity: { podAntiAffinity: { mine: "yes" } },
          priorityClassName: "mine",
        });
        expect(metadata.labels).toMatchObject({
          mine: "yes",
          "app.kubernetes.io/component": name.replace("plosive-", ""),
        });
        expect(metadata.annotations).toMatchObject({ mine: "yes" });
      } else {
        expect(JSON.stringify([metadata, given]), name).not.toContain("mine");
      }
    }
  });
});

describe.each(["api", "operator", "runs", "jobs"])("the values of %s", (section) => {
  it("give its pods variables, volumes and mounts", async () => {
    const found = templates(
      await render(
        ...images,
        ...[
          "extraEnv[0].name=MINE",
          "extraEnv[0].value=yes",
          "extraVolumes[0].name=mine",
          "extraVolumes[0].emptyDir.medium=Memory",
          "extraVolumeMounts[0].name=mine",
          "extraVolumeMounts[0].mountPath=/mine",
        ].map((set) => `${section}.${set}`),
      ),
    );
    for (const name of sections[section]!) {
      const { containers, volumes } = found[name]!.spec;
      expect(containers[0]!.env, name).toContainEqual({ name: "MINE", value: "yes" });
      expect(volumes, name).toContainEqual({ name: "mine", emptyDir: { medium: "Memory" } });
      expect(containers[0]!.volumeMounts, name).toContainEqual({ name: "mine", mountPath: "/mine" });
    }
  });
});

describe("the chart", () => {
  it("puts the common labels on each object and on all pods, also on those of workers", async () => {
    const label = "commonLabels.team=audio";
    const manifests = await render(...images, "crds.enabled=false", label);
    for (const { kind, metadata } of manifests)
      expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({ team: "audio" });
    for (const { metadata } of Object.values(templates(manifests)))
      expect(metadata.labels).toMatchObject({ team: "audio" });
    const own = await render(...images, label, "profiles.default.train.labels.queue=night");
    expect(profilesOf(own).default).toMatchObject({
      embed: { labels: { team: "audio" } },
      train: { labels: { team: "audio", queue: "night" } },
    });
  });

  it("lets all pods trust a company's authorities", async () => {
    const manifests = await render(...images, "caBundle.configMap=company", "caBundle.key=bundle.pem");
    const volume = {
      name: "ca",
      configMap: { name: "company", items: [{ key: "bundle.pem", path: "ca.crt" }] },
    };
    for (const name of ["plosive-api", "plosive-operator", "plosive-runs", "plosive-bootstrap"]) {
      const { containers, volumes } = templates(manifests)[name]!.spec;
      const file = containers[0]!.env!.find((variable) => variable.name === "NODE_EXTRA_CA_CERTS")?.value;
      expect(file).toBe("/etc/plosive/ca/ca.crt");
      expect(containers[0]!.volumeMounts).toContainEqual({
        name: "ca",
        mountPath: "/etc/plosive/ca",
        readOnly: true,
      });
      expect(volumes).toContainEqual(volume);
    }
    for (const profile of Object.values(profilesOf(manifests).default!))
      expect(profile.storeCa).toEqual({ configMap: "company", key: "bundle.pem" });
  });

  it("sets no user ids where the platform chooses them", async () => {
    const manifests = await render(...images, ...external, "arbitraryUserIds=true");
    expect(JSON.stringify(pods(manifests))).not.toMatch(/runAsUser|runAsGroup|fsGroup"/);
    for (const profile of Object.values(profilesOf(manifests).default!))
      expect(profile.arbitraryUserId).toBe(true);
    await expect(render(...images, "arbitraryUserIds=true")).rejects.toThrow("arbitraryUserIds");
    const store = ["database.existingSecret=db", "arbitraryUserIds=true"];
    expect(JSON.stringify(pods(await render(...images, ...store)))).not.toMatch(/runAsUser|fsGroup"/);
  });
});
