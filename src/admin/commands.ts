// What plosive-admin can do: one function for each command, from its words to what is shown. Called by src/admin.ts.
import { z } from "zod";
import { hashApiKey, makeApiKey, prefixOf } from "../api/api-key-format.ts";
import { insertApiKey, listApiKeys, maybeOneOwnerOfKey, revokeApiKey } from "../db/api-key.ts";
import { embedAgain, manyDatasetsEmbeddedBefore, presentTime } from "../db/embedding-job.ts";
import type { DatabasePool } from "../db/pool.ts";
import { insertTenant, listTenants, maybeOneTenant, noteTenant, suspendTenant } from "../db/tenant.ts";
import { createApiKeyBody } from "../schemas/api-key.ts";

/** Not understood: exit code 2. */
export class UsageError extends Error {}
/** Understood and not possible: exit code 1, without a stack trace. */
export class Failure extends Error {}

export interface Input {
  /** After the two words of the command. */
  readonly given: readonly string[];
  readonly tenant?: string | undefined;
  readonly name?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly before?: string | undefined;
}

export interface Output {
  /** For --json. */
  readonly data: unknown;
  /** For people and pipes: lines, or columns. */
  readonly text: readonly (readonly string[])[];
  readonly hint?: string;
}

export interface CommandDeps {
  readonly random: (size: number) => Uint8Array;
  readonly now: () => number;
}

type Command = (db: DatabasePool, input: Input, deps: CommandDeps) => Promise<Output>;

const by = "plosive-admin";
const origin = { actorKeyId: null, ip: "", requestId: by };

export const commands: Readonly<Record<string, Command>> = {
  "tenants create": async (db, { given }) => {
    const name = one(given, "NAME");
    if (name.trim() === "" || name.length > 255) throw new UsageError("NAME has 1 to 255 characters");
    const id = await db.transaction(async (tx) => {
      const made = await insertTenant(tx, name);
      await noteTenant(tx, made, "tenant.created", by);
      return made;
    });
    return {
      data: { id, name },
      text: [[id]],
      hint: `Its first key: plosive-admin keys create --tenant ${id}`,
    };
  },
  "tenants list": async (db, { given }) => {
    none(given);
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
  "embeddings renew": async (db, { given, tenant, before }) => {
    none(given);
    const wanted = tenant === undefined ? null : await knownTenant(db, tenant);
    if (before !== undefined && !z.iso.datetime({ offset: true }).safeParse(before).success)
      throw new UsageError("--before is a time with offset");
    const until = before ?? (await presentTime(db));
    const found: { tenant_id: string; dataset_id: string; files: number; left_alone: number }[] = [];
    // Each dataset for itself: a lock of all would hold up everybody else.
    for (const { tenant: id, dataset } of await manyDatasetsEmbeddedBefore(db, wanted, until)) {
      const isFirst = !found.some((row) => row.tenant_id === id && row.files > 0);
      const { files, left_alone } = await db.transaction(async (tx) => {
        const again = await embedAgain(tx, dataset, until);
        if (isFirst && again.files > 0) await noteTenant(tx, id, "tenant.embedded_again", by);
        return again;
      });
      found.push({ tenant_id: id, dataset_id: dataset, files, left_alone });
    }
    const lines = found.map((row) => [
      row.tenant_id,
      row.dataset_id,
      String(row.files),
      String(row.left_alone),
    ]);
    const leftAlone = found.reduce((sum, row) => sum + row.left_alone, 0);
    const again = `plosive-admin embeddings renew${wanted === null ? "" : ` --tenant ${wanted}`} --before ${until}`;
    return {
      data: found,
      text: [["TENANT", "DATASET", "FILES", "LEFT ALONE"], ...lines],
      ...(leftAlone > 0 && {
        hint: `${leftAlone} files were left alone: training jobs of their datasets have not ended. When they have: ${again}`,
      }),
    };
  },
  "keys create": async (db, { given, tenant, name = "made by plosive-admin", expiresAt }, deps) => {
    none(given);
    const tenantId = await knownTenant(db, tenant);
    const fields = createApiKeyBody.safeParse({ name, expires_at: expiresAt });
    if (!fields.success)
      throw new UsageError("--name has 1 to 255 characters, --expires-at is a time with offset");
    const until = expiresAt === undefined ? null : new Date(expiresAt);
    if (until !== null && until.getTime() <= deps.now())
      throw new UsageError("--expires-at must be in the future");
    for (;;) {
      const key = makeApiKey(deps.random);
      const made = await insertApiKey(
        db,
        tenantId,
        { name, prefix: prefixOf(key), hash: hashApiKey(key), expiresAt: until?.toISOString() ?? null },
        { by: origin },
      );
      // Else another key of the tenant begins with the same 8 characters.
      if (made !== null)
        return {
          data: { id: made.id, tenant_id: tenantId, name, expires_at: iso(made.expires_at), key },
          text: [[key]],
          hint: `Nobody can show it again. To revoke it: plosive-admin keys revoke ${made.id}`,
        };
    }
  },
  "keys list": async (db, { given, tenant }) => {
    none(given);
    const rows = await listApiKeys(db, await knownTenant(db, tenant));
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
      text: [["ID", "BEGINS", "NAME", "CREATED", "EXPIRES", "LAST USED"], ...lines.map(dashed)],
    };
  },
  "keys revoke": async (db, { given }) => {
    const id = uuid(one(given, "KEY_ID"), "KEY_ID");
    const tenantId = await maybeOneOwnerOfKey(db, id);
    if (tenantId === null || !(await revokeApiKey(db, tenantId, id, origin)))
      throw new Failure(
        `There is no key ${id}, or it is revoked already. See: plosive-admin keys list --tenant ID`,
      );
    return { data: { id, tenant_id: tenantId, revoked: true }, text: [], hint: `Revoked ${id}` };
  },
};

