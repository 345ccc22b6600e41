// Delivers images from the OCI layout to a local cluster's containerd, which pulls only missing layers. Called by
// main.ts and tools/up.ts. Delivered images survive `down`; delivering an image again has no effect.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { tool } from "../cache.ts";
import { firstProcess } from "../cluster/namespaces.ts";
import type { ClusterPlace } from "../cluster/place.ts";
import { kubectl } from "../cluster/up.ts";
import { layoutDir } from "./build.ts";
import { serveRegistry } from "./registry.ts";

const run = promisify(execFile);
const prefix = "docker.io/local/plosive-";

/** Delivers the images; `references` are those of images.ts. */
export async function deliver(
  place: ClusterPlace,
  references: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  const present = new Set((await ctr(place, "images", "ls", "-q")).split("\n"));
  const missing = references.filter((reference) => !present.has(reference));
  if (missing.length === 0) return;
  const registry = await serveRegistry(layoutDir, place.addresses.hostAddress);
  // One folder per delivery, because two deliveries run concurrently.
  const hostsDir = join(place.dir, `registry-${registry.address.replace(/.*:/, "")}`);
  try {
    mkdirSync(join(hostsDir, "docker.io"), { recursive: true });
    writeFileSync(
      join(hostsDir, "docker.io", "hosts.toml"),
      `server = "http://${registry.address}"\n[host."http://${registry.address}"]\ncapabilities = ["pull", "resolve"]\n`,
    );
    for (const reference of missing) {
      const begun = Date.now();
      await ctr(place, "images", "pull", "--hosts-dir", hostsDir, reference);
      say(
        `images: ${reference.slice(prefix.length)} delivered in ${((Date.now() - begun) / 1000).toFixed(1)} s`,
      );
    }
  } finally {
    await registry.close();
    rmSync(hostsDir, { recursive: true, force: true });
  }
}

/**
 * Frees disk space: removes images of earlier builds that no pod or workload references, and archives of unpacked
 * layers.
 */
export async function tidy(place: ClusterPlace, current: readonly string[]): Promise<void> {
  const owners = "pods,jobs,deployments,statefulsets";
  const used = kubectl(place, ["get", owners, "--all-namespaces", "-o", "jsonpath={..image}"]);
  const keep = new Set([...used.split(/\s+/), ...current]);
  const present = (await ctr(place, "images", "ls", "-q")).split("\n");
  const old = present.filter((name) => name.startsWith(prefix) && !keep.has(name));
  if (old.length > 0) await ctr(place, "images", "rm", ...old);
  // The archive of a layer is as large as the layer itself.
  await ctr(place, "content", "prune", "references");
}

/** Runs ctr inside the cluster's namespaces, because containerd's socket is in the cluster's private /run. */
async function ctr(place: ClusterPlace, ...args: string[]): Promise<string> {
  const pid = firstProcess(place);
  if (pid === undefined) throw new Error(`cluster ${place.name} is not running: run \`make cluster-up\``);
  const inside = ["-t", String(pid), "-m", "-n", tool("ctr"), "--namespace", "k8s.io", ...args];
  return (await run("nsenter", inside, { maxBuffer: 1 << 26 })).stdout;
}
