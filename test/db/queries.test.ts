// Our query layer on a real Postgres: values in both directions, transactions, prepared statements, and connections
// that must not be reused.
import { SchemaValidationError, sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isDatabaseUnavailable } from "../../src/db/driver/errors.ts";
import { type DatabasePool, makeDatabase } from "../../src/db/driver/pool.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";

const database = useDatabase();
const none = sql.type(z.object({}));
const number = sql.type(z.object({ n: z.number() }));

async function withPool(size: number, work: (pool: DatabasePool) => Promise<void>): Promise<void> {
  const pool = await makeDatabase(
    { PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: size },
    30_000,
  );
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

describe("values", () => {
  it("are returned as they were sent, with quotes, backslashes and line breaks in arrays", async () => {
    const texts = ['a"b', "c\\d", "e,f", "{}", "", "NULL", "ö\n"];
    const bytes = Buffer.from([0, 255, 92]);
    const row = await database.pool.one(sql.unsafe`
      select ${sql.array(texts, "text")} as texts, ${sql.binary(bytes)}::bytea as bytes, ${null}::text as nothing,
        ${sql.jsonb({ a: [1, null, "ü"] })} as json, ${0.1}::float8 as float, ${true}::boolean as truth`);
    expect(row).toEqual({
      texts,
      bytes,
      nothing: null,
      json: { a: [1, null, "ü"] },
      float: 0.1,
      truth: true,
    });
  });

  it("that do not match the query's schema are rejected", async () => {
    const mismatch = database.pool.one(number`select 'one' as n`);
    await expect(mismatch).rejects.toBeInstanceOf(SchemaValidationError);
  });
});

describe("a transaction", () => {
  it("is not committed when one of its statements failed and its function ignored the failure", async () => {
    await withPool(1, async (pool) => {
      await pool.query(none`create table kept (n int)`);
      const swallowing = pool.transaction(async (tx) => {
        await tx.query(none`insert into kept values (1)`);
        await tx.query(none`select 1 / 0`).catch(() => {});
      });
      await expect(swallowing).rejects.toThrow("a statement in it failed");
      expect(await pool.oneFirst(number`select count(*) as n from kept`)).toBe(0);
      await pool.query(none`drop table kept`);
    });
  });

  it("is retried when the server requests it", async () => {
    await withPool(1, async (pool) => {
      let attempts = 0;
      await pool.transaction(async (tx) => {
        attempts += 1;
        if (attempts < 3)
          await tx.query(none`do $$ begin raise exception 'x' using errcode = '40001'; end $$`);
      });
      expect(attempts).toBe(3);
    });
  });

  it("keeps its statements in order, even when they are issued concurrently", async () => {
    await withPool(1, async (pool) => {
      const found = await pool.transaction((tx) =>
        Promise.all([1, 2, 3].map((n) => tx.oneFirst(number`select ${n}::int as n`))),
      );
      expect(found).toEqual([1, 2, 3]);
    });
  });
});

describe("a prepared statement", () => {
  it("works after it failed, and after its table was recreated with other columns", async () => {
    await withPool(1, async (pool) => {
      const count = () => pool.one(sql.unsafe`select * from anew`);
      await expect(count()).rejects.toThrow("anew");
      await pool.query(none`create table anew as select 1 as a`);
      expect(await count()).toEqual({ a: 1 });
      await pool.query(none`drop table anew`);
      await pool.query(none`create table anew as select 2 as a, 3 as b`);
      await expect(count()).rejects.toThrow("cached plan");
      expect(await count()).toEqual({ a: 2, b: 3 });
      await pool.query(none`drop table anew`);
    });
  });
});

describe("a connection", () => {
  it("with an open transaction is not reused", async () => {
    await withPool(1, async (pool) => {
      const backend = number`select pg_backend_pid() as n`;
      const [before, same] = [await pool.oneFirst(backend), await pool.oneFirst(backend)];
      expect(same).toBe(before);
      await pool.connect((connection) => connection.query(none`begin`));
      expect(await pool.oneFirst(backend)).not.toBe(before);
      expect(pool.state()).toEqual({ acquiredConnections: 0, idleConnections: 1, waitingClients: 0 });
    });
  });

  it("whose commit was refused is rolled back and reused", async () => {
    await withPool(1, async (pool) => {
      await pool.query(none`create table refused (n int unique deferrable initially deferred)`);
      const backend = number`select pg_backend_pid() as n`;
      const before = await pool.oneFirst(backend);
      const twice = pool.transaction((tx) => tx.query(none`insert into refused values (1), (1)`));
      await expect(twice).rejects.toMatchObject({ code: "23505" });
      expect(await pool.oneFirst(backend)).toBe(before);
      expect(await pool.any(number`select n from refused`)).toEqual([]);
    });
  });

  it("is lent to waiting callers in the order of their requests, and reports how long they waited", async () => {
    await withPool(1, async (pool) => {
      const waits: number[] = [];
      pool.onWait((seconds) => waits.push(seconds));
      const order: number[] = [];
      const first = pool.connect((connection) => connection.query(none`select pg_sleep(1)`));
      const others = [1, 2, 3].map(async (n) => {
        await pool.query(none`select 1`);
        order.push(n);
      });
      await poll("one to have the connection", () => pool.state().acquiredConnections === 1);
      expect(pool.state()).toMatchObject({ acquiredConnections: 1, waitingClients: 3 });
      await Promise.all([first, ...others]);
      expect(order).toEqual([1, 2, 3]);
      expect(waits).toHaveLength(4);
      expect(waits[1]).toBeGreaterThan(0.1);
    });
  });

  it("whose statement is in a deadlock is rolled back and retried", async () => {
    // The statement timeout is longer than Postgres's deadlock timeout.
    const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: 2 }, 30_000);
    try {
      const deadlocks = () =>
        database.pool.oneFirst(number`
          select deadlocks as n from pg_stat_database where datname = current_database()`);
      const before = await deadlocks();
      const waiting = number`
        select count(*) as n from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and locktype = 'advisory' and not granted`;
      // Each statement has its first lock and waits for lock 3 before it requests the lock of the other.
      const lockBoth = (first: number, second: number) =>
        pool.query(none`
          select pg_advisory_xact_lock(${first}::int), pg_advisory_xact_lock_shared(3),
            pg_advisory_xact_lock(${second}::int)`);
      const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const holder = database.pool.transaction(async (tx) => {
        await tx.query(none`select pg_advisory_xact_lock(3)`);
        held.resolve();
        await released.promise;
      });
      await held.promise;
      const both = Promise.all([lockBoth(1, 2), lockBoth(2, 1)]);
      await poll("both statements to wait", async () => (await database.pool.oneFirst(waiting)) === 2);
      released.resolve();
      await holder;
      expect(await both).toHaveLength(2);
      await poll("the server to count the deadlock", async () => (await deadlocks()) > before);
    } finally {
      await pool.end();
    }
  });

  it("whose statement runs into deadlocks again and again fails with an error that permits a later retry", async () => {
    await withPool(1, async (pool) => {
      const always = pool.query(none`do $$ begin raise exception 'x' using errcode = '40P01'; end $$`);
      await expect(always).rejects.toSatisfy(isDatabaseUnavailable);
    });
  });

  it("is closed when a statement takes too long or the server stops answering", async () => {
    const proxy = await startProxy(database.url);
    const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 1 }, 1_000);
    try {
      const slow = pool.query(none`select pg_sleep(5)`);
      await expect(slow).rejects.toSatisfy(isDatabaseUnavailable);
      proxy.stall();
      const silent = pool.query(none`select 1`);
      await expect(silent).rejects.toSatisfy(isDatabaseUnavailable);
      await poll("the pool to work again", () => pool.query(none`select 1`));
    } finally {
      await pool.end();
      await proxy.stop();
    }
  });
});
