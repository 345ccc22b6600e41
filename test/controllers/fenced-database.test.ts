// Fencing: a replica that was frozen and is no longer the leader changes no row, wherever it was frozen. Real
// Postgres.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { fencedDatabase } from "../../controllers/fenced-database.ts";
import { makeOutages } from "../../controllers/runtime/outages.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { endJob } from "../../src/db/operator/ingest.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";

const database = useDatabase();
const failed = { status: "failed", statusMessage: null, errorMessage: "late" } as const;
const statusOf = async (id: string) => (await maybeOneJob(database.pool, "training", id))?.status;
const touch = (db: Db, id: string) =>
  db.query(sql.type(z.object({}))`update training_jobs set status_message = 'late' where id = ${id}`);

it("the leader can end a job; every query of a former leader fails", async () => {
  const tenant = await insertTenant(database.pool);
  const [first, second] = [
    await insertTrainingJob(database.pool, tenant),
    await insertTrainingJob(database.pool, tenant),
  ];
  let leads = true;
  const db = fencedDatabase(database.pool, () => leads, makeOutages(Date.now).database);
  await endJob(db, "training", first, failed);
  expect(await statusOf(first)).toBe("failed");
  leads = false;
  await expect(endJob(db, "training", second, failed)).rejects.toThrow("is no longer the leader");
  await expect(touch(db, second)).rejects.toThrow("is no longer the leader");
  await expect(maybeOneJob(db, "training", second)).rejects.toThrow("is no longer the leader");
  expect(await statusOf(second)).toBe("pending");
});

it("a transaction during which the lead is lost is rolled back", async () => {
  const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  let leads = true;
  const db = fencedDatabase(database.pool, () => leads, makeOutages(Date.now).database);
  const late = db.transaction(async (tx) => {
    await touch(tx, id);
    leads = false;
  });
  await expect(late).rejects.toThrow("is no longer the leader");
  expect((await maybeOneJob(database.pool, "training", id))?.status_message).toBeNull();
});
