// What expires: records of requests in the database, and what nobody continued. The operator's leader ends or deletes it,
// with exactly its own rights.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { poll } from "../support/poll.ts";
import { execute } from "../support/postgres.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ graceSeconds: 0 });
const { database } = stage;
let tenant: string;

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
});

describe("records of requests in the database", () => {
  it("expire: idempotency keys after a day, lines of the audit log after 400 days", async () => {
    const bytes = "0".repeat(64);
    for (const age of ["1 hour", "25 hours"])
      await database.execute(sql.fragment`
        insert into idempotency_keys (tenant_id, scope, fingerprint, created_ids, created_at)
        values (${tenant}, sha256(${age}::bytea), decode(${bytes}, 'hex'), '{}', now() - ${age}::interval)`);
    for (const age of ["399 days", "401 days"])
      await database.execute(sql.fragment`
        insert into audit_log (tenant_id, action, reason, created_at)
        values (${tenant}, 'api_key.refused', ${age}, now() - ${age}::interval)`);
    const left = z.object({ keys: z.number(), lines: z.array(z.string()) });
    await poll("old rows to be purged", async () => {
      const { keys, lines } = await database.pool.one(sql.type(left)`
        select (select count(*) from idempotency_keys where tenant_id = ${tenant}) as keys,
          (select array_agg(reason) from audit_log where tenant_id = ${tenant}) as lines`);
      return keys === 1 && lines.join() === "399 days";
    });
  });

  it("are deleted also while the deletion of others fails", async () => {
    await database.execute(sql.fragment`revoke delete on idempotency_keys from plosive_operator`);
    try {
      await database.execute(sql.fragment`
        insert into audit_log (tenant_id, action, reason, created_at)
        values (${tenant}, 'api_key.refused', 'during the failure', now() - interval '401 days')`);
      await poll(
        "the old line to be deleted",
        async () => {
          const reasons = await database.pool.anyFirst(sql.type(z.object({ reason: z.string() }))`
            select reason from audit_log where tenant_id = ${tenant}`);
          return !reasons.includes("during the failure");
        },
        60_000,
      );
    } finally {
      await database.execute(sql.fragment`grant delete on idempotency_keys to plosive_operator`);
    }
  });
});

describe("what nobody continued", () => {
  it("is ended: leases of crashed holders, and inference jobs that were not started within seven days", async () => {
    const model = await insertModel(database.pool, tenant);
    // In one transaction, so that no job is submitted or cancelled before it is as it should be.
    const ids = await database.pool.transaction(async (tx) => {
      const made: string[] = [];
      for (const age of ["8 days", "6 days", "8 days"]) {
        const { id } = await insertInferenceJob(tx, tenant, model, 1);
        await execute(
          tx,
          sql.fragment`
            update inference_jobs set start_requested_at = null, created_at = now() - ${age}::interval where id = ${id}`,
        );
        made.push(id);
      }
      await execute(
        tx,
        sql.fragment`
          update inference_files set status = 'pending_upload', upload_expires_at = now() + interval '1 hour'
          where inference_job_id = ${made[2]!}`,
      );
      return made;
    });
    const [forgotten = "", recent = "", uploading = ""] = ids;
    for (const age of ["1 minute", "2 hours"])
      await database.execute(sql.fragment`
        insert into leases (tenant_id, id, holder, expires_at)
        values (${tenant}, gen_random_uuid(), gen_random_uuid(), now() - ${age}::interval)`);
    const leases = sql.type(z.object({ count: z.number() }))`
      select count(*) as count from leases where tenant_id = ${tenant}`;
    await poll("the old lease to be deleted", async () => (await database.pool.oneFirst(leases)) === 1);
    const state = z.object({
      id: z.string(),
      status: z.string(),
      file: z.string(),
      events: z.array(z.string()),
    });
    const states = () =>
      database.pool.any(sql.type(state)`
        select j.id, j.status, f.status as file,
          array(select message from job_events where job_id = j.id) as events
        from inference_jobs j join inference_files f on f.inference_job_id = j.id
        where j.id = any(${sql.array(ids, "uuid")}) order by array_position(${sql.array(ids, "uuid")}, j.id)`);
    await poll("the forgotten job to be cancelled", async () => (await states())[0]?.status === "cancelled");
    expect(await states()).toEqual([
      {
        id: forgotten,
        status: "cancelled",
        file: "cancelled",
        events: ["The job was not started within 7 days"],
      },
      { id: recent, status: "pending", file: "queued", events: [] },
      { id: uploading, status: "pending", file: "pending_upload", events: [] },
    ]);
  });
});
