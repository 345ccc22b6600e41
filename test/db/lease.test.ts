// The lease: a lock across processes that occupies no connection while its holder works.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import type { Db } from "../../src/db/driver/page.ts";
import { takeLease, withLease } from "../../src/db/lease.ts";
import { poll } from "../support/poll.ts";
import { execute, useDatabase } from "../support/postgres.ts";
import { insertTenant } from "../support/rows.ts";

const database = useDatabase();
let tenant: string;
let db: Db;
beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  db = database.apiPool.asTenant(tenant);
});
const busy = { code: "request_in_progress" };

describe("a lease", () => {
  it("is held while its work runs, without a connection, and released afterwards, also after a failure", async () => {
    const id = randomUUID();
    const second = () => withLease(db, tenant, id, async () => "second", 0);
    await withLease(db, tenant, id, async () => {
      expect(database.apiPool.state().acquiredConnections).toBe(0);
      await expect(second()).rejects.toMatchObject(busy);
    });
    expect(await second()).toBe("second");
    await expect(withLease(db, tenant, id, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await second()).toBe("second");
  });

  it("is passed on to one of those that wait", async () => {
    const id = randomUUID();
    const release = Promise.withResolvers<void>();
    let attempts = 0;
    const query: Db["query"] = (statement) => {
      attempts += 1;
      return db.query(statement);
    };
    let running = 0;
    let most = 0;
    const all = Array.from({ length: 5 }, (_, i) =>
      withLease({ ...db, query }, tenant, id, async () => {
        running += 1;
        most = Math.max(most, running);
        await release.promise;
        running -= 1;
        return i;
      }),
    );
    // One success, and two failed attempts of each of the others.
    await poll("the others to wait", () => attempts >= 9 || most > 1);
    release.resolve();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(1);
  });

  it("rests after its release, and a renewal that comes late does not prolong the rest", async () => {
    const ids = [randomUUID(), randomUUID()];
    const leases = [await takeLease(db, tenant, ids, 0), await takeLease(db, tenant, ids, 0)];
    expect(await takeLease(db, tenant, ids, 0)).toBeUndefined();
    await leases[0]!.release(800);
    await expect(leases[0]!.requireHeld()).rejects.toMatchObject(busy);
    const begun = performance.now();
    const third = await takeLease(db, tenant, ids, 5_000);
    expect(performance.now() - begun).toBeGreaterThan(700);
    await third!.release();
    await leases[1]!.release();
  });

  it("is free soon after a database that failed at its release has come back", async () => {
    const id = randomUUID();
    let isAway = false;
    const query: Db["query"] = async (statement) => {
      if (isAway) throw new Error("the database is away");
      return await db.query(statement);
    };
    const lease = await takeLease({ ...db, query }, tenant, [id], 0);
    isAway = true;
    await lease!.release();
    expect(await takeLease(db, tenant, [id], 0)).toBeUndefined();
    isAway = false;
    const next = await takeLease(db, tenant, [id], 5_000);
    await next!.release();
  });

  it("is free soon after its response was lost behind the commit", async () => {
    const id = randomUUID();
    const query: Db["query"] = async (statement) => {
      await db.query(statement);
      throw new Error("the connection was lost");
    };
    await expect(takeLease({ ...db, query }, tenant, [id], 0)).rejects.toThrow("the connection was lost");
    const next = await takeLease(db, tenant, [id], 5_000);
    await next!.release();
  });

  it("of a holder that crashed is free when it expires; the former holder can tell, and cannot release the new one's", async () => {
    const id = randomUUID();
    await withLease(db, tenant, id, async (requireHeld) => {
      await requireHeld();
      await execute(
        database.pool,
        sql.fragment`update leases set expires_at = now() - interval '1 second' where id = ${id}`,
      );
      await withLease(db, tenant, id, async () => {
        await expect(withLease(db, tenant, id, async () => {}, 0)).rejects.toMatchObject(busy);
        await expect(requireHeld()).rejects.toMatchObject(busy);
      });
    });
  });

  it("of one tenant does not block the same id of another", async () => {
    const id = randomUUID();
    const other = await insertTenant(database.pool);
    await withLease(db, tenant, id, () =>
      withLease(database.apiPool.asTenant(other), other, id, async () => {}, 0),
    );
  });
});
