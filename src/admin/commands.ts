// The commands of plosive-admin: one function for each, from its operands and options to its output. Called by
// src/admin.ts.
import { z } from "zod";
import { hashApiKey, makeApiKey, prefixOf } from "../api/api-key-format.ts";
import { digestOf, makeToken } from "../api/dashboard/token.ts";
import {
  type ApiKeyRow,
  insertApiKey,
  listApiKeys,
  maybeOneOwnerOfKey,
  revokeApiKey,
} from "../db/api-key.ts";
import { endSessions, insertSignInLink, listSessions } from "../db/dashboard-session.ts";
import type { DatabasePool } from "../db/driver/pool.ts";
import { manyDatasetsEmbeddedBefore, presentTime, renewEmbeddings } from "../db/operator/embedding-job.ts";
import { manyInstallations, moveJobs } from "../db/operator/installation.ts";
import {
  auditTenant,
  beginErasure,
  erasePiece,
  insertTenant,
  listTenants,
  maybeOneTenant,
  suspendTenant,
} from "../db/tenant.ts";
import { createApiKeyBody } from "../schemas/api-key.ts";

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {}
/** The command line is right but the command cannot be done: exit code 1, printed without its cause. */
export class Failure extends Error {}

export interface Input {
  /** The arguments after the two words of the command. */
  readonly operands: readonly string[];
  readonly tenant?: string | undefined;
  readonly name?: string | undefined;
  readonly key?: string | undefined;
  readonly subject?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly before?: string | undefined;
}

export interface Output {
  /** Printed with --json. */
  readonly data: unknown;
  /** Printed without --json: lines of cells, which the caller aligns in columns. */
  readonly text: readonly (readonly string[])[];
  readonly hint?: string;
}

export interface CommandDeps {
  readonly random: (size: number) => Uint8Array;
  readonly now: () => number;
  /** Writes progress to stderr. */
  readonly err: (text: string) => void;
}

type Command = (db: DatabasePool, input: Input, deps: CommandDeps) => Promise<Output>;

const by = "plosive-admin";
const origin = { actorKeyId: null, ip: "", requestId: by };
const linkKeyMs = 9 * 60 * 60 * 1_000;

