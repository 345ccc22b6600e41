// The images of this project: their inputs, and the tags that are computed from these inputs. Called by build.ts.
// Docker users build the same Dockerfiles under images/; `base` and `node` replace the official base images here.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { repoDir, tool } from "../cache.ts";
import { foreignArchitecture } from "./architecture.ts";
import { baseRecipe, compilePause, installNode, makeBaseArchive, nodeRecipe } from "./ingredients.ts";

export interface Image {
  readonly name: string;
  /** Path of the Dockerfile in the repository. */
  readonly dockerfile: string;
  readonly target?: string;
  /** Files and folders whose content determines the tag. */
  readonly inputs: readonly string[];
  /** Further input of the tag: versions that are not in a file of the repository. */
  readonly recipe?: () => string;
  /** Images that the Dockerfile receives as build arguments: argument -> image. */
  readonly from: Readonly<Record<string, Image>>;
  /** Fills an empty folder with the build context. */
  readonly fillContext: (folder: string) => Promise<void> | void;
  /** A fixed tag instead of the content's hash, for an image that other configuration refers to. */
  readonly tag?: string;
}

/** Copies paths of the repository to the context, relative to `root`, without build outputs. */
const copy =
  (root: string, ...paths: string[]) =>
  (folder: string): void => {
    for (const path of paths) {
      const to = join(folder, relative(root, path));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(repoDir, path), to, { recursive: true, preserveTimestamps: true, filter: isSource });
    }
  };

const base: Image = {
  name: "base",
  dockerfile: "images/base/Dockerfile",
  inputs: [],
  recipe: baseRecipe,
  from: {},
  fillContext: makeBaseArchive,
};

const node: Image = {
  name: "node",
  dockerfile: "images/node/Dockerfile",
  inputs: [],
  recipe: nodeRecipe,
  from: { BASE: base },
  fillContext: installNode,
};

const webFiles = [
  "openapi.json",
  "tsconfig.json",
  "client",
  "web/index.html",
  "web/src",
  "web/tsconfig.json",
  "web/vite.config.ts",
];
const serverFiles = ["package.json", "package-lock.json", "crds", "src", "controllers", ...webFiles];
const server: Image = {
  name: "server",
  dockerfile: "images/server/Dockerfile",
  inputs: serverFiles,
  from: { BASE: base, NODE: node },
  fillContext: copy(".", ...serverFiles),
};

const workerFiles = ["images/worker/requirements.txt", "images/worker/plosive_worker"];
const worker: Image = {
  name: "worker",
  dockerfile: "images/worker/Dockerfile",
  target: "worker",
  inputs: workerFiles,
  from: { BASE: base },
  fillContext: copy("images/worker", ...workerFiles),
};

const trainerFiles = [...workerFiles, "images/worker/requirements-train.txt"];
const trainer: Image = {
  name: "trainer",
  dockerfile: "images/worker/Dockerfile",
  target: "trainer",
  inputs: trainerFiles,
  from: { BASE: base },
  fillContext: copy("images/worker", ...trainerFiles),
};

const postgres: Image = {
  name: "postgres",
  dockerfile: "images/postgres/Dockerfile",
  inputs: ["images/postgres/entrypoint.sh"],
  from: { BASE: base },
  fillContext: copy("images/postgres", "images/postgres/entrypoint.sh"),
};

const s3: Image = {
  name: "s3",
  dockerfile: "images/s3/Dockerfile",
  inputs: ["tools/go/versitygw/go.mod", "tools/go/versitygw/go.sum"],
  from: { BASE: base },
  fillContext(folder) {
    const foreign = foreignArchitecture();
    if (foreign !== undefined)
      execFileSync(join(repoDir, "tools/build.sh"), ["versitygw"], {
        env: { ...process.env, PLOSIVE_GOARCH: foreign },
      });
    copyFileSync(realpathSync(tool(join(foreign ?? "", "versitygw"))), join(folder, "versitygw"));
    chmodSync(join(folder, "versitygw"), 0o755);
  },
};

/** The pause image of the local cluster's pods. Its tag is fixed because containerd's configuration contains it. */
export const pause: Image = {
  name: "pause",
  dockerfile: "images/pause/Dockerfile",
  inputs: ["images/pause/pause.c"],
  from: {},
  fillContext: compilePause,
  tag: "1",
};

/**
 * The images of the chart by their names there (values `images.<name>`). Small ones first, so that they are ready
 * early.
 */
export const chartImages = { server, postgres, s3, worker, trainer } as const;

/**
 * The images that are built here. For another architecture the trainer is left out: installing CUDA in QEMU takes 20 minutes and
 * more than 20 GiB of disk. The pause image is for the local cluster, which runs on this machine.
 */
export function builtImages(): Readonly<Record<string, Image>> {
  const { trainer, ...others } = chartImages;
  return foreignArchitecture() === undefined ? { ...others, trainer, pause } : others;
}

/** The tag: a hash of the Dockerfile, all inputs, and the tags of the base images. */
export function tagOf(image: Image): string {
  const tag = image.tag ?? tags.get(image) ?? contentTag(image);
  tags.set(image, tag);
  return tag;
}

// Tags are computed once: a file that changes during the build affects only the next build.
const tags = new Map<Image, string>();

function contentTag(image: Image): string {
  const hash = createHash("sha256");
  for (const path of [image.dockerfile, ...image.inputs]) addFile(hash, path);
  hash.update(`${image.target ?? ""} ${image.recipe?.() ?? ""}\n`);
  for (const [argument, source] of Object.entries(image.from)) hash.update(`${argument}=${tagOf(source)}\n`);
  return hash.digest("hex").slice(0, 12);
}

/** The full reference that pods use. CRI looks images up by this normalized form. */
export const referenceOf = (image: Image): string => `docker.io/local/plosive-${image.name}:${tagOf(image)}`;

function addFile(hash: ReturnType<typeof createHash>, path: string): void {
  const full = join(repoDir, path);
  if (!isSource(full)) return;
  if (statSync(full).isDirectory()) {
    for (const entry of readdirSync(full).sort()) addFile(hash, join(path, entry));
  } else {
    hash
      .update(`${path} ${statSync(full).mode & 0o111}\0`)
      .update(readFileSync(full))
      .update("\0");
  }
}

function isSource(path: string): boolean {
  return !/(^|\/)(__pycache__|node_modules|\.pytest_cache|[^/]+\.pyc)$/.test(path);
}
