// Builds missing images with buildah from the Dockerfiles that Docker users also use, and writes them to one OCI layout
// (a folder) from which clusters pull. Called by main.ts inside a mount namespace, so that buildah leaves no mounts
// behind.
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, repoDir } from "../cache.ts";
import { foreignArchitecture } from "./architecture.ts";
import { type Image, referenceOf, tagOf } from "./images.ts";
import { fileTime } from "./ingredients.ts";
import { pruneLayout, pruneStore } from "./prune.ts";

const run = promisify(execFile);

export const layoutDir = join(cacheDir, "images", "layout");
const storeDir = join(cacheDir, "images", "buildah");

/** `<name>:<tag>` of every image in the layout. */
function imagesInLayout(): Set<string> {
  const index = join(layoutDir, "index.json");
  if (!existsSync(index)) return new Set();
  const { manifests } = JSON.parse(readFileSync(index, "utf8")) as {
    manifests: { annotations?: Record<string, string> }[];
  };
  return new Set(
    manifests.flatMap(({ annotations }) => annotations?.["org.opencontainers.image.ref.name"] ?? []),
  );
}

/** The name of the image in the layout, which registry.ts looks up: the last part of its reference. */
const layoutName = (image: Image): string => basename(referenceOf(image));

export function missingImages(images: readonly Image[]): Image[] {
  const present = imagesInLayout();
  return images.filter((image) => !present.has(layoutName(image)));
}

/**
 * Builds the missing images of `all`, and removes those of earlier builds unless `keepOthers` is set. There are two lanes: downloads and
 * the disk limit the trainer, the CPU limits the others.
 */
