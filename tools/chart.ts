// Installs or upgrades charts/plosive and waits until it is ready; removes it. Called by tools/up.ts for every kind of
// cluster.
import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { type Dirent, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, repoDir } from "./cache.ts";

const run = promisify(execFile);
const release = "plosive";
/** Annotation of the namespace: fingerprint and Helm's revision of the last completed installation. After a rollback the revision differs. */
const annotation = "plosive.dev/installed";

export interface Target {
  /** Without it, kubectl and helm use the kubeconfig of the environment. */
  readonly kubeconfig?: string;
  readonly namespace: string;
}

export interface Installation extends Target {
  /** Folder of the chart; without it, the repository's. */
  readonly chart?: string;
  /** Full references by the chart's names: server, worker, trainer, postgres, s3. */
  readonly images: Readonly<Record<string, string>>;
  readonly valueFiles: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

/** The project's pinned binary if it is built, otherwise the machine's. */
const program = (name: string): string => {
  const own = join(cacheDir, "bin", name);
  return existsSync(own) ? own : name;
};

const at = ({ kubeconfig }: Target): string[] =>
  kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];

export function kubectl(target: Target, args: readonly string[], input?: string): string {
  const all = [...at(target), "--namespace", target.namespace, ...args];
  return execFileSync(program("kubectl"), all, { input, encoding: "utf8", maxBuffer: 1 << 26 });
}

/** Installs or upgrades the chart; resolves when every pod is ready and the set-up job has completed. */
export async function install(installation: Installation): Promise<void> {
  const { namespace, images, valueFiles, values, chart = join(repoDir, "charts/plosive") } = installation;
  // All pods of Plosive satisfy the Pod Security level "restricted"; the label makes the cluster enforce it.
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
  kubectl(installation, ["apply", "--server-side", "--force-conflicts", "-f", "-"], JSON.stringify(object));
  await clearInterrupted(installation);
  const settings = [
    ...Object.entries(images).map(([name, reference]) => `images.${name}=${reference}`),
    ...Object.entries(values).map(([path, value]) => `${path}=${value}`),
  ];
  const args = [
    ...["upgrade", "--install", release, chart, ...at(installation), "--namespace", namespace],
    ...valueFiles.flatMap((file) => ["--values", file]),
    ...settings.flatMap((setting) => ["--set-string", setting]),
    ...["--wait", "--wait-for-jobs", "--timeout", "10m"],
  ];
  const fingerprint = fingerprintOf(chart, args);
  if ((await isInstalled(installation, fingerprint)) && areAvailable(installation)) return;
  const child = spawn(program("helm"), args, { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("exit", resolve),
  );
  if (code !== 0)
    throw new Error(`helm failed to install the chart. State of its pods:\n${describePods(installation)}`);
  const { revision = 0 } = (await releaseState(installation)) ?? {};
  const mark = `${annotation}=${fingerprint}.${revision}`;
  kubectl(installation, ["annotate", "--overwrite", "namespace", namespace, mark]);
}

/**
 * A hash of the chart's files and the command, so that a second `make up` changes nothing and creates no new revision.
 */
function fingerprintOf(chart: string, args: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(args));
  for (const entry of readdirSync(chart, { recursive: true, withFileTypes: true }).sort(byPath)) {
    if (entry.isFile()) hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.digest("hex").slice(0, 16);
}

const byPath = (a: Dirent, b: Dirent) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1);

async function isInstalled(target: Target, fingerprint: string): Promise<boolean> {
  const path = `jsonpath={.metadata.annotations.${annotation.replaceAll(".", "\\.")}}`;
  const mark = kubectl(target, ["get", "namespace", target.namespace, "-o", path]);
  const state = await releaseState(target);
  return state?.status === "deployed" && mark === `${fingerprint}.${state.revision}`;
}

function areAvailable(target: Target): boolean {
  try {
    kubectl(target, ["wait", "--for=condition=Available", "deployments", "--all", "--timeout=120s"]);
    return true;
  } catch {
    return false;
  }
}

/** Removes the release. A missing release is not an error. */
export async function uninstall(target: Target): Promise<void> {
  await run(program("helm"), [
    "uninstall",
    release,
    ...at(target),
    "--namespace",
    target.namespace,
    "--ignore-not-found",
    "--wait",
  ]);
}

/** Repairs the release after a killed helm: it stays "pending", and helm refuses to change a pending release. */
async function clearInterrupted(target: Target): Promise<void> {
  const { status } = (await releaseState(target)) ?? {};
  if (status === undefined) return;
  if (status === "pending-install") await uninstall(target);
  else if (status.startsWith("pending-")) {
    await run(program("helm"), ["rollback", release, ...at(target), "--namespace", target.namespace]);
  }
}

async function releaseState(target: Target): Promise<{ status: string; revision: number } | undefined> {
  const query = ["status", release, ...at(target), "--namespace", target.namespace, "--output", "json"];
  const found = await run(program("helm"), query, { maxBuffer: 1 << 26 }).catch(() => undefined);
  if (found === undefined) return undefined;
  const { info, version } = JSON.parse(found.stdout) as { info: { status: string }; version: number };
  return { status: info.status, revision: version };
}

function describePods(target: Target): string {
  try {
    const events = kubectl(target, ["get", "events", "--sort-by=.lastTimestamp"])
      .split("\n")
      .slice(-15)
      .join("\n");
    const pods = JSON.parse(kubectl(target, ["get", "pods", "-o", "json"])) as Pods;
    const logs = endedContainers(pods).map(({ pod, container }) => {
      // --previous: the container that runs now may not have logged anything yet.
      const log = kubectl(target, ["logs", pod, "-c", container, "--previous", "--tail=20"]);
      return `\n--- last log lines of pod ${pod}, container ${container}\n${log}`;
    });
    return `${kubectl(target, ["get", "pods", "-o", "wide"])}${events}${logs.join("")}`;
  } catch (error) {
    return String(error);
  }
}

export interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly containerStatuses?: readonly {
        readonly name: string;
        readonly ready: boolean;
        readonly lastState: { readonly terminated?: unknown };
      }[];
    };
  }[];
}

/** Containers that ended and are not ready. Events report restarts, but only the log contains the reason. */
export const endedContainers = ({ items }: Pods): { pod: string; container: string }[] =>
  items.flatMap(({ metadata, status }) =>
    (status.containerStatuses ?? [])
      .filter(({ ready, lastState }) => !ready && lastState.terminated !== undefined)
      .map(({ name }) => ({ pod: metadata.name, container: name })),
  );
