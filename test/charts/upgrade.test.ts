// Installations and upgrades with this chart on a real API server: an upgrade keeps existing Secrets and adds new
// members.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { apiConfig } from "../../src/config.ts";
import { secrets } from "../../src/kube/kinds.ts";
import { repoDir, tool } from "../../tools/cache.ts";
import { useOwnCluster } from "../support/kube.ts";

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

/** `name` is the release and its namespace, or `release@namespace`. */
async function helm(verb: "install" | "upgrade", name: string, ...sets: string[]): Promise<void> {
  const [release = "", namespace = release] = name.split("@");
  const args = [...images, "crds.enabled=false", ...sets].flatMap((set) => ["--set", set]);
  await run(tool("helm"), [
    verb,
    release,
    join(repoDir, "charts/plosive"),
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

/** The members of the database's Secret that the pods of a component get. */
async function mountedBy(namespace: string, component: string): Promise<string[]> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${namespace}-${component}`;
  const deployment = (await cluster.admin.send({ method: "GET", path })) as {
    spec: { template: { spec: { volumes: { name: string; secret?: { items?: { key: string }[] } }[] } } };
  };
  const volume = deployment.spec.template.spec.volumes.find(({ name }) => name === "database");
  return volume?.secret?.items?.map(({ key }) => key) ?? [];
}

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
  }, 60_000);
});

describe("a second release", () => {
  it("is refused in a namespace that has one, and accepted in another", async () => {
    const name = "plosive-first";
    await helm("install", name);
    const second = helm("install", `plosive-second@${name}`);
    await expect(second).rejects.toThrow(
      `namespace ${name} already contains the Plosive release ${name}: install each release into its own namespace`,
    );
    await helm("install", "plosive-other");
    await helm("upgrade", name);
  }, 90_000);
});

describe("helm upgrade", () => {
  it("keeps the passwords of the embedded database, and adds the users that an older release did not have", async () => {
    const name = "plosive-embedded";
    await helm("install", name);
    const first = await membersOf(name, `${name}-database`);
    expect(Object.keys(first).sort()).toEqual(["api-url", "operator-url", "password", "url"]);
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
    const second = await membersOf(name, `${name}-database`);
    expect(second).toMatchObject({ password: first.password, url: first.url });
    for (const login of ["api", "operator"]) {
      expect(second[`${login}-url`]).not.toBe(first[`${login}-url`]);
      expect(new URL(second[`${login}-url`]!).username).toBe(`plosive_${login}_login`);
    }
    await helm("upgrade", name);
    expect(await membersOf(name, `${name}-database`)).toEqual(second);
    expect(await membersOf(name, `${name}-webhooks`)).toEqual(webhooks);
    expect(await mountedBy(name, "api")).toEqual(["api-url"]);
  }, 60_000);

  it("lets API and operator log in as the owner of an external database until its Secret names other users", async () => {
    const name = "plosive-external";
    const url = Buffer.from("postgres://me:secret@db.internal:5432/plosive").toString("base64");
    await cluster.admin.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
    await cluster.admin.create(secrets, {
      metadata: { namespace: name, name: "db" },
      type: "Opaque",
      data: { url },
    });
    await helm("install", name, "database.existingSecret=db");
    expect([await mountedBy(name, "api"), await mountedBy(name, "operator")]).toEqual([["url"], ["url"]]);
    await cluster.admin.patch(
      secrets,
      { namespace: name, name: "db" },
      { data: { "api-url": url, "operator-url": url } },
    );
    await helm("upgrade", name, "database.existingSecret=db");
    expect([await mountedBy(name, "api"), await mountedBy(name, "operator")]).toEqual([
      ["api-url"],
      ["operator-url"],
    ]);
  }, 60_000);
});