export async function buildImages(
  all: readonly Image[],
  say: (line: string) => void,
  { keepOthers = false } = {},
): Promise<void> {
  mkdirSync(layoutDir, { recursive: true });
  const images = missingImages(all);
  const runRoot = join(dirname(storeDir), `run-${process.pid}`);
  // Removes folders of killed runs; the caller's lock excludes other builds.
  for (const entry of readdirSync(dirname(storeDir))) {
    if (entry.startsWith("run-")) rmSync(join(dirname(storeDir), entry), { recursive: true, force: true });
  }
  mkdirSync(runRoot, { recursive: true });
  await run("buildah", [...store(runRoot), "rm", "--all"]);
  const started = new Map<string, Promise<void>>();
  let exports = Promise.resolve();

  const ensure = (image: Image): Promise<void> => {
    const key = referenceOf(image);
    const running = started.get(key) ?? buildOne(image);
    started.set(key, running);
    return running;
  };
  const buildOne = async (image: Image) => {
    await Promise.all(Object.values(image.from).map(ensure));
    const begun = Date.now();
    if (!(await isStored(image, runRoot))) {
      say(`images: building ${image.name} ...`);
      await buildWithBuildah(image, runRoot);
      say(`images: built ${image.name} in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
    }
  };
  const exportOne = (image: Image) => {
    // One at a time, because each export reads, changes and writes the layout's index.
    exports = exports.then(() => exportToLayout(image, runRoot));
    return exports;
  };
  const lane = async (lane: readonly Image[]) => {
    for (const image of lane) {
      await ensure(image);
      await exportOne(image);
    }
  };
  try {
    const isHeavy = (image: Image) => image.target === "trainer";
    // If one lane fails, the other one still runs to its end, so that its images are kept.
    const lanes = [lane(images.filter(isHeavy)), lane(images.filter((image) => !isHeavy(image)))];
    const results = await Promise.allSettled(lanes);
    const reasons = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    if (reasons.length > 0) throw new Error(reasons.join("\n"));
    if (keepOthers) return;
    const current = [...all, ...all.flatMap((image) => Object.values(image.from))];
    pruneLayout(layoutDir, new Set(all.map(layoutName)));
    await pruneStore(store(runRoot), new Set(current.map(localName)));
  } finally {
    rmSync(runRoot, { recursive: true, force: true });
  }
}

const store = (runRoot: string): string[] => [
  "--root",
  storeDir,
  "--runroot",
  runRoot,
  "--storage-driver",
  "overlay",
];

async function isStored(image: Image, runRoot: string): Promise<boolean> {
  return run("buildah", [...store(runRoot), "inspect", "--type", "image", localName(image)], {
    maxBuffer: 1 << 26,
  }).then(
    () => true,
    () => false,
  );
}

const localName = (image: Image): string => `localhost/plosive-${image.name}:${tagOf(image)}`;

async function buildWithBuildah(image: Image, runRoot: string): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), `plosive-context-${image.name}-`));
  const secrets = mkdtempSync(join(tmpdir(), `plosive-secrets-${image.name}-`));
  const foreign = foreignArchitecture();
  try {
    await image.fillContext(context);
    const dockerfile = join(context, ".Dockerfile");
    cpSync(join(repoDir, image.dockerfile), dockerfile);
    await runLogged(`images-${image.name}`, "buildah", [
      ...store(runRoot),
      "bud",
      "--isolation=chroot",
      "--layers",
      "--format=oci",
      ...(foreign === undefined ? [] : ["--arch", foreign]),
      // The same files give the same layers.
      "--timestamp",
      `${fileTime}`,
      ...(image.target ? ["--target", image.target] : []),
      ...buildArguments(image).flatMap((argument) => ["--build-arg", argument]),
      ...buildSecrets(secrets).flatMap((secret) => ["--secret", secret]),
      "--tag",
      localName(image),
      "--file",
      dockerfile,
      context,
    ]);
  } finally {
    for (const folder of [context, secrets]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Build arguments: base images, and the time of all files, for programs that write it into files. */
const buildArguments = (image: Image): string[] => [
  ...Object.entries(image.from).map(([argument, source]) => `${argument}=${localName(source)}`),
  `SOURCE_DATE_EPOCH=${fileTime}`,
];

/**
 * Secrets of the build: this machine's package registries, and the certificate authorities that it trusts. They leave no trace in the
 * image. Writes their files into `folder`.
 */
function buildSecrets(folder: string): string[] {
  const {
    PIP_CERT,
    SSL_CERT_FILE,
    NODE_EXTRA_CA_CERTS,
    PIP_INDEX_URL,
    NPM_CONFIG_REGISTRY,
    npm_config_registry,
  } = process.env;
  const given = PIP_CERT ?? SSL_CERT_FILE ?? NODE_EXTRA_CA_CERTS;
  const authorities = given !== undefined && existsSync(given) ? given : undefined;
  const inside = authorities && "/run/secrets/authorities.crt";
  const pipConf = join(folder, "pip.conf");
  const npmrc = join(folder, "npmrc");
  writeFileSync(pipConf, `[global]\n${setting("cert", inside)}${setting("index-url", PIP_INDEX_URL)}`);
  const registry = NPM_CONFIG_REGISTRY ?? npm_config_registry;
  writeFileSync(npmrc, setting("registry", registry));
  return [
    `id=pip.conf,src=${pipConf}`,
    `id=npmrc,src=${npmrc}`,
    ...(authorities === undefined ? [] : [`id=authorities,src=${authorities}`]),
  ];
}

const setting = (name: string, value: string | undefined): string =>
  value === undefined ? "" : `${name} = ${value}\n`;

/**
 * Exports uncompressed: existing layers are recognized by digest, and compressing several GB takes longer than writing
 * them.
 */
async function exportToLayout(image: Image, runRoot: string): Promise<void> {
  const from = `containers-storage:[overlay@${storeDir}+${runRoot}]${localName(image)}`;
  const to = `oci:${layoutDir}:${layoutName(image)}`;
  await run("skopeo", [
    "copy",
    "--quiet",
    "--insecure-policy",
    "--dest-oci-accept-uncompressed-layers",
    from,
    to,
  ]);
}

/** Runs a command. Rejects with the end of its output if it fails. */
async function runLogged(name: string, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      lines.push(text);
      if (lines.length > 2_000) lines.splice(0, 1_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  if (code === 0) return;
  throw new Error(
    `${name}: ${command} failed with exit code ${code}; last lines of its output:\n${lines.join("").split("\n").slice(-40).join("\n")}`,
  );
}
