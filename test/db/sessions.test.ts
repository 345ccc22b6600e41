// At most 50 open sessions of a key, or of a user in an account, however many sign in at once.
import { randomBytes } from "node:crypto";
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { hashApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";
import { insertApiKey } from "../../src/db/api-key.ts";
import { insertSession, insertUserSession } from "../../src/db/dashboard-session.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertTenant } from "../support/rows.ts";

const database = useDatabase();
const by = { actorKeyId: null, ip: "192.0.2.7", requestId: "r1" };
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

/** How many sessions are open of each key and user, and whether the one with this digest is. */
async function open(tenant: string, digest: Buffer) {
  const row = z.object({ counts: z.array(z.number()), found: z.boolean(), ended: z.number() });
  return await database.pool.one(sql.type(row)`
    select array(select count(*) from dashboard_sessions where tenant_id = ${tenant}
        group by api_key_id, issuer, subject order by 1) as counts,
      exists (select from dashboard_sessions where digest = ${sql.binary(digest)}) as found,
      (select count(*) from audit_log where tenant_id = ${tenant} and action = 'session.ended' and request_id = 'r1') as ended`);
}

const starts: Record<string, (tenant: string) => Promise<() => Promise<Buffer>>> = {
  "a key": async (tenant) => {
    const key = makeApiKey(randomBytes);
    const prefix = prefixOf(key);
    const hash = hashApiKey(key);
    const made = await insertApiKey(database.pool, tenant, { name: "x", prefix, hash, expiresAt: null });
    return async () => {
      const digest = randomBytes(32);
      await insertSession(database.apiPool.asTenant(tenant), tenant, { digest, keyId: made!.id, prefix }, by);
      return digest;
    };
  },
  "a user": async (tenant) => {
    const user = {
      ...{ issuer: "https://login.example.com", subject: randomBytes(4).toString("hex"), name: "Ada" },
      ...{ role: "owner" as const, accounts: [] },
    };
    return async () => {
      const digest = randomBytes(32);
      await insertUserSession(database.apiPool.asTenant(tenant), tenant, digest, user, by);
      return digest;
    };
  },
};

it.each(Object.keys(starts))("%s keeps the 50 newest, and those of another one stay", async (whose) => {
  const tenant = await insertTenant(database.pool);
  const [start, startOther] = [await starts[whose]!(tenant), await starts[whose]!(tenant)];
  await times(2, startOther);
  const first = await start();
  const second = await start();
  await times(58, start);
  expect(await open(tenant, second)).toEqual({ counts: [2, 50], found: false, ended: 10 });
  const last = await start();
  expect(await open(tenant, last)).toMatchObject({ counts: [2, 50], found: true });
  expect(await open(tenant, first)).toMatchObject({ found: false, ended: 11 });
});

it("sessions that have ended by themselves take no place", async () => {
  const tenant = await insertTenant(database.pool);
  const start = await starts["a key"]!(tenant);
  const first = await start();
  await times(48, start);
  await database.execute(sql.fragment`
    update dashboard_sessions set last_used_at = now() - interval '31 minutes'
    where tenant_id = ${tenant} and digest <> ${sql.binary(first)}`);
  await times(10, start);
  expect(await open(tenant, first)).toMatchObject({ found: true, ended: 0 });
});
