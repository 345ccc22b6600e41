// The chart renders without a cluster, twice the same: tools such as Argo CD compare what it renders with what runs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { images, type Manifest, nameOf, one, parse, render, root, text } from "../support/chart.ts";

const sets = images.flatMap((set) => ["--set", set]);
const jobs = (manifests: Manifest[]) =>
  Object.fromEntries(
    manifests.filter(({ kind }) => kind === "Job").map((job) => [nameOf(job), job.metadata.name]),
  );

describe("the chart", () => {
  it("renders twice the same, byte for byte", async () => {
    const first = await text(sets);
    expect(first.length).toBeGreaterThan(10_000);
    expect(await text(sets)).toBe(first);
  });

  it("asks no cluster, makes nothing random, and contains no Secret", async () => {
    const folder = join(root, "charts/plosive/templates");
    const templates = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(templates.length).toBeGreaterThan(10);
    const impure =
      /\{\{[^}]*\b(lookup|rand\w+|gen\w*(CA|Cert|Key|Password)\w*|uuidv4|now|ago|htpasswd|bcrypt|getHostByName)\b/;
    expect(templates.filter((template) => impure.test(template))).toEqual([]);
    // Helm empties an object of the chart in some rollbacks: one that was not in the chart meanwhile.
    expect((await render(...images)).filter(({ kind }) => kind === "Secret")).toEqual([]);
  });

  it("has no hooks for tools that render it: they have an order of their own", async () => {
    const hooks = async (...more: string[]) =>
      parse(await text([...sets, ...more]))
        .map(({ metadata }) => `${metadata.name}: ${metadata.annotations?.["helm.sh/hook"]}`)
        .filter((line) => !line.endsWith("undefined"));
    // Only `helm test` runs it, and Argo CD leaves it out.
    const test = "plosive-test-api: test";
    expect(await hooks()).toEqual([test]);
    expect((await hooks("--is-upgrade")).sort()).toEqual(["plosive-take-over: pre-upgrade", test]);
  });

  it("names each Job by its content, because the template of a Job is immutable", async () => {
    const first = jobs(await render(...images));
    expect(Object.keys(first).sort()).toEqual(["plosive-bootstrap", "plosive-secrets"]);
    const image = jobs(await render(...images, "images.server=registry/server:2"));
    for (const name of Object.keys(first)) expect(image[name]).not.toBe(first[name]);
    expect(jobs(await render(...images, "api.replicas=3"))).toEqual(first);
  });
});

describe("the certificate of the run endpoint", () => {
  const certificateOf = async (...more: string[]) => {
    const manifests = await render(...images, ...more);
    const { volumes } = one(manifests, "Deployment", "plosive-runs").spec!.template!.spec;
    const { containers } = one(manifests, "Deployment", "plosive-operator").spec!.template!.spec;
    return {
      kinds: manifests
        .filter(({ metadata }) => /-runs-(ca|issued|certificate)$/.test(metadata.name))
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      mounted: volumes?.find(({ secret }) => secret?.items?.some(({ key }) => key === "tls.key"))?.secret
        ?.secretName,
      trusted: containers[0]?.env?.find(({ name }) => name === "PLOSIVE_RUNS_CA_CONFIGMAP")?.value,
      cron: manifests.filter(({ kind }) => kind === "CronJob").length,
      rules: manifests.find(({ kind, metadata }) => kind === "Role" && metadata.name === "plosive-secrets")
        ?.rules,
    };
  };

  it("is the chart's own by default, which the secrets job replaces each month", async () => {
    expect(await certificateOf()).toMatchObject({
      kinds: ["ConfigMap plosive-runs-ca"],
      mounted: "plosive-runs-certificate",
      trusted: "plosive-runs-ca",
      cron: 1,
    });
  });

  it("is issued by cert-manager if there is an issuer", async () => {
    const issuer = "runs.certificate.certManager.issuerRef.name=internal";
    const found = await certificateOf(issuer);
    expect(found).toMatchObject({
      kinds: ["ConfigMap plosive-runs-ca", "Certificate plosive-runs-issued"],
      mounted: "plosive-runs-issued",
      cron: 1,
    });
    expect(found.rules).toContainEqual({
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: ["plosive-runs-issued"],
      verbs: ["get"],
    });
  });

  it("can be given as a Secret, and the authorities as a ConfigMap; then nothing is left to do each day", async () => {
    const given = ["existingSecret=mine", "existingConfigMap=trusted"];
    expect(await certificateOf(...given.map((set) => `runs.certificate.${set}`))).toMatchObject({
      kinds: [],
      mounted: "mine",
      trusted: "trusted",
      cron: 0,
    });
    const both = ["existingSecret=mine", "certManager.issuerRef.name=internal"];
    await expect(certificateOf(...both.map((set) => `runs.certificate.${set}`))).rejects.toThrow(
      "runs.certificate: set existingSecret or certManager.issuerRef, not both",
    );
  });
});

describe("the first key", () => {
  const rightsWith = async (...more: string[]) =>
    one(await render(...images, ...more), "Role", "plosive-bootstrap").rules;

  it("can be given as a Secret; then the set-up job may create none", async () => {
    expect(JSON.stringify(await rightsWith())).toContain("create");
    expect(await rightsWith("bootstrap.existingSecret=key")).toEqual([
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["key"], verbs: ["get"] },
    ]);
  });
});
