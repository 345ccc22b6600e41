// The typed client as an npm package, compiled to JavaScript: Node does not run TypeScript inside node_modules. Called by
// build.ts.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { repoDir } from "../cache.ts";
import { program } from "./programs.ts";

const ownPackage = z.object({
  license: z.string(),
  engines: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

/** Writes plosive-client-VERSION.tgz into `out` and returns its name. */
export async function packClient(version: string, out: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-client-"));
  try {
    const modules = readdirSync(join(repoDir, "client")).filter((file) => file.endsWith(".ts"));
    await compile(modules, folder);
    const { license, engines, devDependencies } = ownPackage.parse(
      JSON.parse(readFileSync(join(repoDir, "package.json"), "utf8")),
    );
    const names = modules.map((file) => basename(file, ".ts"));
    const described = {
      name: "plosive-client",
      version,
      description: "A typed client of Plosive's REST API",
      license,
      type: "module",
      engines,
      exports: Object.fromEntries(
        names.map((name) => [
          name === "client" ? "." : `./${name}`,
          { types: `./${name}.d.ts`, default: `./${name}.js` },
        ]),
      ),
      dependencies: { "openapi-fetch": devDependencies["openapi-fetch"] },
    };
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
    cpSync(join(repoDir, "LICENSE"), join(folder, "LICENSE"));
    cpSync(join(repoDir, "docs/client.md"), join(folder, "README.md"));
    const packed = await program("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder });
    return packed.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compile(modules: readonly string[], out: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "plosive-client-project-"));
  const project = join(folder, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(repoDir, "client"),
    typeRoots: [join(repoDir, "node_modules/@types")],
    outDir: out,
  };
  const files = modules.map((file) => join(repoDir, "client", file));
  const base = join(repoDir, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ extends: base, compilerOptions, files, include: [], exclude: [] }));
  try {
    await program(process.execPath, [join(repoDir, "node_modules/.bin/tsc"), "--project", project]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
