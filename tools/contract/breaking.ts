// Checks with oasdiff whether openapi.json breaks clients of the last release; released/ contains the description of
// each release. Usage: tools/contract/breaking.ts. Called by the suite `contract` and by a test with deliberate
// breaking changes.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { repoDir, tool } from "../cache.ts";
import { accepted } from "./accepted-changes.ts";

const change = z.object({
  id: z.string(),
  text: z.string(),
  level: z.int(),
  operation: z.string().optional(),
  path: z.string().optional(),
});
export type Change = z.infer<typeof change>;

const folder = join(import.meta.dirname, "released");

/** The path of the newest released description. */
export function released(): string {
  const byVersion = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return join(folder, byVersion.at(-1) ?? "");
}

/** Returns the breaking changes from the file `base` to `description`, without the accepted ones. */
export async function breakingChanges(base: string, description: unknown): Promise<Change[]> {
  const scratch = mkdtempSync(join(tmpdir(), "plosive-oasdiff-"));
  try {
    const revision = join(scratch, "openapi.json");
    writeFileSync(revision, JSON.stringify(description));
    const { stdout } = await promisify(execFile)(
      tool("oasdiff"),
      ["breaking", base, revision, "--format=json"],
      { env: { ...process.env, OASDIFF_NO_TELEMETRY: "1" }, maxBuffer: 1 << 28 },
    );
    const changes = z.array(change).parse(JSON.parse(stdout.trim() === "" ? "[]" : stdout));
    return changes.filter(
      ({ id, text }) => !accepted.some((one) => one.id === id && (one.text?.test(text) ?? true)),
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { default: description } = await import(join(repoDir, "openapi.json"), { with: { type: "json" } });
  const changes = await breakingChanges(released(), description);
  for (const { operation = "", path = "", id, text } of changes)
    process.stdout.write(`breaking: ${operation} ${path}: ${text} [${id}]\n`);
  process.stdout.write(`${changes.length} breaking changes since ${released().replace(`${repoDir}/`, "")}\n`);
  process.exitCode = changes.length === 0 ? 0 : 1;
}
