// The database users of API and operator. The bootstrap Job creates them if the owner may do so; otherwise an
// administrator creates them and this file checks them. They have only the rights of their roles (migration 0004).
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { hasCode } from "./errors.ts";
import type { Role } from "./pool.ts";

/**
 * Ensures that the user of the URL `address` can log in and take the roles. If not, it creates the user or sets its
 * password as the owner. If the owner may not do so, it rejects with the SQL that an administrator must run.
 * Idempotent.
 */
export async function ensureLogin(owner: string, address: string, roles: readonly Role[]): Promise<void> {
  if (await canLogIn(address, roles)) return;
  await createLogin(owner, address, roles);
  if (!(await canLogIn(address, roles)))
    throw new Error(`the database user ${userOf(address).name} was created, but cannot log in`);
}

/** Whether row-level security does not apply to this user: superusers, BYPASSRLS, and members of the tables' owner. */
export async function bypassesRowSecurity(address: string): Promise<boolean> {
  return await withClient(address, async (client) => {
    const found = await client.query<{ above: boolean }>(`
      select rolsuper or rolbypassrls or coalesce((
          select pg_has_role(session_user, relowner, 'member') from pg_class where oid = to_regclass('tenants')
        ), false) as above
      from pg_roles where rolname = session_user`);
    return found.rows[0]?.above ?? false;
  });
}

/** False: the user does not exist, the password is wrong, or the user is not a member of a role. */
async function canLogIn(address: string, roles: readonly Role[]): Promise<boolean> {
  try {
    await withClient(address, async (client) => {
      for (const role of roles) await client.query(`set role ${escapeIdentifier(role)}`);
    });
    return true;
  } catch (error) {
    // Wrong password or unknown user; no such role; not a member of it.
    if (hasCode(error, /^(28000|28P01|22023|42501)$/)) return false;
    throw error;
  }
}

async function createLogin(owner: string, address: string, roles: readonly Role[]): Promise<void> {
  const { name, password } = userOf(address);
  const user = escapeIdentifier(name);
  const isItself = name === userOf(owner).name;
  try {
    await withClient(owner, async (client) => {
      // From Postgres 16 on, an owner may be allowed to create the user but not to grant the roles. Then no user without
      // roles is left, and the statements in the error below can be run as they are.
      await client.query("begin");
      if (!isItself) {
        const present = await client.query("select from pg_roles where rolname = $1", [name]);
        if (present.rowCount === 0) await client.query(`create role ${user} noinherit`);
        // Sends the SCRAM verifier that the server stores, never the password: statements may be logged.
        await client.query(`alter role ${user} login password ${escapeLiteral(scramVerifier(password))}`);
      }
      await client.query(`grant ${roles.join(", ")} to ${user}`);
      await client.query("commit");
    });
  } catch (error) {
    if (!hasCode(error, /^42501$/)) throw error;
    const create = isItself ? "" : `create role ${user} login noinherit password '...'; `;
    const what = isItself ? `take the role ${roles.join(" or ")}` : `create the database user ${name}`;
    throw new Error(
      `${userOf(owner).name} may not ${what}. An administrator must run: ${create}grant ${roles.join(", ")} to ${user};`,
      { cause: error },
    );
  }
}

function userOf(address: string): { name: string; password: string } {
  const url = new URL(address);
  return { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
}

/** Returns the SCRAM verifier that Postgres stores for a password (RFC 5803), in Postgres's notation. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, iterations, 32, "sha256");
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`;
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: address,
    connectionTimeoutMillis: 3_000,
    // A pooler that has lost its server lets clients log in, and does not answer.
    query_timeout: 10_000,
  });
  // Failed calls reject by themselves; without a handler the event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
