// Starts a local cluster: writes its files, starts the namespaces, connects the network and waits until the node is
// ready. Called by main.ts. Every step is idempotent, so that a second run completes a killed one.
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cniDir, tool } from "../cache.ts";
import { waitUntil } from "../process.ts";
import { answers, get, isNodeReady } from "./api-call.ts";
import { down } from "./down.ts";
import { kubeconfigOf } from "./flags.ts";
import { manifests, volumeCount, volumeDir } from "./manifests.ts";
import { connectNetwork, firstProcess, makeCgroup, startNamespaces } from "./namespaces.ts";
import { cniConfig, containerdConfig, corefile, kubeletConfig, nodeFilesOf } from "./node-config.ts";
import { makePki, type Pki, pkiAt, writeKubeconfig } from "./pki.ts";
import { type ClusterPlace, claimPlace, controlPlaneOf, findPlace } from "./place.ts";

const components = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "runc",
  "coredns",
  "kube-router",
];

/** Starts the cluster of that name, or reports that it is running. The caller holds the lock (main.ts). */
export async function up(name: string, say: (line: string) => void): Promise<ClusterPlace> {
  checkMachine();
  const present = findPlace(name);
  if (present && firstProcess(present) !== undefined && (await isReady(present))) {
    await reclaimVolumes(present);
    say(`cluster ${name} is already running: ${present.server}`);
    if (!existsSync(kubeconfigOf(present, "network-policy")))
      say(
        `cluster ${name} is of an earlier release, and enforces no network policies until it is removed and started anew`,
      );
    return present;
  }
  // The state folder exists but the cluster is not ready: a run was killed, or the machine was restarted.
  if (present) await down(name, () => {});

  const started = Date.now();
  const place = claimPlace(name);
  const pki = await writeFiles(place);
  makeCgroup(place);
  const pid = await startNamespaces(place);
  connectNetwork(place, pid);
  say(`cluster ${name}: starting at ${place.addresses.insideAddress}`);
  await waitForNode(place, pki);
  say(
    `cluster ${name} is ready after ${((Date.now() - started) / 1000).toFixed(1)} s: export KUBECONFIG=${place.kubeconfig}`,
  );
  return place;
}

function checkMachine(): void {
  if (process.getuid?.() !== 0)
    throw new Error("a local cluster needs root (namespaces, mounts, cgroups): use sudo, or CLUSTER=kind");
  for (const component of components) tool(component);
  for (const program of ["unshare", "nsenter", "setpriv", "ip", "iptables", "ipset", "openssl", "mount"]) {
    const found = (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, program)));
    if (!found) throw new Error(`the program ${program} is missing: run \`make deps\``);
  }
  requireBridgeFilter();
}

/** Pods share one bridge; without this module of the kernel, neither Services nor policies hold between them. */
function requireBridgeFilter(): void {
  const setting = "/proc/sys/net/bridge/bridge-nf-call-iptables";
  if (!existsSync(setting)) spawnSync("modprobe", ["br_netfilter"], { stdio: "ignore" });
  if (!existsSync(setting))
    throw new Error(
      "the kernel has no br_netfilter, which a local cluster needs: try `modprobe br_netfilter`, or CLUSTER=kind",
    );
}

