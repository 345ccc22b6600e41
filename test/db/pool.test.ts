// The pool when the database goes away under many callers.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { isDatabaseUnavailable } from "../../src/db/errors.ts";
import { makeDatabase } from "../../src/db/pool.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";

const database = useDatabase();
const query = sql.unsafe`select 1 as one`;

describe("a pool whose database goes away", () => {
  it("leaves nobody waiting, however many ask, and works again afterwards", async () => {
    const proxy = await startProxy(database.url);
    const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 3 });
    try {
      await Promise.all(Array.from({ length: 30 }, () => pool.any(query)));
      proxy.cut();
      // The first callers find dead connections, the later ones none at all.
      for (let wave = 0; wave < 3; wave++) {
        const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => pool.any(query)));
        for (const outcome of outcomes)
          expect(outcome.status === "rejected" && isDatabaseUnavailable(outcome.reason)).toBe(true);
      }
      proxy.heal();
      await poll("the pool to work again", () => pool.any(query), 5_000);
      expect(pool.state()).toMatchObject({ waitingClients: 0, acquiredConnections: 0 });
    } finally {
      await pool.end();
      await proxy.stop();
    }
  });

  it("cannot be made, and says why", async () => {
    const made = makeDatabase({
      PLOSIVE_DATABASE_URL: "postgres://x@127.0.0.1:1/x",
      PLOSIVE_DATABASE_POOL: 1,
    });
    await expect(made).rejects.toSatisfy(isDatabaseUnavailable);
  });
});
