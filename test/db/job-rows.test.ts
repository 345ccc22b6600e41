// Rows of jobs: the times that their states set.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { advanceJob, maybeOneJob, type OpenStatus } from "../../src/db/job.ts";
import { submittedAt } from "../../src/db/quota.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";

const database = useDatabase();
const times = z.object({ queued: z.boolean(), started: z.boolean() });

describe("an open job", () => {
  it("has a queue time once it is queued and a start time once it runs", async () => {
    const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
    const advance = async (status: OpenStatus) => {
      const change = { status, statusMessage: status, progressPercent: 0, platformJobName: null };
      await advanceJob(database.pool, "training", id, change);
      return await database.pool.one(sql.type(times)`
        select queued_at is not null as queued, started_at is not null as started from training_jobs where id = ${id}`);
    };
    expect(await advance("pending")).toEqual({ queued: false, started: false });
    expect(await advance("queued")).toEqual({ queued: true, started: false });
    expect(await advance("running")).toEqual({ queued: true, started: true });
  });

  it("names the newest run, and an earlier one only for the results of all runs", async () => {
    const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
    const advance = async (attempt: number | null, mayGoBack?: boolean) => {
      const platformJobName = attempt === null ? null : `tj-${id}-${attempt}`;
      const change = { status: "queued", statusMessage: null, progressPercent: 0, platformJobName } as const;
      await advanceJob(database.pool, "training", id, change, { mayGoBack });
      return (await maybeOneJob(database.pool, "training", id))?.platform_job_name;
    };
    expect(await advance(null)).toBeNull();
    for (const attempt of [9, 10]) expect(await advance(attempt)).toBe(`tj-${id}-${attempt}`);
    for (const attempt of [9, null]) expect(await advance(attempt)).toBe(`tj-${id}-10`);
    expect(await advance(1, true)).toBe(`tj-${id}-1`);
  });

  it("counts as submitted from the start if it was adopted, so that the operator does not submit it", () => {
    expect(submittedAt(undefined).sql).toBe("null");
    expect(submittedAt({ uid: "u", name: "by-hand" }).sql).toBe("now()");
  });
});