async function writeFiles(place: ClusterPlace): Promise<Pki> {
  const files = nodeFilesOf(place);
  for (const folder of ["logs", "cni", "volume-plugins"])
    mkdirSync(join(place.dir, folder), { recursive: true });
  for (let index = 0; index < volumeCount; index++)
    mkdirSync(volumeDir(place, index), { recursive: true, mode: 0o755 });
  const { insideAddress, kubernetesServiceAddress } = place.addresses;
  const pki = await makePki(
    join(place.dir, "pki"),
    ["127.0.0.1", insideAddress, kubernetesServiceAddress],
    place.name,
  );
  for (const identity of [
    "admin",
    "controller-manager",
    "scheduler",
    "kubelet",
    "proxy",
    "dns",
    "network-policy",
  ]) {
    writeKubeconfig(kubeconfigOf(controlPlaneOf(place, pki), identity), pki, place.server, identity);
  }
  writeKubeconfig(place.kubeconfig, pki, place.server, "admin", `plosive-${place.name}`);
  // Under sudo, gives the file to the user who called it.
  const { SUDO_UID, SUDO_GID } = process.env;
  if (SUDO_UID && SUDO_GID) chownSync(place.kubeconfig, Number(SUDO_UID), Number(SUDO_GID));
  writeFileSync(files.containerd, containerdConfig(place, { cniBin: cniDir, runc: tool("runc") }));
  writeFileSync(files.cni, cniConfig(place));
  writeFileSync(files.kubelet, kubeletConfig(place));
  writeFileSync(files.corefile, corefile(place));
  // An empty file: pods with the node's DNS policy get no resolver.
  writeFileSync(files.resolvConf, "");
  return pki;
}

async function waitForNode(place: ClusterPlace, pki: Pki): Promise<void> {
  const checkAlive = () => {
    if (firstProcess(place) === undefined)
      throw new Error(`the cluster's first process exited; last lines of its logs:\n${logTails(place)}`);
  };
  const wait = (what: string, probe: () => Promise<boolean>) =>
    waitUntil(what, probe, { timeoutMs: 120_000, check: checkAlive }).catch((error: Error) => {
      throw new Error(`${error.message}\n${logTails(place)}`);
    });
  await wait("the API server", () => answers(pki, `${place.server}/readyz`));
  const applied = { apiVersion: "v1", kind: "List", items: manifests(place) };
  kubectl(place, ["apply", "--server-side", "--force-conflicts", "-f", "-"], JSON.stringify(applied));
  await wait("the node", () => isNodeReady(pki, place.server, place.name));
  await wait("the default service account", () =>
    answers(pki, `${place.server}/api/v1/namespaces/default/serviceaccounts/default`),
  );
}

async function isReady(place: ClusterPlace): Promise<boolean> {
  const pki = pkiAt(join(place.dir, "pki"));
  return isNodeReady(pki, place.server, place.name).catch(() => false);
}

interface Volume {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly local?: { readonly path: string } };
  readonly status?: { readonly phase?: string };
}

/**
 * Empties volumes whose claim was deleted and makes them available again, as a provisioner would. Frees the disk space
 * of a removed release.
 */
async function reclaimVolumes(place: ClusterPlace): Promise<void> {
  const { body } = await get(pkiAt(join(place.dir, "pki")), `${place.server}/api/v1/persistentvolumes`);
  for (const volume of (body as { items: Volume[] }).items) {
    const path = volume.spec.local?.path;
    if (
      volume.status?.phase !== "Released" ||
      path === undefined ||
      dirname(path) !== join(place.dir, "volumes")
    )
      continue;
    for (const entry of readdirSync(path)) rmSync(join(path, entry), { recursive: true, force: true });
    const patch = JSON.stringify([{ op: "remove", path: "/spec/claimRef" }]);
    kubectl(place, ["patch", "persistentvolume", volume.metadata.name, "--type=json", `--patch=${patch}`]);
  }
}

export function kubectl(
  place: Pick<ClusterPlace, "kubeconfig">,
  args: readonly string[],
  input?: string,
): string {
  return execFileSync(tool("kubectl"), [`--kubeconfig=${place.kubeconfig}`, ...args], {
    input,
    encoding: "utf8",
  });
}

/** The last lines of all logs, for the error message of a failed start. */
function logTails(place: ClusterPlace): string {
  const logs = join(place.dir, "logs");
  return readdirSync(logs)
    .map(
      (file) =>
        `--- ${join(logs, file)}\n${readFileSync(join(logs, file), "utf8").split("\n").slice(-6).join("\n")}`,
    )
    .join("\n");
}
