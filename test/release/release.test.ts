// A release from end to end: built from a tag, checked by its verifier, built again, pushed, checked with cosign, and installed by
// digest on the local cluster.
import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repoDir, tool } from "../../tools/cache.ts";
import { kubectl as at } from "../../tools/chart.ts";
import { type ClusterPlace, findPlace } from "../../tools/cluster/place.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings } from "../../tools/demo/waiting.ts";
import { layoutDir } from "../../tools/images/build.ts";
import { deliver } from "../../tools/images/deliver.ts";
import { chartImages, pause, referenceOf } from "../../tools/images/images.ts";
import { freePorts } from "../../tools/process.ts";
import { type ReleaseManifest, releaseManifest } from "../../tools/release/release.ts";
import { firstUser } from "../e2e/accounts.ts";
import { bringDown, clusterName, namespace } from "../e2e/cluster.ts";
import { takes, uploadTo } from "../e2e/takes.ts";
import { poll } from "../support/poll.ts";
import { tagClone } from "./clone.ts";
import { layersOf } from "./layers.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "plosive-release-test-"));
chmodSync(folder, 0o755);
const clone = join(folder, "clone");
const out = join(folder, "release");
const password = "a password";
const env = { ...process.env, COSIGN_PASSWORD: password };

let place: ClusterPlace;
let registry: { address: string; stop: () => void };
let manifest: ReleaseManifest;
let version: string;

const release = (...args: string[]) =>
  run(process.execPath, ["tools/release/main.ts", ...args], { cwd: clone, env, maxBuffer: 1 << 26 });
const cosign = (...args: string[]) => run(tool("cosign"), args, { cwd: folder, env, maxBuffer: 1 << 28 });
/** The last line of the verifier, or its complaint. */
const verify = async (key = join(folder, "cosign.pub"), of = out) =>
  run("bash", [join(repoDir, "tools/release/verify.sh"), key, of]).then(
    ({ stdout }) => ({ isValid: true, said: stdout.trim() }),
    (error: { stderr: string }) => ({ isValid: false, said: error.stderr.trim() }),
  );

beforeAll(async () => {
  version = tagClone(clone);
  await run(process.execPath, ["tools/cluster/main.ts", "up", "--name", clusterName], { maxBuffer: 1 << 26 });
  const found = findPlace(clusterName);
  if (found === undefined) throw new Error(`there is no cluster ${clusterName}`);
  place = found;
  registry = await startRegistry(place.addresses.hostAddress);
  await cosign("generate-key-pair");
  await release(
    "build",
    "--registry",
    `${registry.address}/plosive`,
    "--key",
    join(folder, "cosign.key"),
    "--out",
    out,
  );
  manifest = releaseManifest.parse(JSON.parse(readFileSync(join(out, "release.json"), "utf8")));
});
afterAll(async () => {
  registry?.stop();
  await bringDown();
  rmSync(folder, { recursive: true, force: true });
});

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

it("has all files, within the promised sizes", () => {
  const names = ["server", "worker", "trainer", "postgres", "s3"];
  expect(Object.keys(manifest.images).sort()).toEqual([...names].sort());
  for (const { archive, sbom } of Object.values(manifest.images))
    for (const file of [archive, sbom]) expect(statSync(join(out, file)).size).toBeGreaterThan(1_000);
  const mebibytes = (name: string) =>
    manifest.images[name]!.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 2 ** 20;
  for (const name of names) console.info(`release: ${name} has ${mebibytes(name).toFixed(0)} MiB compressed`);
  expect(mebibytes("server")).toBeLessThan(200);
  expect(mebibytes("worker")).toBeLessThan(350);
});

it("names in its bills of materials what the images are made of", () => {
  const packages = (name: string) =>
    (
      JSON.parse(readFileSync(join(out, manifest.images[name]!.sbom), "utf8")) as {
        packages: { name: string }[];
      }
    ).packages.map((one) => one.name);
  expect(packages("server")).toEqual(expect.arrayContaining(["koa", "libc6", "node"]));
  expect(packages("worker")).toEqual(expect.arrayContaining(["onnxruntime", "ffmpeg", "numpy"]));
  expect(packages("trainer")).toEqual(expect.arrayContaining(["torch"]));
  expect(packages("postgres")).toEqual(expect.arrayContaining(["postgresql-15"]));
  expect(packages("s3")).toEqual(expect.arrayContaining(["github.com/versity/versitygw"]));
});

