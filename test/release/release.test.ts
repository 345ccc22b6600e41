// A release from end to end: built from a tag, checked by its verifier, built again, pushed, checked with cosign, and installed by
// digest on the local cluster.
import {
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
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { repoDir, tool } from "../../tools/cache.ts";
import { kubectl as at } from "../../tools/chart.ts";
import { composeVoices } from "../../tools/demo/voices.ts";
import { waitForEmbeddings } from "../../tools/demo/waiting.ts";
import { nodeNames, ownArchitecture } from "../../tools/images/architecture.ts";
import { deliver } from "../../tools/images/deliver.ts";
import { pause, referenceOf } from "../../tools/images/images.ts";
import { firstUser } from "../e2e/accounts.ts";
import { namespace } from "../e2e/cluster.ts";
import { takes, uploadTo } from "../e2e/takes.ts";
import { layersOf } from "./layers.ts";
import {
  architectures,
  clone,
  cosign,
  env,
  flip,
  folder,
  guide,
  imageOf,
  inRegistry,
  makeRelease,
  manifest,
  out,
  place,
  registry,
  release,
  removeRelease,
  run,
  verify,
  version,
} from "./scene.ts";

beforeAll(makeRelease);
afterAll(removeRelease);

/** Compressed, in MiB. */
const limits: Readonly<Record<string, number>> = { server: 200, worker: 350 };

it("has all files, within the promised sizes", () => {
  const names = ["server", "worker", "trainer", "postgres", "s3"];
  expect(Object.keys(manifest.images).sort()).toEqual([...names].sort());
  for (const { archive, platforms } of Object.values(manifest.images))
    for (const file of [archive, ...platforms.map(({ sbom }) => sbom)])
      expect(statSync(join(out, file)).size).toBeGreaterThan(1_000);
  for (const name of names) {
    const { platforms } = manifest.images[name]!;
    const wanted = name === "trainer" ? [ownArchitecture()] : architectures;
    expect(platforms.map(({ platform }) => platform)).toEqual(wanted.map((one) => `linux/${one}`));
    for (const { platform, layers } of platforms) {
      const mebibytes = layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 2 ** 20;
      console.info(`release: ${name} for ${platform} has ${mebibytes.toFixed(0)} MiB compressed`);
      expect(mebibytes).toBeLessThan(limits[name] ?? Infinity);
    }
  }
});

it.each(architectures)(
  "names in its bills of materials what the images for %s are made of",
  (architecture) => {
    const packages = (name: string) =>
      (
        JSON.parse(readFileSync(join(out, imageOf(name, architecture).sbom), "utf8")) as {
          packages: { name: string }[];
        }
      ).packages.map((one) => one.name);
    expect(packages("server")).toEqual(expect.arrayContaining(["koa", "libc6", "node"]));
    expect(packages("worker")).toEqual(expect.arrayContaining(["onnxruntime", "ffmpeg", "numpy"]));
    if (architecture === ownArchitecture())
      expect(packages("trainer")).toEqual(expect.arrayContaining(["torch"]));
    expect(packages("postgres")).toEqual(expect.arrayContaining(["postgresql-15"]));
    expect(packages("s3")).toEqual(expect.arrayContaining(["github.com/versity/versitygw"]));
  },
);

it("has images for the other architecture whose programs run there", async () => {
  const [, other = "amd64"] = architectures;
  // Not onnxruntime: Debian's QEMU 7.2 crashes in it.
  const python = "import numpy, scipy.signal, soundfile, plosive_worker; print('imported')";
  const programs: Readonly<Record<string, readonly string[]>> = {
    server: ["node", "-p", "process.arch"],
    worker: ["python3", "-c", python],
    postgres: ["postgres", "--version"],
    s3: ["versitygw", "--version"],
  };
  // Prints what the program says, and the machine in its ELF header.
  const inside = 'program=$(command -v "$1"); "$@"; od -An -tx2 -j18 -N2 "$(readlink -f "$program")"';
  for (const [name, [program = "", ...args]] of Object.entries(programs)) {
    const store = mkdtempSync(join(folder, "store-"));
    const script = `
      buildah() { command buildah --root "$0/root" --runroot "$0/run" --storage-driver overlay "$@"; }
      buildah from --quiet --name it --arch "$1" "oci-archive:$2" >/dev/null && shift 2
      buildah run --isolation chroot it -- sh -ec "$@"`;
    const archive = `${join(out, manifest.images[name]!.archive)}:${version}`;
    const { stdout } = await run("unshare", [
      ...["--mount", "--propagation", "private", "bash", "-ec", script, store, other, archive],
      ...[inside, "sh", program, ...args],
    ]);
    // Some programs say more than one line.
    const lines = stdout.trim().split(/\s*\n\s*/);
    const [said = "", machine] = [lines.slice(0, -1).join(" "), lines.at(-1)];
    console.info(`release: ${name} for ${other} says ${said}`);
    expect(said).toMatch(name === "server" ? nodeNames[other] : /imported|\d+\.\d+/);
    expect(machine).toBe({ amd64: "003e", arm64: "00b7" }[other]);
    rmSync(store, { recursive: true });
  }
});

it("names what it was made of", () => {
  const statement = JSON.parse(readFileSync(join(out, "provenance.json"), "utf8"));
  expect(statement.predicateType).toBe("https://slsa.dev/provenance/v1");
  const { resolvedDependencies } = statement.predicate.buildDefinition;
  expect(resolvedDependencies[0].digest.gitCommit).toBe(manifest.commit);
  const subjects = statement.subject.map(
    ({ digest }: { digest: { sha256: string } }) => `sha256:${digest.sha256}`,
  );
  for (const { digest, platforms } of Object.values(manifest.images))
    expect(subjects).toEqual(expect.arrayContaining([digest, ...platforms.map((one) => one.digest)]));
  const { platforms } = statement.predicate.buildDefinition.internalParameters;
  expect(platforms).toEqual(architectures.map((one) => `linux/${one}`));
});

it("is verified with the public key alone", async () => {
  expect(await verify()).toMatchObject({ isValid: true });
});

it("is verified by the commands of the guide", async () => {
  const key = join(out, "plosive.pub");
  copyFileSync(join(folder, "cosign.pub"), key);
  await guide("openssl dgst", out);
  expect(await verify(key)).toMatchObject({ isValid: true });
  rmSync(key);
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

it("is not made with a key that cannot sign, of a commit without its tag, or of changed files", async () => {
  const key = join(folder, "cosign.key");
  const args = (given: string) => [
    ...["build", "--registry", "registry.example/plosive", "--key", given, "--out", join(folder, "none")],
  ];
  const refusal = (given = key) =>
    release(...args(given)).then(
      () => "",
      (error: { stderr: string }) => error.stderr,
    );
  expect(await refusal(join(folder, "cosign.pub"))).toContain("cannot use the private key");
  await run("git", ["tag", "--delete", `v${version}`], { cwd: clone });
  expect(await refusal()).toContain(`no tag v${version}`);
  await run("git", ["tag", `v${version}`], { cwd: clone });
  writeFileSync(join(clone, "more.txt"), "more");
  expect(await refusal()).toContain("more.txt");
  rmSync(join(clone, "more.txt"));
  expect(existsSync(join(folder, "none"))).toBe(false);
});

it("has images of the API and the workers whose layers are the same when they are built in an empty store", async () => {
  const cache = join(folder, "cache");
  mkdirSync(join(cache, "images"), { recursive: true });
  const script = join(clone, "test/release/build-again.ts");
  await run("unshare", ["--mount", "--propagation", "private", process.execPath, script], {
    env: { ...process.env, PLOSIVE_CACHE: cache },
    maxBuffer: 1 << 26,
  });
  for (const name of ["server", "worker"]) {
    const compressed = `oci:${join(cache, name)}:again`;
    const again = layersOf(join(cache, "images/layout"), `plosive-${name}`);
    const from = `oci:${join(cache, "images/layout")}:${again.image}`;
    await run("skopeo", ["copy", "--quiet", "--insecure-policy", from, compressed]);
    const { stdout } = await run("skopeo", ["inspect", "--raw", compressed]);
    const { layers } = JSON.parse(stdout) as { layers: { digest: string }[] };
    const first = imageOf(name, ownArchitecture()).layers;
    expect(layers).toHaveLength(first.length);
    const isSame = (n: number) => layers[n]!.digest === first[n]!.digest;
    const ours = again.steps.flatMap(({ isOurs }, n) => (isOurs ? [n] : []));
    const others = again.steps.flatMap(({ isOurs }, n) => (isOurs ? [] : [n]));
    expect(ours.length).toBeGreaterThan(1);
    for (const n of ours) expect(isSame(n), again.steps[n]!.step).toBe(true);
    console.info(
      `release: ${name}: ${ours.length} layers of ours are the same, and ${others.filter(isSame).length} of ${others.length} with Debian's packages`,
    );
  }
  rmSync(cache, { recursive: true });
});

it("has a chart and a client whose bytes are the same when they are packed again", async () => {
  const script = `
    const { archiveChart } = await import("./tools/release/chart-archive.ts");
    const { packClient } = await import("./tools/release/client-package.ts");
    await archiveChart(process.argv[2], JSON.parse(process.argv[3]), process.argv[1]);
    await packClient(process.argv[2], process.argv[1]);`;
  const references = Object.entries(manifest.images).map(([name, { reference }]) => [name, reference]);
  const second = mkdtempSync(join(folder, "second-"));
  await run(
    process.execPath,
    ["--input-type=module", "-e", script, second, version, JSON.stringify(Object.fromEntries(references))],
    { cwd: clone },
  );
  for (const file of [manifest.chart, manifest.client])
    expect(readFileSync(join(second, file)).equals(readFileSync(join(out, file)))).toBe(true);
});

it("has a client that Node can import", async () => {
  const modules = join(folder, "user/node_modules");
  mkdirSync(join(modules, "plosive-client"), { recursive: true });
  const archive = join(out, manifest.client);
  await run("tar", ["-xzf", archive, "--strip-components=1", "-C", join(modules, "plosive-client")]);
  await run("cp", [
    ...[
      "-a",
      join(repoDir, "node_modules/openapi-fetch"),
      join(repoDir, "node_modules/openapi-typescript-helpers"),
    ],
    modules,
  ]);
  const script = `
    const [{ makeClient }, { uploadAudio }, { waitForTraining }] =
      await Promise.all(["", "/upload", "/wait"].map((path) => import("plosive-client" + path)));
    console.log([makeClient, uploadAudio, waitForTraining].map((one) => typeof one).join());`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(folder, "user"),
  });
  expect(stdout.trim()).toBe("function,function,function");
});

it("is pushed, and every image and the chart are verified with cosign", async () => {
  const key = ["--key", join(folder, "cosign.key"), "--out", out];
  const { stdout } = await release("push", "--plain-http", ...key);
  const pushed = [...stdout.matchAll(/(\S+@sha256:[0-9a-f]{64})/g)].map(([name]) => name);
  expect(pushed).toHaveLength(6);
  const open = ["--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry"];
  for (const name of pushed) await cosign("verify", ...open, name);
  const other = ["--key", "other.pub", ...open.slice(2)];
  await run(tool("cosign"), ["generate-key-pair", "--output-key-prefix", "other"], { cwd: folder, env });
  for (const name of pushed) await expect(cosign("verify", ...other, name)).rejects.toThrow();
  /** What the attestation of this type says of the image. */
  const attested = async (type: string, name: string): Promise<unknown> => {
    const { stdout } = await cosign("verify-attestation", ...open, "--type", type, name);
    const [{ payload = "" } = {}] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { payload: string });
    return (JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: unknown }).predicate;
  };
  const fileOf = (name: string): unknown => JSON.parse(readFileSync(join(out, name), "utf8"));
  const { predicate } = fileOf("provenance.json") as { predicate: unknown };
  for (const { digest, platforms } of Object.values(manifest.images)) {
    const name = pushed.find((one) => one.endsWith(digest)) ?? "";
    expect(await attested("slsaprovenance1", name)).toMatchObject(predicate as object);
    for (const platform of platforms) {
      const image = name.replace(digest, platform.digest);
      await cosign("verify", ...open, image);
      expect(await attested("spdxjson", image)).toEqual(fileOf(platform.sbom));
    }
  }
  await guide("cosign verify --key plosive.pub --insecure-ignore-tlog REGISTRY/plosive-server", folder, {
    ...inRegistry(),
    "sha256:…": manifest.images.server!.digest,
  });
  // The registry serves a signature for what was signed, and for nothing else.
  const [server = ""] = pushed;
  const unsigned = `${server.split("@")[0]}:unsigned`;
  const one = server.replace(manifest.images.server!.digest, imageOf("server", ownArchitecture()).digest);
  await run(tool("crane"), ["mutate", "--insecure", "--annotation", "a=b", "--tag", unsigned, one]);
  await expect(cosign("verify", ...open, unsigned)).rejects.toThrow();

  // Nothing is pushed again with another key, nor over a version that exists with other digests.
  const refusal = (...args: string[]) =>
    release("push", "--plain-http", "--out", out, "--key", ...args).then(
      () => "",
      (error: { stderr: string }) => error.stderr,
    );
  expect(await refusal(join(folder, "other.key"))).toContain("not signed with this key");
  await run(tool("crane"), ["tag", "--insecure", unsigned, version]);
  expect(await refusal(join(folder, "cosign.key"))).toContain("a version is never replaced");
  await run(tool("crane"), ["tag", "--insecure", server, version]);
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
  const values = join(folder, "values.yaml");
  copyFileSync(join(repoDir, "charts/plosive/values-local.yaml"), values);
  await guide("cosign verify --key plosive.pub --insecure-ignore-tlog REGISTRY/charts", folder, {
    ...inRegistry(),
    "values.yaml": [
      ...["values.yaml", "--plain-http", "--kubeconfig", place.kubeconfig, "--create-namespace"],
      ...["--set-string", `objectStore.publicEndpoint=http://${insideAddress}:30900`],
      ...["--wait", "--wait-for-jobs", "--timeout", "10m"],
    ].join(" "),
  });
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
