// The shared servers have the versions that the environment requests, so that each suite of `make compat` tests the
// version in its title. Without such variables the test expects the defaults.
import { readFileSync } from "node:fs";
import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { z } from "zod";
import { debianVersion } from "../../../tools/postgres.ts";
import { hasPooler } from "../../../tools/testing/servers.ts";
import { browserName, useBrowser } from "../../support/browser.ts";
import { useCluster } from "../../support/kube.ts";
import { useStorage } from "../../support/s3.ts";

const cluster = useCluster();
const store = useStorage();
const browser = useBrowser();

test("Postgres has the requested major version, and clients connect to it through the requested pooler", async () => {
  const client = new Client({ connectionString: inject("servers").postgresUrl });
  await client.connect();
  try {
    const found = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int / 10000 as version",
    );
    expect(String(found.rows[0]?.version)).toBe(process.env.PLOSIVE_TEST_POSTGRES ?? debianVersion());
    const { rows } = await client.query<{ port: number }>("select inet_server_port() as port");
    const isDirect = String(rows[0]?.port) === new URL(inject("servers").postgresUrl).port;
    expect(isDirect).toBe(!hasPooler());
  } finally {
    await client.end();
  }
});

test("the API server has the requested version", async () => {
  const answer = await cluster.admin.send({ method: "GET", path: "/version" });
  const { gitVersion } = z.object({ gitVersion: z.string() }).parse(answer);
  expect(gitVersion.split(".").slice(0, 2).join(".")).toBe(
    `v${process.env.PLOSIVE_TEST_KUBERNETES ?? pinned()}`,
  );
});

test("the object store is the requested program, and its clients use the requested addressing style", async () => {
  const { url } = await store.storage.presignPut("x", { expiresSeconds: 60 });
  const answer = await fetch(url, { method: "PUT", body: "x" });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("server")?.toLowerCase()).toBe(process.env.PLOSIVE_TEST_S3 ?? "versitygw");
  const isVirtual = process.env.PLOSIVE_TEST_S3_ADDRESSING === "virtual";
  expect(new URL(url).hostname.startsWith(`${store.config.PLOSIVE_S3_BUCKET}.`)).toBe(isVirtual);
});

test("the browser is the requested one", async () => {
  const { page } = await browser.page();
  const agent = String(await page.evaluate("navigator.userAgent"));
  expect(/firefox|chrome/i.exec(agent)?.[0].toLowerCase()).toBe(
    browserName === "firefox" ? "firefox" : "chrome",
  );
});

/** Major and minor version of Kubernetes in tools/go/kubernetes. */
function pinned(): string {
  const module = readFileSync("tools/go/kubernetes/go.mod", "utf8");
  return /k8s\.io\/kubernetes v(\d+\.\d+)/.exec(module)?.[1] ?? "";
}
