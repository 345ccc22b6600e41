// Brings images from the OCI layout into a local cluster's containerd, which pulls the layers that it lacks. Called by
// main.ts and tools/up.ts. A delivered image stays through `down`; nothing is done for one that is there.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { tool } from "../cache.ts";
import { firstProcess } from "../cluster/namespaces.ts";
import type { ClusterPlace } from "../cluster/place.ts";
import { kubectl } from "../cluster/up.ts";
import { layoutDir } from "./build.ts";
import { chartImages, type Image, pause, referenceOf } from "./images.ts";
import { serveRegistry } from "./registry.ts";

const run = promisify(execFile);
const prefix = "docker.io/local/plosive-";

export async function deliver(
  place: ClusterPlace,
  images: readonly Image[],
  say: (line: string) => void,
): Promise<void> {
  const pid = firstProcess(place);
  if (pid === undefined) throw new Error(`cluster ${place.name} does not run: \`make cluster-up\` starts it`);
  // containerd's socket is in the cluster's own /run, so ctr goes there.
  const ctr = async (...args: string[]) => {
    const inside = ["-t", String(pid), "-m", "-n", tool("ctr"), "--namespace", "k8s.io", ...args];
    return (await run("nsenter", inside, { maxBuffer: 1 << 26 })).stdout;
  };
  const present = new Set((await ctr("images", "ls", "-q")).split("\n"));
  const missing = images.filter((image) => !present.has(referenceOf(image)));
  if (missing.length === 0) return;

  const registry = await serveRegistry(layoutDir, place.addresses.hostAddress);
  const hostsDir = join(place.dir, "registry");
  try {
    mkdirSync(join(hostsDir, "docker.io"), { recursive: true });
    writeFileSync(
      join(hostsDir, "docker.io", "hosts.toml"),
      `server = "http://${registry.address}"\n[host."http://${registry.address}"]\ncapabilities = ["pull", "resolve"]\n`,
    );
    for (const image of missing) {
      const begun = Date.now();
      await ctr("images", "pull", "--hosts-dir", hostsDir, referenceOf(image));
      say(`images: ${image.name} delivered in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    }
    await removeOld(place, ctr);
    // The layers are unpacked; their archives, as large again, are of no further use.
    await ctr("content", "prune", "references");
  } finally {
    await registry.close();
    rmSync(hostsDir, { recursive: true, force: true });
  }
}

/** Images of earlier builds that no pod and no job names: a running job's next pod still finds its own. */
async function removeOld(place: ClusterPlace, ctr: (...args: string[]) => Promise<string>): Promise<void> {
  const used = kubectl(place, [
    "get",
    "pods,jobs,deployments,statefulsets",
    "--all-namespaces",
    "-o",
    "jsonpath={..image}",
  ]);
  const keep = new Set([...used.split(/\s+/), ...[pause, ...Object.values(chartImages)].map(referenceOf)]);
  const old = (await ctr("images", "ls", "-q"))
    .split("\n")
    .filter((name) => name.startsWith(prefix) && !keep.has(name));
  if (old.length > 0) await ctr("images", "rm", ...old);
}
