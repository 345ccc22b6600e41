// The commands of docs/install.md that begin without Plosive, as they stand there, on a real API server. Nothing runs pods
// here, so `helm install` does not wait for them, and the API server has the custom resource definitions already.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { secrets } from "../../src/kube/kinds.ts";
import { repoDir, tool } from "../../tools/cache.ts";
import { blockOf, blocksOf } from "../support/documents.ts";
import { useOwnCluster } from "../support/kube.ts";

const cluster = useOwnCluster();
const guide = "docs/install.md";
const folder = mkdtempSync(join(tmpdir(), "plosive-install-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bash(...lines: string[]): Promise<string> {
  const env = {
    ...process.env,
    KUBECONFIG: cluster.plane.kubeconfigPath,
    PATH: `${dirname(tool("helm"))}:${process.env.PATH}`,
  };
  const script = ["set -e -o pipefail", ...lines].join("\n");
  return (await promisify(execFile)("bash", ["-c", script], { cwd: folder, env })).stdout;
}

it("namespace, secrets and values make an installation, and a second one in another namespace", async () => {
  symlinkSync(join(repoDir, "charts"), join(folder, "charts"));
  const [values = ""] = blocksOf(guide, "## 3. Database and object store", "yaml");
  writeFileSync(join(folder, "values.yaml"), values);
  const [install = ""] = blockOf(guide, "helm install plosive charts/plosive -n plosive -f").split("\n");
  const unwaiting = install.replace(" --wait --wait-for-jobs --timeout 10m", " --set crds.enabled=false");
  expect(unwaiting).not.toBe(install);

  await bash(
    blockOf(guide, "kubectl create namespace plosive"),
    blockOf(guide, "kubectl -n plosive create secret"),
    unwaiting,
  );
  const { data = {} } = await cluster.admin.get(secrets, { namespace: "plosive", name: "plosive-db" });
  expect(Object.keys(data).sort()).toEqual(["api-url", "operator-url", "url"]);
  const list =
    "kubectl get deployments -A -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {end}'";
  expect(await bash(list)).toBe("plosive/plosive-api plosive/plosive-operator plosive/plosive-runs ");

  const second = blockOf(guide, "helm install plosive charts/plosive -n plosive-staging");
  const place = "kubectl create namespace plosive-staging";
  const copy = (name: string) =>
    `kubectl -n plosive get secret ${name} -o json | jq 'del(.metadata) * {metadata: {name: "${name}"}}' | kubectl -n plosive-staging create -f -`;
  await bash(place, copy("plosive-db"), copy("plosive-s3"), second);
  expect((await bash(list)).trim().split(" ")).toHaveLength(6);
}, 120_000);
