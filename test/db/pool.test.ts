// The connection pool during a database outage with many callers.
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

  it("cannot be created, and the error names the reason", async () => {
    const made = makeDatabase({
      PLOSIVE_DATABASE_URL: "postgres://x@127.0.0.1:1/x",
      PLOSIVE_DATABASE_POOL: 1,
    });
    await expect(made).rejects.toSatisfy(isDatabaseUnavailable);
  });
});
