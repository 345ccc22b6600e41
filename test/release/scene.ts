// A release, and the commands that work with it: built from a clone for both architectures, beside a cluster and a registry on this
// machine. Called by release.test.ts.
import { execFile, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, repoDir, tool } from "../../tools/cache.ts";
import { type ClusterPlace, findPlace } from "../../tools/cluster/place.ts";
import { type Architecture, ownArchitecture } from "../../tools/images/architecture.ts";
import { freePorts } from "../../tools/process.ts";
import { type ReleaseManifest, releaseManifest } from "../../tools/release/release.ts";
import { bringDown, clusterName } from "../e2e/cluster.ts";
import { blockOf } from "../support/documents.ts";
import { poll } from "../support/poll.ts";
import { tagClone } from "./clone.ts";

export const run = promisify(execFile);
export const folder = mkdtempSync(join(tmpdir(), "plosive-release-test-"));
chmodSync(folder, 0o755);
export const clone = join(folder, "clone");
export const out = join(folder, "release");
const password = "a password";
export const env = { ...process.env, COSIGN_PASSWORD: password };

/** This machine's first. */
export const architectures: readonly Architecture[] =
  ownArchitecture() === "amd64" ? ["amd64", "arm64"] : ["arm64", "amd64"];
/** What the release says of the image for one of them. */
export const imageOf = (name: string, architecture: Architecture) => {
  const found = manifest.images[name]!.platforms.find(({ platform }) => platform === `linux/${architecture}`);
  if (found === undefined) throw new Error(`${name} has no image for ${architecture}`);
  return found;
};

export let place: ClusterPlace;
export let registry: { address: string; stop: () => void };
export let manifest: ReleaseManifest;
export let version: string;

export const release = (...args: string[]) =>
  run(process.execPath, ["tools/release/main.ts", ...args], { cwd: clone, env, maxBuffer: 1 << 26 });
export const cosign = (...args: string[]) =>
  run(tool("cosign"), args, { cwd: folder, env, maxBuffer: 1 << 28 });
/** Runs a block of docs/releases.md in a folder, with the address of the registry and the like in place of the words. */
export const guide = (start: string, cwd: string, replace: Readonly<Record<string, string>> = {}) => {
  let script = blockOf("docs/releases.md", start);
  for (const [word, by] of Object.entries(replace)) script = script.replaceAll(word, by);
  const PATH = `${join(cacheDir, "bin")}:${process.env.PATH}`;
  return run("bash", ["-euc", script], { cwd, env: { ...env, PATH }, maxBuffer: 1 << 28 });
};
export const inRegistry = () => ({
  REGISTRY: `${registry.address}/plosive`,
  VERSION: version,
  "--insecure-ignore-tlog": "--insecure-ignore-tlog --allow-http-registry",
});
/** The last line of the verifier, or its complaint. */
export const verify = async (key = join(folder, "cosign.pub"), of = out) =>
  run("bash", [join(repoDir, "tools/release/verify.sh"), key, of]).then(
    ({ stdout }) => ({ isValid: true, said: stdout.trim() }),
    (error: { stderr: string }) => ({ isValid: false, said: error.stderr.trim() }),
  );

/** Makes the release from a clone, and starts the cluster and the registry. */
export async function makeRelease(): Promise<void> {
  version = tagClone(clone);
  await run(process.execPath, ["tools/cluster/main.ts", "up", "--name", clusterName], { maxBuffer: 1 << 26 });
  const found = findPlace(clusterName);
  if (found === undefined) throw new Error(`there is no cluster ${clusterName}`);
  place = found;
  registry = await startRegistry(place.addresses.hostAddress);
  await cosign("generate-key-pair");
  copyFileSync(join(folder, "cosign.pub"), join(folder, "plosive.pub"));
  await release(
    "build",
    "--registry",
    `${registry.address}/plosive`,
    "--key",
    join(folder, "cosign.key"),
    "--out",
    out,
    "--architectures",
    architectures.join(),
  );
  manifest = releaseManifest.parse(JSON.parse(readFileSync(join(out, "release.json"), "utf8")));
}
export async function removeRelease(): Promise<void> {
  registry?.stop();
  await bringDown();
  rmSync(folder, { recursive: true, force: true });
}

async function startRegistry(host: string) {
  const [port = 0] = await freePorts(1);
  const disk = join(folder, "registry");
  mkdirSync(disk);
  const child = spawn(tool("crane"), ["registry", "serve", `--address=${host}:${port}`, `--disk=${disk}`], {
    stdio: "ignore",
  });
  const address = `${host}:${port}`;
  await poll("the registry", async () => (await fetch(`http://${address}/v2/`)).ok);
  return { address, stop: () => child.kill() };
}

/** Changes one bit of a byte. */
export async function flip(file: string, position: number): Promise<void> {
  const handle = await open(file, "r+");
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, position);
  byte[0]! ^= 1;
  await handle.write(byte, 0, 1, position);
  await handle.close();
}
