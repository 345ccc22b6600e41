// `make schema`: writes src/db/schema.sql, the present schema as the migrations leave it, for people who read it. No code
// reads that file; test/schemas/database.test.ts compares it with the migrations.
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { migrate } from "../src/db/driver/migrate.ts";
import { makeDatabase } from "../src/db/driver/pool.ts";
import { repoDir } from "./cache.ts";
import { serverPrograms, startPostgres } from "./postgres.ts";

export const schemaFile = join(repoDir, "src/db/schema.sql");

const head = `-- The present schema, as the migrations leave it. Written by \`make schema\`; nothing reads it. Change the schema by a new
-- migration.

`;

/** Returns the schema of a database as SQL, without what depends on the server's version. */
export async function schemaOf(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    join(serverPrograms(), "pg_dump"),
    ["--schema-only", "--no-owner", url],
    { maxBuffer: 1 << 26 },
  );
  const lines = stdout
    .split("\n")
    .filter((line) => !/^(--|SET |SELECT pg_catalog\.set_config|\\)/.test(line));
  return (
    head +
    lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
      .concat("\n")
  );
}

const migrations = join(repoDir, "src/db/migrations");
/** A function's name, and the comment directly before it. */
const definition = /((?:^--.*\n)*)^create (?:or replace )?function (\w+)\(/gm;

/** Adds, above each function, the migration that defines it and the reasons that stand there: pg_dump knows none. */
export function withReasons(schema: string): string {
  const reasons = new Map<string, string>();
  for (const file of readdirSync(migrations).sort())
    for (const [, comment, name] of readFileSync(join(migrations, file), "utf8").matchAll(definition))
      reasons.set(name!, `-- migrations/${file}\n${comment}`);
  return schema.replace(
    /^CREATE FUNCTION public\.(\w+)/gm,
    (create, name: string) => (reasons.get(name) ?? "") + create,
  );
}

if (import.meta.main) {
  const dir = mkdtempSync(join(tmpdir(), "plosive-schema-"));
  // The server's own user must be able to enter it.
  chmodSync(dir, 0o755);
  const server = await startPostgres({ dir: join(dir, "postgres") });
  try {
    const db = await makeDatabase({ PLOSIVE_DATABASE_URL: server.url, PLOSIVE_DATABASE_POOL: 1 });
    await migrate(db);
    await db.end();
    writeFileSync(schemaFile, withReasons(await schemaOf(server.url)));
    console.log("wrote src/db/schema.sql");
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