async function suspend(db: DatabasePool, { given }: Input, isSuspended: boolean): Promise<Output> {
  const id = await knownTenant(db, one(given, "TENANT_ID"));
  const changed = await db.transaction(async (tx) => {
    const done = await suspendTenant(tx, id, isSuspended);
    if (done) await noteTenant(tx, id, isSuspended ? "tenant.suspended" : "tenant.resumed", by);
    return done;
  });
  const state = isSuspended ? "suspended" : "not suspended";
  return {
    data: { id, suspended: isSuspended },
    text: [],
    hint: `${id} is ${changed ? "now" : "already"} ${state}`,
  };
}

async function knownTenant(db: DatabasePool, given: string | undefined): Promise<string> {
  if (given === undefined) throw new UsageError("--tenant TENANT_ID is missing");
  const id = uuid(given, "TENANT_ID");
  if ((await maybeOneTenant(db, id)) === null)
    throw new Failure(`There is no tenant ${id}. See: plosive-admin tenants list`);
  return id;
}

function one(given: readonly string[], what: string): string {
  const [value, more] = given;
  if (value === undefined) throw new UsageError(`${what} is missing`);
  if (more !== undefined)
    throw new UsageError(`"${more}" is one word too many; quote a ${what} that has spaces`);
  return value;
}

function none(given: readonly string[]): void {
  if (given[0] !== undefined) throw new UsageError(`"${given[0]}" is one word too many`);
}

function uuid(text: string, what: string): string {
  const parsed = z.guid().safeParse(text);
  if (!parsed.success) throw new UsageError(`${what} must be a UUID, not "${text}"`);
  return parsed.data.toLowerCase();
}

/** Null stays null: JSON says so. */
function iso<T extends number | null>(time: T): T extends number ? string : string | null {
  return (time === null ? null : new Date(time).toISOString()) as T extends number ? string : string | null;
}

const dashed = (line: readonly (string | null)[]): string[] => line.map((cell) => cell ?? "-");
