// Batched look-ups of API keys: each request gets the answer that it would get alone, based on data from after its
// arrival.
import { randomBytes } from "node:crypto";
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { hashApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";
import { insertApiKey } from "../../src/db/api-key.ts";
import { makeFindCaller } from "../../src/db/callers.ts";
import { isDatabaseUnavailable } from "../../src/db/driver/errors.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { type DatabasePool, makeDatabase } from "../../src/db/driver/pool.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { untilLocked } from "../support/locks.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

const database = useDatabase();
const none = sql.type(z.object({}));
// Five at once, and then one in 100 seconds.
const rate = { gap: 100, span: 500 };
const rates = { rate, policy: 1, policyRate: rate };

async function makeKey(): Promise<{ tenantId: string; hash: Buffer }> {
  const tenantId = await insertTenant(database.pool, "callers");
  const key = makeApiKey(randomBytes);
  const hash = hashApiKey(key);
  await insertApiKey(database.pool, tenantId, { name: "one", prefix: prefixOf(key), hash, expiresAt: null });
  return { tenantId, hash };
}

/** Wraps the pool and counts its statements. */
function counted(db: Db): { db: Db; sent: () => number } {
  let count = 0;
  const any: Db["any"] = (query) => {
    count += 1;
    return db.any(query);
  };
  return { db: { ...db, any }, sent: () => count };
}

it("requests with one key that arrive together share look-ups and are charged one by one", async () => {
  const { tenantId, hash } = await makeKey();
  const { db, sent } = counted(database.pool);
  const findCaller = makeFindCaller(db);
  const callers = await Promise.all(Array.from({ length: 20 }, () => findCaller(hash, rates)));
  expect(sent()).toBe(2);
  expect(callers.map((caller) => caller?.tenant_id)).toEqual(Array(20).fill(tenantId));
  expect(callers.filter((caller) => caller?.admitted)).toHaveLength(5);
  // The admitted requests are the first five, in the order of their arrival.
  expect(callers.slice(0, 5).every((caller) => caller?.admitted)).toBe(true);
});

/** Locks the row of the tenant's rate limits until release(), so that look-ups block. */
async function holdRates(tenantId: string): Promise<{ release(): Promise<void> }> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const done = database.pool.transaction(async (tx) => {
    await tx.query(none`select from rate_limits where tenant_id = ${tenantId} for update`);
    held.resolve();
    await released.promise;
  });
  await held.promise;
  return {
    release: () => {
      released.resolve();
      return done;
    },
  };
}

it("requests with different keys do not wait for each other", async () => {
  const [one, two] = [await makeKey(), await makeKey()];
  const findCaller = makeFindCaller(database.pool);
  await findCaller(one.hash, rates);
  const { release } = await holdRates(one.tenantId);
  const waiting = findCaller(one.hash, rates);
  expect((await findCaller(two.hash, rates))?.tenant_id).toBe(two.tenantId);
  await release();
  expect((await waiting)?.tenant_id).toBe(one.tenantId);
});

it("a key that is revoked during a look-up is unknown to every request that arrives afterwards", async () => {
  const { tenantId, hash } = await makeKey();
  const findCaller = makeFindCaller(database.pool);
  await findCaller(hash, rates);
  const { release } = await holdRates(tenantId);
  const before = findCaller(hash, rates);
  await untilLocked(database.pool);
  await database.pool.query(
    none`update api_keys set revoked_at = now() where key_hash = ${sql.binary(hash)}`,
  );
  const after = findCaller(hash, rates);
  await release();
  expect((await before)?.tenant_id).toBe(tenantId);
  expect(await after).toBeNull();
});

/** A pool that reaches the database through a proxy. */
async function withProxy(work: (pool: DatabasePool, proxy: TestProxy) => Promise<void>): Promise<void> {
  const proxy = await startProxy(database.url);
  const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 2 });
  try {
    await work(pool, proxy);
  } finally {
    await pool.end();
    await proxy.stop();
  }
}

const isUnavailable = (result: PromiseSettledResult<unknown>) =>
  result.status === "rejected" && isDatabaseUnavailable(result.reason);

it("a failed look-up fails for all requests that share it, and the next one succeeds", async () => {
  const { tenantId, hash } = await makeKey();
  await withProxy(async (pool, proxy) => {
    const findCaller = makeFindCaller(pool);
    proxy.cut();
    const results = await Promise.allSettled([1, 2, 3].map(() => findCaller(hash, rates)));
    expect(results.map(isUnavailable)).toEqual([true, true, true]);
    proxy.heal();
    expect((await findCaller(hash, rates))?.tenant_id).toBe(tenantId);
  });
});

it("during a database outage no request waits for more than one look-up", async () => {
  const { hash } = await makeKey();
  await withProxy(async (pool, proxy) => {
    const { db, sent } = counted(pool);
    const findCaller = makeFindCaller(db);
    proxy.cut();
    const lookUps = await Promise.allSettled(Array.from({ length: 200 }, () => findCaller(hash, rates)));
    expect(lookUps.every(isUnavailable)).toBe(true);
    expect(sent()).toBe(1);
  });
});

it("the first requests of a tenant are all admitted, however many processes receive them at once", async () => {
  const processes = Array.from({ length: 8 }, () => makeFindCaller(database.pool));
  for (let round = 0; round < 150; round++) {
    const { hash } = await makeKey();
    const wide = { gap: 1, span: 100 };
    const lookUps = processes.map((find) => find(hash, { rate: wide, policy: 1, policyRate: wide }));
    expect((await Promise.all(lookUps)).map((caller) => caller?.admitted)).toEqual(Array(8).fill(true));
  }
});
