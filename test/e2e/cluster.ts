// The end-to-end test's own cluster with the chart installed, beside whatever else runs on the machine, and kubectl
// for it. Called by main-job.test.ts.
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { repoDir } from "../../tools/cache.ts";
import { type ClusterPlace, findPlace } from "../../tools/cluster/place.ts";
import { kubectlPath } from "../../tools/demo/connection.ts";

const run = promisify(execFile);

export const clusterName = "e2e";
export const namespace = "plosive";
/** Every process of the cluster inherits it, which is how leftovers are found. */
export const mark = { name: "PLOSIVE_E2E_RUN", value: `${process.pid}-${Date.now()}` } as const;

/** Brings cluster and chart up, output as it comes. Always the embedded cluster, whatever CLUSTER says. */
export async function bringUp(): Promise<void> {
  await tool("tools/up.ts", "--name", clusterName);
}

export async function bringDown(): Promise<void> {
  await tool("tools/cluster/main.ts", "down", "--name", clusterName);
}

function tool(script: string, ...args: string[]): Promise<void> {
  const { CLUSTER: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repoDir, script), ...args], {
      cwd: repoDir,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...env, [mark.name]: mark.value },
    });
    child.once("error", reject);
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${script} ${args.join(" ")} ended with code ${code}`)),
    );
  });
}

/** Folders, addresses and names of the cluster; they are claimed only while it exists. */
export function clusterPlace(): ClusterPlace {
  const place = findPlace(clusterName);
  if (place === undefined) throw new Error(`there is no cluster ${clusterName}`);
  return place;
}

/** stdout of kubectl in the service's namespace; rejects with its words when it fails. */
export async function kubectl(...args: string[]): Promise<string> {
  const kubeconfig = findPlace(clusterName)?.kubeconfig ?? "";
  const base = ["--kubeconfig", kubeconfig, "-n", namespace, "--request-timeout=30s"];
  const { stdout } = await run(kubectlPath(), [...base, ...args], { maxBuffer: 1 << 26 });
  return stdout;
}

/** What kubectl wrote to stderr when it refused; rejects when it did not refuse. */
export async function kubectlRefusal(input: string, ...args: string[]): Promise<string> {
  const kubeconfig = findPlace(clusterName)?.kubeconfig ?? "";
  const child = spawn(kubectlPath(), ["--kubeconfig", kubeconfig, "-n", namespace, ...args], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) throw new Error(`kubectl ${args.join(" ")} was not refused`);
  return said;
}

export async function kubectlJson<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, "-o", "json")) as T;
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
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
