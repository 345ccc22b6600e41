// plosive-admin: manages tenants, API keys, sessions, sign-in links, embeddings and installations. Administrators run it in the
// operator's pod: `kubectl exec deploy/RELEASE-operator -- plosive-admin ...`, or directly: `node src/admin.ts ...`. stdout
// holds only the result, so that it can be piped; hints go to stderr. Exit codes: 0 success, 1 failure, 2 wrong usage.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { type CommandDeps, commands, Failure, UsageError } from "./admin/commands.ts";
import { adminConfig } from "./config.ts";
import { type DatabasePool, makeDatabase, statementTimeoutMs } from "./db/driver/pool.ts";

const usage = `Usage: plosive-admin COMMAND [--json]

  tenants create NAME                create an account; prints its id
  tenants list                       list all accounts
  tenants suspend TENANT_ID          refuse all keys of an account, from the next request on
  tenants resume TENANT_ID           accept the keys of an account again
  tenants erase TENANT_ID --name NAME
                                     delete an account and all of its data permanently; can be repeated
                                     after an interruption. --name repeats its name as a confirmation
  keys create --tenant TENANT_ID [--name NAME] [--expires-at TIME]
                                     create a key; prints it this one time only
  keys list --tenant TENANT_ID       list the keys of an account by id and prefix
  keys revoke KEY_ID                 refuse a key permanently, from the next request on
  sessions list --tenant TENANT_ID   list the open sessions of the dashboard, with their users or keys
  sessions end --tenant TENANT_ID [--subject SUBJECT]
                                     end all sessions of an account, or those of one user
  sign-in-link --tenant TENANT_ID [--key KEY_ID]
                                     create a link that signs in to the dashboard once, within 10
                                     minutes, with this key or a new one; prints its path
  embeddings renew [--tenant TENANT_ID] [--before TIME]
                                     embed audio files again, including files that failed: after an
                                     upgrade that requires it, or after a change of encoder;
                                     --before skips files that were embedded at TIME or later
  installations list                 list the installations on this database, whether their operators
                                     run, and how many jobs have not ended
  installations move FROM TO         hand the jobs of an installation that is gone for good to another one

TIME includes an offset, for example 2027-12-31T23:59:59Z. --json prints objects instead of text.
PLOSIVE_DATABASE_URL or PLOSIVE_DATABASE_URL_FILE names the database.
`;

export interface AdminDeps extends CommandDeps {
  readonly database: () => Promise<DatabasePool>;
  readonly out: (text: string) => void;
}

/** Runs one command and returns the exit code. */
export async function runAdmin(args: readonly string[], deps: AdminDeps): Promise<0 | 1 | 2> {
  try {
    const { values, positionals } = parseArguments(args);
    if (values.help || positionals.length === 0) {
      deps.out(usage);
      return values.help ? 0 : 2;
    }
    const command = commands[positionals.slice(0, 2).join(" ")];
    if (command === undefined)
      throw new UsageError(`there is no command "${positionals.slice(0, 2).join(" ")}"`);
    const input = { operands: positionals.slice(2), ...values, expiresAt: values["expires-at"] };
    const db = await deps.database();
    try {
      const { data, text, hint } = await command(db, input, deps);
      deps.out(values.json ? `${JSON.stringify(data)}\n` : alignColumns(text));
      if (hint !== undefined) deps.err(`${hint}\n`);
    } finally {
      await db.end();
    }
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof UsageError) {
      deps.err(`plosive-admin: ${message}\nSee: plosive-admin --help\n`);
      return 2;
    }
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    // The API's pod contains this program too, but its database user may not take the role plosive_admin.
    const isPermissionDenied = error instanceof Error && "code" in error && error.code === "42501";
    const hint = isPermissionDenied
      ? "\nRun it in the operator's pod: kubectl exec deploy/RELEASE-operator -- plosive-admin"
      : "";
    deps.err(`plosive-admin: ${message}${error instanceof Failure ? "" : cause}${hint}\n`);
    return 1;
  }
}

function parseArguments(args: readonly string[]) {
  const options = {
    tenant: { type: "string" },
    name: { type: "string" },
    key: { type: "string" },
    subject: { type: "string" },
    before: { type: "string" },
    "expires-at": { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  const rows = lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return rows.map((row) => `${row}\n`).join("");
}

// At the end of the file: it uses constants that must be initialized first.
if (import.meta.main) {
  process.exitCode = await runAdmin(process.argv.slice(2), {
    database: () =>
      makeDatabase(
        { ...adminConfig(), PLOSIVE_DATABASE_POOL: 1 },
        statementTimeoutMs.operator,
        "plosive_admin",
      ),
    random: randomBytes,
    now: Date.now,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
}
