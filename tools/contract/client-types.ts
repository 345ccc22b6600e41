// Writes client/schema.ts, the types of the client, from openapi.json. Called by `make gen` after src/gen, and by the
// check that generated files are up to date.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repoDir } from "../cache.ts";

/** Members that a type checker does not need; they are most of the document. */
const omitted = new Set(["example", "examples", "links", "headers", "summary"]);

const scratch = mkdtempSync(join(tmpdir(), "plosive-client-"));
try {
  const description = join(scratch, "openapi.json");
  const target = join(scratch, "schema.ts");
  writeFileSync(
    description,
    JSON.stringify(JSON.parse(readFileSync(join(repoDir, "openapi.json"), "utf8")), (name, value) =>
      omitted.has(name) ? undefined : value,
    ),
  );
  execFileSync(
    process.execPath,
    [
      join(import.meta.dirname, "npm/node_modules/openapi-typescript/bin/cli.js"),
      description,
      `--output=${target}`,
      "--root-types",
      "--root-types-no-schema-prefix",
      // Properties with a default are optional in requests.
      "--default-non-nullable=false",
      "--empty-objects-unknown",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const types = readFileSync(target, "utf8").replace(/^\/\*\*[\s\S]*?\*\/\n+/, "");
  writeFileSync(
    join(repoDir, "client/schema.ts"),
    `// Written by \`make gen\` from openapi.json: the types of every request and answer. Do not edit.\n\n${types}`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
