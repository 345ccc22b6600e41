// Installations and upgrades with this chart on a real API server: the secrets job fills the Secrets with no more rights
// than it has in the chart, and an upgrade keeps them, also one from chart 0.1, which made them in its templates. Nothing
// runs pods here, so the tests run the files of the jobs, with the arguments of the Jobs.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { apiConfig } from "../../src/config.ts";
import { makeKube } from "../../src/kube/client.ts";
import { configMaps, jobs, secrets } from "../../src/kube/kinds.ts";
import { makeLog } from "../../src/log.ts";
import { type SecretsSettings, secretsSettings } from "../../src/secrets/settings.ts";
import { fillSecrets } from "../../src/secrets.ts";
import { repoDir, tool } from "../../tools/cache.ts";
import { tokenOf, useOwnCluster } from "../support/kube.ts";
import { kubeconfigOf } from "../support/namespace.ts";
import { poll } from "../support/poll.ts";

const run = promisify(execFile);
const cluster = useOwnCluster();
const images = ["server", "worker", "trainer", "postgres", "s3"].map(
  (name) => `images.${name}=registry/${name}:1`,
);

/** The minimum configuration of the API. */
const complete = {
  PLOSIVE_DATABASE_URL: "postgres://db",
  PLOSIVE_S3_ENDPOINT: "http://s3",
  PLOSIVE_S3_ACCESS_KEY_ID: "id",
  PLOSIVE_S3_SECRET_ACCESS_KEY: "secret",
};

