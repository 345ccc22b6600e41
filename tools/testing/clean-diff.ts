// Fails when `make gen` would change a file: the generated documents are committed, and must be those of the schemas.
// Called by the suite "lint". What was changed before it ran does not count, so it also works in a dirty tree.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { repoDir } from "../cache.ts";

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: repoDir, encoding: "utf8", maxBuffer: 1 << 28 });
const state = () => git("diff", "HEAD", "--no-ext-diff") + git("ls-files", "--others", "--exclude-standard");

const before = state();
for (const generator of ["src/gen/main.ts", "tools/contract/client-types.ts", "tools/chart-readme.ts"])
  execFileSync(process.execPath, [join(repoDir, generator)], { cwd: repoDir, stdio: "inherit" });
if (state() !== before) {
  process.stderr.write(
    `${git("status", "--short")}\nGenerated files were not up to date. They are now: commit them.\n`,
  );
  process.exitCode = 1;
} else {
  process.stdout.write("Generated files are up to date.\n");
}
