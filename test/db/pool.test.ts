// The connection pool during a database outage with many callers.
import { type AddressInfo, createServer } from "node:net";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { isDatabaseUnavailable } from "../../src/db/driver/errors.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";

const database = useDatabase();
const query = sql.unsafe`select 1 as one`;

describe("a pool on a server with other defaults", () => {
  it("reads times correctly", async () => {
    const name = new URL(database.url).pathname.slice(1);
    const owner = await makeDatabase({ PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: 1 });
    for (const habit of ["datestyle = 'German, DMY'", "timezone = 'Asia/Kathmandu'"])
      await owner.query({ ...query, sql: `alter database "${name}" set ${habit}` });
    await owner.end();
    for (const role of [undefined, "plosive_operator"] as const) {
      const pool = await makeDatabase(
        { PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: 1 },
        undefined,
        role,
      );
      try {
        const at = await pool.oneFirst(sql.unsafe`select '2026-03-29T01:30:00.123Z'::timestamptz as at`);
        expect(at).toBe(Date.UTC(2026, 2, 29, 1, 30, 0, 123));
      } finally {
        await pool.end();
      }
    }
  });
});

describe("a pool's connections", () => {
  it("begin with parameters that every connection pooler takes", async () => {
    const begun = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => {
      // Int32 length, Int32 protocol, then names and values, each with a zero byte behind it.
      socket.once("data", (message) => {
        begun.resolve(message.subarray(8));
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `postgres://somebody@127.0.0.1:${port}/plosive`;
    const pool = makeDatabase({ PLOSIVE_DATABASE_URL: url, PLOSIVE_DATABASE_POOL: 1 }, 5_000, "plosive_api");
    pool.catch(() => {});
    try {
      const words = (await begun.promise).toString().split("\0");
      const names = words.filter((word, n) => n % 2 === 0 && word !== "");
      expect(names.sort()).toEqual(["client_encoding", "database", "user"]);
      await expect(pool).rejects.toThrow();
    } finally {
      server.close();
    }
  });
});

describe("a pool on a pooler that has lost its server", () => {
  it("fails after seconds, although the pooler lets it log in", async () => {
    // AuthenticationOk and ReadyForQuery, and then nothing.
    const loggedIn = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    const server = createServer((socket) => {
      socket.once("data", () => socket.write(loggedIn));
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `postgres://somebody@127.0.0.1:${port}/plosive`;
    const began = performance.now();
    const pool = makeDatabase({ PLOSIVE_DATABASE_URL: url, PLOSIVE_DATABASE_POOL: 1 }, 60_000);
    await expect(pool).rejects.toThrow("the connection to the database broke");
    expect(performance.now() - began).toBeLessThan(20_000);
    server.close();
  });
});

describe("the API's pool", () => {
  it("keeps connections for tenants that are known, however many look-ups there are without one", async () => {
    const url = database.urlOf("plosive_api");
    const pool = await makeDatabase(
      { PLOSIVE_DATABASE_URL: url, PLOSIVE_DATABASE_POOL: 4 },
      undefined,
      "plosive_api",
    );
    const released = Promise.withResolvers<void>();
    const lookUps = Array.from({ length: 6 }, () => pool.transaction(() => released.promise));
    try {
      await poll("the look-ups to begin", () => pool.state().acquiredConnections >= 2);
      expect(await pool.asTenant(crypto.randomUUID()).oneFirst(query)).toBe(1);
      expect(pool.state()).toMatchObject({ acquiredConnections: 2, waitingClients: 4 });
    } finally {
      released.resolve();
      await Promise.all(lookUps);
      await pool.end();
    }
  });
});

describe("a pool during a database outage", () => {
  it("fails every caller instead of letting it wait, and works again afterwards", async () => {
    const proxy = await startProxy(database.url);
    const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 3 });
    try {
      await Promise.all(Array.from({ length: 30 }, () => pool.any(query)));
      proxy.cut();
      // The first callers get dead connections, the later ones cannot connect.
      for (let wave = 0; wave < 3; wave++) {
        const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => pool.any(query)));
        for (const outcome of outcomes)
          expect(outcome.status === "rejected" && isDatabaseUnavailable(outcome.reason)).toBe(true);
      }
      proxy.heal();
      await poll("the pool to work again", () => pool.any(query));
      expect(pool.state()).toMatchObject({ waitingClients: 0, acquiredConnections: 0 });
    } finally {
      await pool.end();
      await proxy.stop();
    }
  });

  it.each(["that restarts", "that falls silent"])("does not blame a tenant for a server %s", async (how) => {
    const proxy = await startProxy(database.urlOf("plosive_api"));
    const config = { PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 3 };
    const pool = await makeDatabase(config, undefined, "plosive_api");
    try {
      const tenant = pool.asTenant(crypto.randomUUID());
      await Promise.all([tenant.any(query), tenant.any(query)]);
      if (how === "that restarts") {
        proxy.cut();
        proxy.heal();
      }
      // It accepts connections, and does not answer.
      proxy.swallow();
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => tenant.any(query)));
      const reasons = outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason);
      expect(reasons.filter((reason) => !isDatabaseUnavailable(reason))).toEqual([]);
    } finally {
      await pool.end();
      await proxy.stop();
    }
  });

  it("tells a tenant whose own statements take all of its share so", async () => {
    const url = database.urlOf("plosive_api");
    const config = { PLOSIVE_DATABASE_URL: url, PLOSIVE_DATABASE_POOL: 3 };
    const pool = await makeDatabase(config, undefined, "plosive_api");
    try {
      const tenant = pool.asTenant(crypto.randomUUID());
      const slow = Array.from({ length: 2 }, () =>
        tenant.transaction(async (tx) => {
          for (let n = 0; n < 2; n++) await tx.any(sql.unsafe`select pg_sleep(3)`);
        }),
      );
      await poll("them to run", () => pool.state().acquiredConnections === 2);
      await expect(tenant.any(query)).rejects.toMatchObject({ code: "share_exceeded" });
      await Promise.all(slow);
    } finally {
      await pool.end();
    }
  });

  it("cannot be created, and the error names the reason", async () => {
    const made = makeDatabase({
      PLOSIVE_DATABASE_URL: "postgres://x@127.0.0.1:1/x",
      PLOSIVE_DATABASE_POOL: 1,
    });
    await expect(made).rejects.toSatisfy(isDatabaseUnavailable);
  });
});
