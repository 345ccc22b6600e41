// The lock across processes: it is released after its work, even after a failure.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withLock } from "../../src/db/lock.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const none = sql.type(z.object({}));

/** Whether another session could take the lock now. */
const isFree = (id: string) =>
  database.pool.oneFirst(sql.type(z.object({ free: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended(${id}, 0)) as free`);

describe("a lock", () => {
  it("is held while its work runs and released afterwards, also after a failure", async () => {
    const [tenant, id] = [randomUUID(), randomUUID()];
    expect(await withLock(database.apiPool, tenant, id, () => isFree(id))).toBe(false);
    expect(await isFree(id)).toBe(true);
    const failing = withLock(database.apiPool, tenant, id, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await isFree(id)).toBe(true);
  });

  it("that cannot be released ends with its connection, and the result of its work is returned", async () => {
    const [tenant, id] = [randomUUID(), randomUUID()];
    await database.pool.query(none`create schema broken`);
    await database.pool.query(none`grant usage on schema broken to plosive_api`);
    await database.pool.query(none`
      create function broken.pg_advisory_unlock(bigint) returns boolean language plpgsql as
      'begin raise exception ''not now''; end'`);
    const result = withLock(database.apiPool, tenant, id, async (db) => {
      await db.query(none`select set_config('search_path', 'broken, public, pg_catalog', false)`);
      return "done";
    });
    expect(await result).toBe("done");
    await poll("the connection to end", () => isFree(id));
  });
});