it("names what it was made of", () => {
  const statement = JSON.parse(readFileSync(join(out, "provenance.json"), "utf8"));
  expect(statement.predicateType).toBe("https://slsa.dev/provenance/v1");
  const { resolvedDependencies } = statement.predicate.buildDefinition;
  expect(resolvedDependencies[0].digest.gitCommit).toBe(manifest.commit);
  const subjects = statement.subject.map(
    ({ digest }: { digest: { sha256: string } }) => `sha256:${digest.sha256}`,
  );
  for (const { digest } of Object.values(manifest.images)) expect(subjects).toContain(digest);
});

it("is verified with the public key alone", async () => {
  expect(await verify()).toMatchObject({ isValid: true });
});

it("is refused for one flipped byte in any file, a further file, and another key", async () => {
  // Each file alone with the small ones, so that the verifier need not read all the others again.
  const alone = mkdtempSync(join(folder, "alone-"));
  const small = ["sha256sums.txt", "sha256sums.txt.sig", "release.json"];
  for (const name of small) copyFileSync(join(out, name), join(alone, name));
  for (const name of readdirSync(out)) {
    const file = join(alone, name);
    if (!small.includes(name)) renameSync(join(out, name), file);
    expect(await verify(undefined, alone), name).toMatchObject({ isValid: true });
    const { size } = statSync(file);
    for (const position of [0, Math.floor(size / 2), size - 1]) {
      await flip(file, position);
      expect(await verify(undefined, alone), `byte ${position} of ${name}`).toMatchObject({ isValid: false });
      await flip(file, position);
    }
    if (!small.includes(name)) renameSync(file, join(out, name));
  }
  writeFileSync(join(out, "more.txt"), "more");
  expect((await verify()).said).toContain("more.txt");
  rmSync(join(out, "more.txt"));
  const other = mkdtempSync(join(folder, "other-"));
  await run(tool("cosign"), ["generate-key-pair"], { cwd: other, env });
  expect((await verify(join(other, "cosign.pub"))).said).toContain("not signed with this key");
  truncateSync(join(out, "verify.sh"), 0);
  expect(await verify()).toMatchObject({ isValid: false });
  copyFileSync(join(repoDir, "tools/release/verify.sh"), join(out, "verify.sh"));
  expect(await verify()).toMatchObject({ isValid: true });
});

it("may lack files that were not downloaded, and says so", async () => {
  const archive = join(out, manifest.images.trainer!.archive);
  renameSync(archive, join(folder, "trainer.tar"));
  const { isValid, said } = await verify();
  renameSync(join(folder, "trainer.tar"), archive);
  expect(isValid).toBe(true);
  expect(said).toContain(basename(archive));
});

async function flip(file: string, position: number): Promise<void> {
  const handle = await open(file, "r+");
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, position);
  byte[0]! ^= 1;
  await handle.write(byte, 0, 1, position);
  await handle.close();
}

it("is not made of a commit without its tag, nor of changed files", async () => {
  const args = [
    "build",
    "--registry",
    "registry.example/plosive",
    "--key",
    "none",
    "--out",
    join(folder, "none"),
  ];
  const refusal = () =>
    release(...args).then(
      () => "",
      (error: { stderr: string }) => error.stderr,
    );
  await run("git", ["tag", "--delete", `v${version}`], { cwd: clone });
  expect(await refusal()).toContain(`no tag v${version}`);
  await run("git", ["tag", `v${version}`], { cwd: clone });
  writeFileSync(join(clone, "more.txt"), "more");
  expect(await refusal()).toContain("more.txt");
  rmSync(join(clone, "more.txt"));
  expect(existsSync(join(folder, "none"))).toBe(false);
});

