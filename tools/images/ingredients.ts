// Image contents that are not in the repository: Debian's base system, Node with npm, the pause program. Called by
// images.ts to fill build contexts. The recipes determine the tags of all images that build on them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { cacheDir, repoDir } from "../cache.ts";
import { foreignArchitecture, nodeNames, ownArchitecture } from "./architecture.ts";

const npmVersion = "11.6.2";
const suite = "bookworm";
// Documentation and translations are left out, as in Debian's own slim image.
const omitted = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*"];
const foreign = foreignArchitecture();
const debstrap = [
  "--variant=minbase",
  "--format=tar",
  "--include=ca-certificates",
  ...omitted.map((path) => `--dpkgopt=path-exclude=${path}`),
  ...(foreign === undefined ? [] : [`--architectures=${foreign}`]),
  suite,
];

/**
 * The time of all files in all images, in seconds since 1970: 1980-01-01, the first that zip archives know. One time for all
 * releases, so that a layer whose content is the same keeps its digest.
 */
export const fileTime = 315_532_800;

export const baseRecipe = (): string => `${debstrap.join(" ")} at ${fileTime}`;
export const nodeRecipe = (): string => `node ${nodeVersion()} npm ${npmVersion}`;

/** Writes the archive of Debian's minimal system. The first call takes 30 s; later calls copy the cached archive. */
export function makeBaseArchive(folder: string): void {
  const recipe = createHash("sha256").update(baseRecipe()).digest("hex").slice(0, 12);
  const archive = join(cacheDir, "images", `${suite}-${recipe}.tar`);
  if (!existsSync(archive)) {
    const unfinished = `${archive}.${process.pid}`;
    const mirror = process.env.PLOSIVE_DEBIAN_MIRROR;
    const args = ["--quiet", ...debstrap, unfinished, ...(mirror === undefined ? [] : [mirror])];
    execFileSync("mmdebstrap", args, { env: { ...process.env, SOURCE_DATE_EPOCH: `${fileTime}` } });
    renameSync(unfinished, archive);
  }
  cpSync(archive, join(folder, "base.tar"), { preserveTimestamps: true });
}

/** The Node version that package-lock.json pins. */
function nodeVersion(): string {
  const lock = JSON.parse(readFileSync(join(repoDir, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string } | undefined>;
  };
  const version = lock.packages["node_modules/node"]?.version;
  if (version === undefined) throw new Error("package-lock.json does not pin the package `node`");
  return version;
}

/** Installs Node and npm from the npm packages of those names. */
export function installNode(folder: string): void {
  // The binary is in the package of the platform; the package `node` only selects it.
  const platform = `node-linux-${nodeNames[foreign ?? ownArchitecture()]}`;
  const install = [
    "install",
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    // npm refuses packages for another architecture.
    ...(foreign === undefined ? [] : ["--force"]),
  ];
  execFileSync("npm", [...install, "--prefix", folder, `${platform}@${nodeVersion()}`, `npm@${npmVersion}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const packages = join(folder, "node_modules");
  cpSync(join(packages, platform, "bin", "node"), join(folder, "node"), { preserveTimestamps: true });
  cpSync(join(packages, "npm"), join(folder, "npm"), { recursive: true, preserveTimestamps: true });
}

export function compilePause(folder: string): void {
  const source = join(repoDir, "images/pause/pause.c");
  execFileSync("gcc", ["-Os", "-static", "-s", "-o", join(folder, "pause"), source]);
}
