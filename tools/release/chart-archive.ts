// The chart as a package that names the release's images by digest. Called by build.ts.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { repoDir } from "../cache.ts";
import { fileTime } from "../images/ingredients.ts";
import { program, releaseTool } from "./programs.ts";

/**
 * Writes plosive-VERSION.tgz into `out` and returns its name. `images`: chart's name -> reference. tar packs again what
 * `helm package` has packed with the time of the day, so the same commit and images give the same bytes.
 */
export async function archiveChart(
  version: string,
  images: Readonly<Record<string, string>>,
  out: string,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-chart-"));
  const name = `plosive-${version}.tgz`;
  try {
    cpSync(join(repoDir, "charts/plosive"), join(folder, "plosive"), { recursive: true });
    const file = join(folder, "plosive/values.yaml");
    const values = parseDocument(readFileSync(file, "utf8"));
    for (const [image, reference] of Object.entries(images)) values.setIn(["images", image], reference);
    writeFileSync(file, values.toString({ lineWidth: 0 }));
    // helm checks the chart, and leaves out what .helmignore names.
    await program(releaseTool("helm"), ["package", join(folder, "plosive"), "--destination", folder]);
    rmSync(join(folder, "plosive"), { recursive: true });
    await program("tar", ["-xzf", join(folder, name), "-C", folder]);
    const archive = join(out, name);
    await program("tar", [
      ...["--sort=name", `--mtime=@${fileTime}`, "--owner=0", "--group=0", "--numeric-owner"],
      ...["--mode=u=rwX,go=rX", "--use-compress-program=gzip -n"],
      ...["-C", folder, "-cf", archive, "plosive"],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return name;
}