export const commands: Readonly<Record<string, Command>> = {
  "tenants create": async (db, { operands }) => {
    const name = onlyOperand(operands, "NAME");
    if (name.trim() === "" || name.length > 255)
      throw new UsageError("NAME must have 1 to 255 characters and must not be blank");
    const id = await db.transaction(async (tx) => {
      const made = await insertTenant(tx, name);
      await auditTenant(tx, made, "tenant.created", by);
      return made;
    });
    return {
      data: { id, name },
      text: [[id]],
      hint: `To create its first key: plosive-admin keys create --tenant ${id}`,
    };
  },
  "tenants list": async (db, { operands }) => {
    refuseOperands(operands);
    const rows = await listTenants(db);
    const data = rows.map((row) => ({
      ...row,
      created_at: iso(row.created_at),
      suspended_at: iso(row.suspended_at),
    }));
    const lines = data.map((row) => [row.id, row.name, String(row.keys), row.created_at, row.suspended_at]);
    return { data, text: [["ID", "NAME", "KEYS", "CREATED", "SUSPENDED"], ...lines.map(dashed)] };
  },
  "tenants suspend": (db, input) => suspend(db, input, true),
  "tenants resume": (db, input) => suspend(db, input, false),
  "tenants erase": async (db, { operands, name }, { err }) => {
    const id = uuid(onlyOperand(operands, "TENANT_ID"), "TENANT_ID");
    const tenant = await maybeOneTenant(db, id);
    if (tenant !== null && name !== tenant.name)
      throw new UsageError(`--name must repeat the name of the account, "${tenant.name}"`);
    const jobs = await beginErasure(db, id);
    if (jobs > 0)
      throw new Failure(
        `${jobs} jobs of the account have not ended. It is suspended and its jobs are being cancelled; run the command again in a minute`,
      );
    const rows = new Map<string, number>();
    for (;;) {
      const { part, deleted } = await erasePiece(db, id);
      if (part === null) {
        if (tenant === null && rows.size === 0 && deleted === 0)
          throw new Failure(`There is no tenant ${id}, and nothing is left of it`);
        return {
          data: { id, rows: Object.fromEntries(rows), objects_left: deleted },
          text: [["TABLE", "ROWS"], ...[...rows].map(([table, count]) => [table, String(count)])],
          hint:
            deleted === 0
              ? `Nothing is left of tenant ${id}, except for backups and logs`
              : `The operator still has to delete ${deleted} objects and resources of tenant ${id}; run the command again to see how many are left`,
        };
      }
      rows.set(part, (rows.get(part) ?? 0) + deleted);
      err(`${part}: ${rows.get(part)} rows deleted\n`);
    }
  },
  "embeddings renew": async (db, { operands, tenant, before }) => {
    refuseOperands(operands);
    const wanted = tenant === undefined ? null : await existingTenant(db, tenant);
    if (before !== undefined && !z.iso.datetime({ offset: true }).safeParse(before).success)
      throw new UsageError("--before must be a time with an offset");
    const until = before ?? (await presentTime(db));
    const found: { tenant_id: string; dataset_id: string; files: number; left_alone: number }[] = [];
    // One transaction for each dataset: locking all of them at once would block other clients.
    for (const { tenant: id, dataset } of await manyDatasetsEmbeddedBefore(db, wanted, until)) {
      const isFirst = !found.some((row) => row.tenant_id === id && row.files > 0);
      const { files, left_alone } = await db.transaction(async (tx) => {
        const counts = await renewEmbeddings(tx, dataset, until);
        if (isFirst && counts.files > 0) await auditTenant(tx, id, "tenant.embedded_again", by);
        return counts;
      });
      found.push({ tenant_id: id, dataset_id: dataset, files, left_alone });
    }
    const lines = found.map((row) => [
      row.tenant_id,
      row.dataset_id,
      String(row.files),
      String(row.left_alone),
    ]);
    const skipped = found.reduce((sum, row) => sum + row.left_alone, 0);
    const again = `plosive-admin embeddings renew${wanted === null ? "" : ` --tenant ${wanted}`} --before ${until}`;
    return {
      data: found,
      text: [["TENANT", "DATASET", "FILES", "SKIPPED"], ...lines],
      ...(skipped > 0 && {
        hint: `${skipped} files were skipped: training jobs of their datasets have not ended. After they end, run: ${again}`,
      }),
    };
  },
  "installations list": async (db, { operands }) => {
    refuseOperands(operands);
    const data = (await manyInstallations(db)).map(({ silent_seconds: _, seen_at, ...row }) => ({
      ...row,
      seen_at: iso(seen_at),
    }));
    const lines = data.map(({ name, is_running, seen_at, open_jobs }) => [
      name,
      is_running ? "yes" : "no",
      seen_at,
      String(open_jobs),
    ]);
    return { data, text: [["NAME", "RUNNING", "SEEN", "OPEN JOBS"], ...lines.map(dashed)] };
  },
  "installations move": async (db, { operands }) => {
    const [from, to, more] = operands;
    if (from === undefined || to === undefined || more !== undefined || from === to)
      throw new UsageError("give the names of two installations: FROM TO");
    const known = await manyInstallations(db);
    if (!known.some(({ name }) => name === from))
      throw new Failure(`There is no installation ${from}. See: plosive-admin installations list`);
    // Otherwise the jobs would wait for an operator that may not exist.
    if (!known.some(({ name, is_running }) => name === to && is_running))
      throw new Failure(`No operator works for the installation ${to}; start it first, and check the name`);
    const jobs = await moveJobs(db, from, to);
    if (jobs === null)
      throw new Failure(
        `The operator of ${from} still runs. Stop it and its pods first, and run the command again after half a minute`,
      );
    return { data: { from, to, jobs }, text: [], hint: `Jobs moved from ${from} to ${to}: ${jobs}` };
  },
  "keys create": async (db, { operands, tenant, name = "made by plosive-admin", expiresAt }, deps) => {
    refuseOperands(operands);
    const tenantId = await existingTenant(db, tenant);
    const fields = createApiKeyBody.safeParse({ name, expires_at: expiresAt });
    if (!fields.success)
      throw new UsageError(
        "--name must have 1 to 255 characters; --expires-at must be a time with an offset",
      );
    const until = expiresAt === undefined ? null : new Date(expiresAt);
    if (until !== null && until.getTime() <= deps.now())
      throw new UsageError("--expires-at must be in the future");
    const { key, made } = await newKey(db, tenantId, { name, until }, deps);
    return {
      data: { id: made.id, tenant_id: tenantId, name, expires_at: iso(made.expires_at), key },
      text: [[key]],
      hint: `The key cannot be shown again. To revoke it: plosive-admin keys revoke ${made.id}`,
    };
  },
  "keys list": async (db, { operands, tenant }) => {
    refuseOperands(operands);
    const rows = await listApiKeys(db, await existingTenant(db, tenant));
    const data = rows.map((row) => ({
      ...row,
      created_at: iso(row.created_at),
      expires_at: iso(row.expires_at),
      last_used_at: iso(row.last_used_at),
    }));
    const lines = data.map((row) => [
      row.id,
      row.key_prefix,
      row.name,
      row.created_at,
      row.expires_at,
      row.last_used_at,
    ]);
    return {
      data,
      text: [["ID", "PREFIX", "NAME", "CREATED", "EXPIRES", "LAST USED"], ...lines.map(dashed)],
    };
  },
  "keys revoke": async (db, { operands }) => {
    const id = uuid(onlyOperand(operands, "KEY_ID"), "KEY_ID");
    const tenantId = await maybeOneOwnerOfKey(db, id);
    if (tenantId === null || !(await revokeApiKey(db, tenantId, id, origin)))
      throw new Failure(
        `There is no key ${id}, or it is revoked already. See: plosive-admin keys list --tenant TENANT_ID`,
      );
    return { data: { id, tenant_id: tenantId, revoked: true }, text: [], hint: `Revoked ${id}` };
  },
  "sessions list": async (db, { operands, tenant }) => {
    refuseOperands(operands);
    const rows = await listSessions(db, await existingTenant(db, tenant));
    const data = rows.map((row) => ({
      ...row,
      created_at: iso(row.created_at),
      last_used_at: iso(row.last_used_at),
    }));
    const lines = data.map((row) => [
      row.user_name,
      row.subject,
      row.role,
      row.key_prefix,
      row.created_at,
      row.last_used_at,
    ]);
    return { data, text: [["USER", "SUBJECT", "ROLE", "KEY", "STARTED", "LAST USED"], ...lines.map(dashed)] };
  },
  "sessions end": async (db, { operands, tenant, subject }) => {
    refuseOperands(operands);
    const tenantId = await existingTenant(db, tenant);
    const ended = await endSessions(db, tenantId, subject ?? null, by);
    const who = subject === undefined ? "" : ` of the user ${subject}`;
    return { data: { tenant_id: tenantId, ended }, text: [], hint: `Sessions ended${who}: ${ended}` };
  },
  "sign-in-link": async (db, { operands, tenant, key }, deps) => {
    refuseOperands(operands);
    const tenantId = await existingTenant(db, tenant);
    const keyId =
      key === undefined
        ? // Nobody knows this key, so it needs to last no longer than the link and its session.
          (
            await newKey(
              db,
              tenantId,
              { name: "sign-in link", until: new Date(deps.now() + linkKeyMs) },
              deps,
            )
          ).made.id
        : uuid(key, "KEY_ID");
    const token = makeToken(deps.random);
    if (!(await insertSignInLink(db, tenantId, { digest: digestOf(token), keyId }, origin)))
      throw new Failure(
        `The account has no key ${keyId}, or it is revoked. See: plosive-admin keys list --tenant ${tenantId}`,
      );
    // In the fragment, because browsers do not send it: no proxy and no log gets the token.
    const path = `/dashboard/sign-in#token=${token}`;
    return {
      data: { tenant_id: tenantId, key_id: keyId, path },
      text: [[path]],
      hint: "Open it within 10 minutes behind the address of the service, such as https://plosive.example.com. It works once.",
    };
  },
};

