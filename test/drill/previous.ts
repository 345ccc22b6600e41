// The release before this one: its chart, and its images, built from its code by the Dockerfiles of today, so that they share the
// layers that are large. Called by upgrade.test.ts.
import { execFile } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { repoDir } from "../../tools/cache.ts";
import { chartImages } from "../../tools/images/images.ts";

const run = promisify(execFile);

/** v0.1.0; the commit, because a clone may lack the tag. */
export const previousVersion = "0.1.0";
const commit = "c55b8b03562a0d4df4b67b689bb64414fa2d9fff";

export interface Previous {
  /** Folder of the chart. */
  readonly chart: string;
  /** By the chart's names, as in tools/images. */
  readonly images: Readonly<Record<string, string>>;
}

/** Checks the release out into `folder`, and builds its images into the layout of tools/images, beside those of today. */
export async function checkOutPrevious(folder: string): Promise<Previous> {
  await run("git", ["clone", "--quiet", "--no-checkout", repoDir, folder]);
  await run("git", ["-C", folder, "checkout", "--quiet", commit]);
  rmSync(join(folder, "tools"), { recursive: true });
  cpSync(join(repoDir, "tools"), join(folder, "tools"), { recursive: true, verbatimSymlinks: true });
  for (const name of ["base", "node", ...Object.keys(chartImages)]) {
    const dockerfile = join("images", name === "trainer" ? "worker" : name, "Dockerfile");
    cpSync(join(repoDir, dockerfile), join(folder, dockerfile));
  }
  await run("cp", ["-a", join(repoDir, "node_modules"), folder]);
  const references = join(folder, "references.json");
  const script = join(folder, "tools/images/main.ts");
  await run(process.execPath, [script, "build", "--keep-others", "--references", references], {
    maxBuffer: 1 << 26,
  });
  const { pause: _, ...images } = JSON.parse(readFileSync(references, "utf8")) as Record<string, string>;
  return { chart: join(folder, "charts/plosive"), images };
}