const chart = join(repoDir, "charts/plosive");
const folder = mkdtempSync(join(tmpdir(), "plosive-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `name` is the release and its namespace, or `release@namespace`. */
async function helm(verb: "install" | "upgrade", name: string, ...sets: string[]): Promise<void> {
  await helmOf(chart, verb, name, ...sets);
}

async function helmOf(path: string, verb: "install" | "upgrade", name: string, ...sets: string[]) {
  const [release = "", namespace = release] = name.split("@");
  const args = [...images, "crds.enabled=false", ...sets].flatMap((set) => ["--set", set]);
  await run(tool("helm"), [
    verb,
    release,
    path,
    // Nothing would run a hook's pod.
    "--no-hooks",
    ...(verb === "install" ? ["--create-namespace"] : []),
    "-n",
    namespace,
    "--kubeconfig",
    cluster.plane.kubeconfigPath,
    ...args,
  ]);
}

async function membersOf(namespace: string, name: string): Promise<Record<string, string>> {
  const { data = {} } = await cluster.admin.get(secrets, { namespace, name });
  return Object.fromEntries(
    Object.entries(data).map(([member, value]) => [member, Buffer.from(value, "base64").toString()]),
  );
}

/** A kubeconfig with the rights of a service account of the release. */
async function kubeconfigFor(name: string, component: string): Promise<string> {
  const path = join(folder, `${name}-${component}.kubeconfig`);
  const { server, tls } = cluster.plane;
  const token = await tokenOf(cluster.admin, name, `${name}-${component}`);
  writeFileSync(path, kubeconfigOf(server, tls.caFile, token));
  return path;
}

/** Runs a file of a Job as its pod does. */
async function runFile(file: string, settings: object): Promise<void> {
  await run(process.execPath, [join(repoDir, file), JSON.stringify(settings)]);
}

/** The settings of the secrets job that the chart has created last. */
async function settingsOf(name: string): Promise<SecretsSettings> {
  const { items } = await cluster.admin.list(jobs, name);
  const [job] = items.filter(({ metadata }) => metadata.name.startsWith(`${name}-secrets-`));
  const pod = job?.spec.template.spec as { containers: { args: [string, string] }[] } | undefined;
  const kubeconfig = await kubeconfigFor(name, "secrets");
  return secretsSettings.parse({ ...JSON.parse(pod?.containers[0]?.args[1] ?? ""), kubeconfig });
}

const runSecretsJob = async (name: string) => runFile("src/secrets.ts", await settingsOf(name));

const authoritiesOf = async (name: string) =>
  (await cluster.admin.get(configMaps, { namespace: name, name: `${name}-runs-ca` })).data?.["ca.crt"];

/** The members of the database's Secret that the pods of a component get. */
async function mountedBy(namespace: string, component: string): Promise<string[]> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${namespace}-${component}`;
  const deployment = (await cluster.admin.send({ method: "GET", path })) as {
    spec: { template: { spec: { volumes: { name: string; secret?: { items?: { key: string }[] } }[] } } };
  };
  const volume = deployment.spec.template.spec.volumes.find(({ name }) => name === "database");
  return volume?.secret?.items?.map(({ key }) => key) ?? [];
}

const rollback = (name: string) => ["rollback", name, "1", "--no-hooks", "-n", name];

describe("helm install", () => {
  it("creates network policies that the API server accepts; API and operator cannot reach the cloud's metadata service", async () => {
    const name = "plosive-policies";
    await helm("install", name);
    for (const part of ["api", "operator"]) {
      const path = `/apis/networking.k8s.io/v1/namespaces/${name}/networkpolicies/${name}-${part}`;
      const policy = (await cluster.admin.send({ method: "GET", path })) as {
        spec: {
          policyTypes: string[];
          egress: { to?: { ipBlock?: { cidr: string; except?: string[] } }[] }[];
        };
      };
      expect(policy.spec.policyTypes).toContain("Egress");
      const blocks = policy.spec.egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
      expect(blocks.find(({ cidr }) => cidr === "0.0.0.0/0")?.except).toEqual(["169.254.0.0/16"]);
      // Each block, of IPv4 or IPv6, has an exception.
      expect(blocks.every(({ except = [] }) => except.length > 0)).toBe(true);
    }
  });
});

describe("a second release", () => {
  it("is refused in a namespace that has one, and accepted in another", async () => {
    const name = "plosive-first";
    await helm("install", name);
    const second = helm("install", `plosive-second@${name}`);
    await expect(second).rejects.toThrow(
      /"plosive-one-release-per-namespace" .* must equal "plosive-second": current value is "plosive-first"/,
    );
    await helm("install", "plosive-other");
    await helm("upgrade", name);
  });
});

describe("helm upgrade", () => {
  it("keeps the passwords of the embedded database, and adds the users that an older release did not have", async () => {
    const name = "plosive-embedded";
    await helm("install", name);
    await runSecretsJob(name);
    const first = await membersOf(name, `${name}-database`);
    expect(Object.keys(first).sort()).toEqual(["api-url", "operator-url", "password", "url"]);
    expect(new URL(first.url ?? "")).toMatchObject({ username: "plosive", password: first.password });
    // With another key the API could not decrypt the webhooks' secrets.
    const webhooks = await membersOf(name, `${name}-webhooks`);
    const key = webhooks["secret-key"];
    const settings = apiConfig({ ...complete, PLOSIVE_WEBHOOK_SECRET_KEY: key });
    expect(settings.PLOSIVE_WEBHOOK_SECRET_KEY).toBe(key);
    expect(Buffer.from(key ?? "", "base64")).toHaveLength(32);
    await cluster.admin.patch(
      secrets,
      { namespace: name, name: `${name}-database` },
      { data: { "api-url": null, "operator-url": null } },
    );
    await helm("upgrade", name);
    await runSecretsJob(name);
    const second = await membersOf(name, `${name}-database`);
    expect(second).toMatchObject({ password: first.password, url: first.url });
    for (const login of ["api", "operator"]) {
      expect(second[`${login}-url`]).not.toBe(first[`${login}-url`]);
      expect(new URL(second[`${login}-url`]!).username).toBe(`plosive_${login}_login`);
    }
    await helm("upgrade", name);
    await runSecretsJob(name);
    expect(await membersOf(name, `${name}-database`)).toEqual(second);
    expect(await membersOf(name, `${name}-webhooks`)).toEqual(webhooks);
    expect(await mountedBy(name, "api")).toEqual(["api-url"]);
  });

  it("keeps the certificate of the run endpoint, which the secrets job replaces each month", async () => {
    const name = "plosive-certificate";
    await helm("install", name);
    await runSecretsJob(name);
    const first = await membersOf(name, `${name}-runs-certificate`);
    await helm("upgrade", name);
    await runSecretsJob(name);
    expect(await membersOf(name, `${name}-runs-certificate`)).toEqual(first);
    expect(await authoritiesOf(name)).toBe(first["ca.crt"]);
    const settings = await settingsOf(name);
    const kube = makeKube({ kubeconfig: settings.kubeconfig });
    const now = Date.now() + 31 * 86_400_000;
    await fillSecrets(settings, { kube, log: makeLog("test", "silent"), random: randomBytes, now });
    kube.close();
    const second = await membersOf(name, `${name}-runs-certificate`);
    expect(second["tls.crt"]).toBe(first["next.crt"]);
    expect(await authoritiesOf(name)).toBe(second["ca.crt"]);
  });

  it("makes a Secret once, however many jobs run at once", async () => {
    const name = "plosive-at-once";
    await helm("install", name);
    const runs = await Promise.allSettled(Array.from({ length: 4 }, () => runSecretsJob(name)));
    // The others find a Secret that another one has just made; the kubelet starts them again.
    expect(runs.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    const first = await membersOf(name, `${name}-database`);
    expect(new URL(first.url ?? "").password).toBe(first.password);
    await runSecretsJob(name);
    expect(await membersOf(name, `${name}-database`)).toEqual(first);
  });

  it("takes all Secrets over from chart 0.1, and a rollback finds them as they were", async () => {
    const name = "plosive-first-upgrade";
    const older = join(folder, "chart-0.1");
    cpSync(chart, older, { recursive: true });
    cpSync(join(repoDir, "test/charts/secrets-0.1.yaml"), join(older, "templates/secrets.yaml"));
    rmSync(join(older, "templates/certificate.yaml"));
    await helmOf(older, "install", name);
    const names = ["database", "object-store", "webhooks"].map((part) => `${name}-${part}`);
    const all = () => Promise.all(names.map((one) => membersOf(name, one)));
    const before = await all();
    const certificate = await membersOf(name, `${name}-runs-tls`);

    // The kubelet mounts the Secret of chart 0.1 into the hook's pod, and Helm runs the hook first.
    const mounted = mkdtempSync(join(folder, "runs-tls-"));
    for (const [member, value] of Object.entries(certificate)) writeFileSync(join(mounted, member), value);
    const kubeconfig = await kubeconfigFor(name, "bootstrap");
    const settings = { namespace: name, kubeconfig, secret: `${name}-runs-certificate`, folder: mounted };
    for (const _ of ["first", "again"]) await runFile("src/secrets/take-over.ts", settings);
    await helm("upgrade", name);
    await runSecretsJob(name);

    expect(await all()).toEqual(before);
    const taken = await membersOf(name, `${name}-runs-certificate`);
    expect(taken).toMatchObject({ "tls.crt": certificate["tls.crt"], "tls.key": certificate["tls.key"] });
    // Pods of 0.1 trust only the old authority, which issued the certificate. New pods trust it too.
    expect(taken["ca.crt"]).toContain(certificate["ca.crt"]);
    expect(await authoritiesOf(name)).toBe(taken["ca.crt"]);

    await run(tool("helm"), [...rollback(name), "--kubeconfig", cluster.plane.kubeconfigPath]);
    expect(await all()).toEqual(before);
    expect(await membersOf(name, `${name}-runs-tls`)).toEqual(certificate);
    expect(await authoritiesOf(name)).toBe(certificate["ca.crt"]);
  });

  it("keeps the embedded database's passwords while another one is used, also after a rollback to it", async () => {
    const name = "plosive-there-and-back";
    const all = () => Promise.all(["database", "webhooks"].map((part) => membersOf(name, `${name}-${part}`)));
    await helm("install", name);
    await runSecretsJob(name);
    const before = await all();
    await helm("upgrade", name, "database.existingSecret=db", "api.webhooks.existingSecret=hooks");
    await run(tool("helm"), [...rollback(name), "--kubeconfig", cluster.plane.kubeconfigPath]);
    expect(await all()).toEqual(before);
    await runSecretsJob(name);
    expect(await all()).toEqual(before);
  });

  it("lets API and operator log in as the owner of an external database if the values say so", async () => {
    const name = "plosive-external";
    const owner = ["api", "operator"].map((user) => `database.secretKeys.${user}=url`);
    await helm("install", name, "database.existingSecret=db", ...owner);
    expect([await mountedBy(name, "api"), await mountedBy(name, "operator")]).toEqual([["url"], ["url"]]);
    await helm("upgrade", name, "database.existingSecret=db");
    expect([await mountedBy(name, "api"), await mountedBy(name, "operator")]).toEqual([
      ["api-url"],
      ["operator-url"],
    ]);
  });
});

// Argo CD and Flux render the chart, apply it from the server's side, and compare it with what runs.
describe("the chart, rendered and applied by a tool", () => {
  const valuesFiles = readdirSync(chart).filter((file) => /^values-.*\.yaml$/.test(file));

  it.each(["values.yaml", ...valuesFiles])("shows no difference afterwards: %s", async (file) => {
    const name = `plosive-${file.replace(/\.yaml$/, "")}`;
    // The definitions of Plosive are there; nobody has installed those of Prometheus' operator.
    const absent = ["crds.enabled", "metrics.podMonitors.enabled", "metrics.alerts.enabled"];
    const sets = [...images, ...absent.map((value) => `${value}=false`)].flatMap((set) => ["--set", set]);
    const values = ["--values", join(chart, file), ...sets];
    const render = ["template", name, chart, "-n", name, "--kube-version=1.36.0", ...values];
    const { stdout } = await run(tool("helm"), render);
    const manifest = join(folder, `${name}.yaml`);
    writeFileSync(manifest, stdout);
    const kubectl = (...args: string[]) =>
      run(tool("kubectl"), ["--kubeconfig", cluster.plane.kubeconfigPath, "-n", name, ...args]);
    await kubectl("create", "namespace", name);
    const serverSide = ["--server-side", "--field-manager", "argocd-controller", "-f", manifest];
    await kubectl("apply", ...serverSide);
    // kubectl exits with 1 while there are differences: a controller may write the status of an object meanwhile.
    const settled = () =>
      poll("no difference", async () => (await kubectl("diff", ...serverSide)).stdout === "", 30_000);
    await settled();
    await kubectl("apply", ...serverSide);
    await settled();
  });
});