/** Creates a key of the tenant. */
async function newKey(
  db: DatabasePool,
  tenantId: string,
  { name, until }: { name: string; until: Date | null },
  { random }: CommandDeps,
): Promise<{ key: string; made: ApiKeyRow }> {
  for (;;) {
    const key = makeApiKey(random);
    const fields = {
      name,
      prefix: prefixOf(key),
      hash: hashApiKey(key),
      expiresAt: until?.toISOString() ?? null,
    };
    const made = await insertApiKey(db, tenantId, fields, { by: origin });
    // Null: another key of the tenant begins with the same 8 characters. Try again with a new key.
    if (made !== null) return { key, made };
  }
}

async function suspend(db: DatabasePool, { operands }: Input, isSuspended: boolean): Promise<Output> {
  const id = await existingTenant(db, onlyOperand(operands, "TENANT_ID"));
  const changed = await db.transaction(async (tx) => {
    const done = await suspendTenant(tx, id, isSuspended);
    if (done) await auditTenant(tx, id, isSuspended ? "tenant.suspended" : "tenant.resumed", by);
    return done;
  });
  const state = isSuspended ? "suspended" : "not suspended";
  return {
    data: { id, suspended: isSuspended },
    text: [],
    hint: `Tenant ${id} is ${changed ? "now" : "already"} ${state}`,
  };
}

async function existingTenant(db: DatabasePool, given: string | undefined): Promise<string> {
  if (given === undefined) throw new UsageError("--tenant TENANT_ID is missing");
  const id = uuid(given, "TENANT_ID");
  if ((await maybeOneTenant(db, id)) === null)
    throw new Failure(`There is no tenant ${id}. See: plosive-admin tenants list`);
  return id;
}

function onlyOperand(operands: readonly string[], what: string): string {
  const [value, more] = operands;
  if (value === undefined) throw new UsageError(`${what} is missing`);
  if (more !== undefined)
    throw new UsageError(`unexpected argument "${more}"; quote a ${what} that contains spaces`);
  return value;
}

function refuseOperands(operands: readonly string[]): void {
  if (operands[0] !== undefined) throw new UsageError(`unexpected argument "${operands[0]}"`);
}

function uuid(text: string, what: string): string {
  const parsed = z.guid().safeParse(text);
  if (!parsed.success) throw new UsageError(`${what} must be a UUID, not "${text}"`);
  return parsed.data.toLowerCase();
}

/** RFC 3339 in UTC; null stays null, for the output of --json. */
function iso<T extends number | null>(time: T): T extends number ? string : string | null {
  return (time === null ? null : new Date(time).toISOString()) as T extends number ? string : string | null;
}

const dashed = (line: readonly (string | null)[]): string[] => line.map((cell) => cell ?? "-");
