// The end-to-end tests' own cluster with the chart installed, independent of other clusters on the machine, and kubectl
// for it. global-setup.ts brings it up once for all tests.
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Kube, makeKube } from "../../src/kube/client.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import { repoDir } from "../../tools/cache.ts";
import { type ClusterPlace, findPlace } from "../../tools/cluster/place.ts";
import { kubectlPath } from "../../tools/demo/connection.ts";

const run = promisify(execFile);

export const clusterName = "e2e";
export const namespace = "plosive";
/** Every process of the cluster inherits this variable, so that the tests find processes that are left. */
export const markName = "PLOSIVE_E2E_RUN";

/** Brings up cluster and chart and passes their output on. Always the embedded cluster, even if CLUSTER is set. */
export async function bringUp(mark: string): Promise<void> {
  await tool({ [markName]: mark }, "tools/up.ts", "--name", clusterName);
}

export async function bringDown(): Promise<void> {
  await tool({}, "tools/cluster/main.ts", "down", "--name", clusterName);
}

function tool(extra: NodeJS.ProcessEnv, script: string, ...args: string[]): Promise<void> {
  const { CLUSTER: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repoDir, script), ...args], {
      cwd: repoDir,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...env, ...extra },
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${script} ${args.join(" ")} ended with code ${code}`)),
    );
  });
}

/** Folders, addresses and names of the cluster; they are known only while it exists. */
export function clusterPlace(): ClusterPlace {
  const place = findPlace(clusterName);
  if (place === undefined) throw new Error(`there is no cluster ${clusterName}`);
  return place;
}

/** stdout of kubectl in the service's namespace; rejects with kubectl's message when it fails. */
export async function kubectl(...args: string[]): Promise<string> {
  const kubeconfig = findPlace(clusterName)?.kubeconfig ?? "";
  const base = ["--kubeconfig", kubeconfig, "-n", namespace, "--request-timeout=30s"];
  const { stdout } = await run(kubectlPath(), [...base, ...args], { maxBuffer: 1 << 26 });
  return stdout;
}

/** What kubectl wrote to stderr when it refused; rejects when it did not refuse. */
export async function kubectlRefusal(input: string, ...args: string[]): Promise<string> {
  const { code, said } = await kubectlWith(input, ...args);
  if (code === 0) throw new Error(`kubectl ${args.join(" ")} was not refused`);
  return said;
}

/** Creates an object, and returns it as the API server stores it. */
export async function create<T>(object: object, ...flags: string[]): Promise<T> {
  const args = ["create", "-f", "-", "-o", "json", ...flags];
  const { code, said, answer } = await kubectlWith(JSON.stringify(object), ...args);
  if (code !== 0) throw new Error(`kubectl create: ${said}`);
  return JSON.parse(answer) as T;
}

/** Evicts a pod as a drain of its node does. */
export async function evict(pod: string): Promise<void> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace } };
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;
  const { code, said } = await kubectlWith(JSON.stringify(eviction), "create", "--raw", path, "-f", "-");
  if (code !== 0) throw new Error(`evicting ${pod}: ${said}`);
}

async function kubectlWith(input: string, ...args: string[]) {
  const kubeconfig = findPlace(clusterName)?.kubeconfig ?? "";
  const child = spawn(kubectlPath(), ["--kubeconfig", kubeconfig, "-n", namespace, ...args]);
  let [answer, said] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    answer += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, said, answer };
}

export async function kubectlJson<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, "-o", "json")) as T;
}

let client: Kube | undefined;

/** All objects of a type in the service's namespace. For polls: each start of kubectl takes a tenth of a second of CPU. */
export async function listOf<T>(type: ResourceType): Promise<readonly T[]> {
  client ??= makeKube({ kubeconfig: clusterPlace().kubeconfig });
  return (await client.list(type, namespace)).items as readonly unknown[] as readonly T[];
}

/** Polls until `probe` gives a value; the error names what was waited for. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  probe: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`timed out after ${timeoutMs / 1000} s waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