it("has the same layers when it is built again in an empty store, and the same chart and client", async () => {
  const cache = join(folder, "cache");
  mkdirSync(join(cache, "images"), { recursive: true });
  const script = join(import.meta.dirname, "build-again.ts");
  await run("unshare", ["--mount", "--propagation", "private", process.execPath, script], {
    env: { ...process.env, PLOSIVE_CACHE: cache },
    maxBuffer: 1 << 26,
  });
  for (const image of [chartImages.server, chartImages.worker]) {
    const name = basename(referenceOf(image));
    const again = layersOf(join(cache, "images/layout"), name);
    const first = layersOf(layoutDir, name);
    const ours = (layers: typeof first) => layers.filter(({ isOurs }) => isOurs).map(({ digest }) => digest);
    expect(ours(again).length).toBeGreaterThan(1);
    expect(ours(again)).toEqual(ours(first));
    const others = first.filter(({ isOurs, digest }, n) => !isOurs && digest !== again[n]?.digest);
    console.info(
      `release: ${name}: ${ours(first).length} layers of ours are equal, and ${first.length - ours(first).length - others.length} of ${first.length - ours(first).length} others`,
    );
  }
  rmSync(cache, { recursive: true });
  const script2 = `
    const { archiveChart } = await import("./tools/release/chart-archive.ts");
    const { packClient } = await import("./tools/release/client-package.ts");
    await archiveChart(process.argv[2], JSON.parse(process.argv[3]), process.argv[1]);
    await packClient(process.argv[2], process.argv[1]);`;
  const references = Object.entries(manifest.images).map(([name, { reference }]) => [name, reference]);
  const second = mkdtempSync(join(folder, "second-"));
  await run(
    process.execPath,
    ["--input-type=module", "-e", script2, second, version, JSON.stringify(Object.fromEntries(references))],
    { cwd: clone },
  );
  for (const file of [manifest.chart, manifest.client])
    expect(readFileSync(join(second, file)).equals(readFileSync(join(out, file)))).toBe(true);
});

it("is pushed, and every image and the chart are verified with cosign", async () => {
  const key = ["--key", join(folder, "cosign.key"), "--out", out];
  const { stdout } = await release("push", "--plain-http", ...key);
  const pushed = [...stdout.matchAll(/(\S+@sha256:[0-9a-f]{64})/g)].map(([name]) => name);
  expect(pushed).toHaveLength(6);
  const open = ["--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry"];
  for (const name of pushed) await cosign("verify", ...open, name);
  for (const name of pushed.filter((one) => !one.includes("/charts/"))) {
    await cosign("verify-attestation", ...open, "--type", "spdxjson", name);
    await cosign("verify-attestation", ...open, "--type", "slsaprovenance1", name);
  }
  // The registry serves a signature for what was signed, and for nothing else.
  const [server = ""] = pushed;
  const unsigned = `${server.split("@")[0]}:unsigned`;
  await run(tool("crane"), ["mutate", "--insecure", "--annotation", "a=b", "--tag", unsigned, server]);
  await expect(cosign("verify", ...open, unsigned)).rejects.toThrow();
});

it("is installed from the registry by digest, and embeds a recording", async () => {
  await deliver(place, [referenceOf(pause)], () => {});
  const hosts = join(place.dir, "registries", registry.address);
  mkdirSync(hosts, { recursive: true });
  writeFileSync(
    join(hosts, "hosts.toml"),
    `[host."http://${registry.address}"]\ncapabilities = ["pull", "resolve"]\n`,
  );
  const target = { kubeconfig: place.kubeconfig, namespace };
  const { insideAddress } = place.addresses;
  await run(
    tool("helm"),
    [
      ...[
        "install",
        "plosive",
        `oci://${registry.address}/plosive/charts/plosive`,
        "--version",
        version,
        "--plain-http",
      ],
      ...["--kubeconfig", place.kubeconfig, "--namespace", namespace, "--create-namespace"],
      ...["--values", join(repoDir, "charts/plosive/values-local.yaml")],
      ...["--set-string", `objectStore.publicEndpoint=http://${insideAddress}:30900`],
      ...["--wait", "--wait-for-jobs", "--timeout", "10m"],
    ],
    { maxBuffer: 1 << 26 },
  );
  const images = at(target, ["get", "pods", "-o", "jsonpath={.items[*].spec.containers[*].image}"]).split(
    /\s+/,
  );
  expect(images.length).toBeGreaterThan(3);
  for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  const user = await firstUser();
  const voices = await composeVoices(takes);
  const { id } = await user.createDataset("released", []);
  await uploadTo(user, id, voices.test.paths);
  const { completed, failed } = await waitForEmbeddings(user, id, () => {});
  expect(failed).toEqual([]);
  expect(completed.length).toBeGreaterThan(0);
});
