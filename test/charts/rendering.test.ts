// The chart renders without a cluster, twice the same: tools such as Argo CD compare what it renders with what runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { renderings } from "../../tools/testing/checks.ts";
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

  it("renders the same on every machine: what it rendered where it was last changed", async () => {
    const digests: Record<string, string> = {};
    for (const { name, argv } of renderings()) {
      const { stdout } = await promisify(execFile)(argv[0]!, argv.slice(1), { maxBuffer: 16 << 20 });
      digests[name] = createHash("sha256").update(stdout).digest("hex");
    }
    // After a change of the chart: `npx vitest run --project unit test/charts/rendering.test.ts --update`.
    expect(digests).toMatchInlineSnapshot(`
      {
        "helm template": "43bf5c423e99ba79f6c290e78abdbedad1374c4336d437a58fdfa891fd976bc0",
        "helm template of an upgrade": "dedefff6dba454ff78aa0fd030b08f0992f2aa7d3389d40e3d15f6be0df06280",
        "helm template with values-gpu.yaml": "ede67580bc3ff7dded7cfb557bab29c00d8afe9d22245ae065fbc0e998cc5eb3",
        "helm template with values-local.yaml": "d00d2a71a9e65c5065f3bc942e1652f4774f19276f49517bc864753741a0ebb1",
        "helm template with values-openshift.yaml": "c15532eced41255db3423e00946be9c0b13b4bf581f211568ff459fa0041c6ab",
        "helm template with values-production.yaml": "5ae6e3928d24540070097a1fab8f9a7ba128091c430b638e95571c61ef565e7e",
      }
    `);
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

  it("is replaced in time also where the authorities are given as a ConfigMap", async () => {
    expect(await certificateOf("runs.certificate.existingConfigMap=trusted")).toMatchObject({
      trusted: "trusted",
      cron: 1,
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
