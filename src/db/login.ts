// The database users that API and operator log in as: made by the bootstrap Job where the owner may do so, and checked
// where an administrator made them. They have the rights of their roles (migration 0004) and no others.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import type { Role } from "./pool.ts";

/** `refused`: there is no such user, its password is another one, or it may not take the role. */
type Attempt = "works" | "refused";

/**
 * Sees to it that the user of `address` can log in and take the roles; makes it, or gives it its password, as the owner.
 * Rejects with what an administrator has to do when the owner may not. Running it again changes nothing.
 */
export async function ensureLogin(owner: string, address: string, roles: readonly Role[]): Promise<void> {
  if ((await attempt(address, roles)) === "works") return;
  await asOwner(owner, address, roles);
  if ((await attempt(address, roles)) === "refused")
    throw new Error(`the database user ${userOf(address).name} was made, but cannot log in`);
}

/** Whether what this user does by mistake is held back by nothing: superusers, owners of the tables and the like. */
export async function isAboveRowSecurity(address: string): Promise<boolean> {
  return await withClient(address, async (client) => {
    const found = await client.query<{ above: boolean }>(`
      select rolsuper or rolbypassrls or coalesce((
          select pg_has_role(session_user, relowner, 'member') from pg_class where oid = to_regclass('tenants')
        ), false) as above
      from pg_roles where rolname = session_user`);
    return found.rows[0]?.above ?? false;
  });
}

async function attempt(address: string, roles: readonly Role[]): Promise<Attempt> {
  try {
    await withClient(address, async (client) => {
      for (const role of roles) await client.query(`set role ${escapeIdentifier(role)}`);
    });
    return "works";
  } catch (error) {
    if (isRefused(error)) return "refused";
    throw error;
  }
}

// Wrong password or unknown user; no such role; not a member of it.
const refusals = ["28000", "28P01", "22023", "42501"];
const isRefused = (error: unknown) =>
  error instanceof Error && "code" in error && refusals.includes(String(error.code));

async function asOwner(owner: string, address: string, roles: readonly Role[]): Promise<void> {
  const { name, password } = userOf(address);
  const user = escapeIdentifier(name);
  try {
    await withClient(owner, async (client) => {
      if (name !== userOf(owner).name) {
        const present = await client.query("select from pg_roles where rolname = $1", [name]);
        if (present.rowCount === 0) await client.query(`create role ${user} noinherit`);
        // The server gets what it keeps of a password and never the password: statements may be logged.
        await client.query(`alter role ${user} login password ${escapeLiteral(scramVerifier(password))}`);
      }
      await client.query(`grant ${roles.join(", ")} to ${user}`);
    });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "42501")) throw error;
    const isItself = name === userOf(owner).name;
    const create = isItself ? "" : `create role ${user} login noinherit password '...'; `;
    const what = isItself ? `take the role ${roles.join(" or ")}` : `make the database user ${name}`;
    throw new Error(
      `${userOf(owner).name} may not ${what}. Let an administrator run: ${create}grant ${roles.join(", ")} to ${user};`,
      { cause: error },
    );
  }
}

function userOf(address: string): { name: string; password: string } {
  const url = new URL(address);
  return { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
}

/** What Postgres stores of a password (RFC 5803), in its own notation. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, iterations, 32, "sha256");
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`;
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 3_000 });
  // What fails rejects where it was asked for.
  client.on("error", () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
