// Tests which connections the pool lends again: those without an open transaction, until they have been idle for 30 s.
import { sql } from "slonik";
import { afterEach, expect, it, vi } from "vitest";
import { ConnectionError } from "../../src/db/driver/connection.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const backend = sql.unsafe`select pg_backend_pid() as pid`;
const open = (size: number) =>
  makeDatabase({ PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: size });

afterEach(() => {
  vi.useRealTimers();
});

it("a connection is lent again", async () => {
  const pool = await open(3);
  try {
    // One connection, or the two of the check for poolers.
    const { idleConnections } = pool.state();
    const first = await pool.oneFirst(backend);
    expect(await pool.oneFirst(backend)).toBe(first);
    expect(pool.state()).toEqual({ acquiredConnections: 0, idleConnections, waitingClients: 0 });
  } finally {
    await pool.end();
  }
});

it("a connection with an open transaction is closed instead", async () => {
  const pool = await open(1);
  try {
    const first = await pool.connect(async (connection) => {
      await connection.query(sql.unsafe`begin`);
      return await connection.oneFirst(backend);
    });
    expect(pool.state().idleConnections).toBe(0);
    expect(await pool.oneFirst(backend)).not.toBe(first);
  } finally {
    await pool.end();
  }
});

it("idle connections are closed after 30 s, and no earlier", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pool = await open(2);
  try {
    await Promise.all([pool.any(backend), pool.any(backend)]);
    expect(pool.state().idleConnections).toBe(2);
    vi.advanceTimersByTime(29_000);
    expect(pool.state().idleConnections).toBe(2);
    vi.advanceTimersByTime(3_000);
    expect(pool.state().idleConnections).toBe(0);
    expect(await pool.oneFirst(backend)).toBeGreaterThan(0);
  } finally {
    await pool.end();
  }
});

it("a pool that has ended lends nothing and keeps nothing", async () => {
  const pool = await open(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const used = pool.connect(async (connection) => {
    await connection.any(backend);
    await promise;
  });
  const ended = pool.end();
  await expect(pool.any(backend)).rejects.toBeInstanceOf(ConnectionError);
  resolve();
  await Promise.all([used, ended, pool.end()]);
  expect(pool.state()).toEqual({ acquiredConnections: 0, idleConnections: 0, waitingClients: 0 });
});
