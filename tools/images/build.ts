// Builds what is missing of the images with buildah, from the Dockerfiles that Docker users use, and puts them into one OCI
// layout (a folder) from which clusters pull. Called by main.ts inside a mount namespace: buildah leaves no mount behind.
import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheDir, repoDir } from "../cache.ts";
import { type Image, referenceOf, tagOf } from "./images.ts";
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

/** The name under which registry.ts finds it: the last part of its reference. */
const layoutName = (image: Image): string => basename(referenceOf(image));

export function missingImages(images: readonly Image[]): Image[] {
  const present = imagesInLayout();
  return images.filter((image) => !present.has(layoutName(image)));
}

/** Builds those of `all` that are missing, in two lanes: the trainer is bound by downloads and the disk, the others by the processor. */
export async function buildImages(all: readonly Image[], say: (line: string) => void): Promise<void> {
  mkdirSync(layoutDir, { recursive: true });
  const images = missingImages(all);
  const runRoot = join(dirname(storeDir), `run-${process.pid}`);
  // Left by a killed run; the lock says that nobody else is building.
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
      await bud(image, runRoot);
      say(`images: built ${image.name} in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
    }
  };
  const exportOne = (image: Image) => {
    // One at a time: the layout's index is read, changed and written.
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
    // Both lanes run to their end even if one fails: what is built stays built.
    const lanes = [lane(images.filter(isHeavy)), lane(images.filter((image) => !isHeavy(image)))];
    const results = await Promise.allSettled(lanes);
    const reasons = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    if (reasons.length > 0) throw new Error(reasons.join("\n"));
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

async function bud(image: Image, runRoot: string): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), `plosive-context-${image.name}-`));
  try {
    await image.fillContext(context);
    const dockerfile = join(context, ".Dockerfile");
    cpSync(join(repoDir, image.dockerfile), dockerfile);
    await logged(`images-${image.name}`, "buildah", [
      ...store(runRoot),
      "bud",
      "--isolation=chroot",
      "--layers",
      "--format=oci",
      ...(image.target ? ["--target", image.target] : []),
      ...buildArguments(image).flatMap((argument) => ["--build-arg", argument]),
      ...authorityMount(),
      "--tag",
      localName(image),
      "--file",
      dockerfile,
      context,
    ]);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Base images, and what this machine says about package registries: for the build only, never in the image. */
function buildArguments(image: Image): string[] {
  const sources = Object.entries(image.from).map(([argument, source]) => `${argument}=${localName(source)}`);
  const bundle = authority()?.inside;
  const inside =
    bundle === undefined ? [] : ["PIP_CERT", "NODE_EXTRA_CA_CERTS"].map((name) => `${name}=${bundle}`);
  const hosts = ["PIP_INDEX_URL", "NPM_CONFIG_REGISTRY"].flatMap((name) => {
    const value = process.env[name] ?? process.env[name.toLowerCase()];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  return [...sources, ...inside, ...hosts];
}

/** A company's own certificate authority, where this machine has one: mounted where Debian keeps an empty folder. */
function authority(): { folder: string; inside: string } | undefined {
  const { PIP_CERT, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  const file = PIP_CERT ?? SSL_CERT_FILE ?? NODE_EXTRA_CA_CERTS;
  if (file === undefined || !existsSync(file)) return undefined;
  return { folder: dirname(file), inside: join("/mnt", basename(file)) };
}

function authorityMount(): string[] {
  const found = authority();
  return found === undefined ? [] : ["--volume", `${found.folder}:/mnt:ro`];
}

/** Uncompressed: a layer that is there already is known by its name, and compressing several GB costs more than writing them. */
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

/** Runs a command with its words in a log that is shown only when it fails. */
async function logged(name: string, command: string, args: readonly string[]): Promise<void> {
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
    `${name}: ${command} ended with ${code}; its last words:\n${lines.join("").split("\n").slice(-40).join("\n")}`,
  );
}
