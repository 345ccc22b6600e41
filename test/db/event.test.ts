// Events: which changes emit them, who can write and read them, their order, and that no reader misses one.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import {
  deleteOldEvents,
  listEvents,
  manyEventsAfter,
  numberEvents,
  oneEventLag,
  oneEventPosition,
} from "../../src/db/event.ts";
import { advanceJob, finishJob } from "../../src/db/job.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { execute } from "../support/api.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertInferenceJob, insertModel, insertTrainingJob } from "../support/rows.ts";

const database = useDatabase();
const newTenant = () => insertTenant(database.pool, "events");

/** Numbers all pending events and returns those of the tenant. */
async function readEvents(tenant: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  while ((await numberEvents(database.apiPool))?.more);
  const rows = await manyEventsAfter(database.apiPool.asTenant(tenant), tenant, 0, 1000);
  return rows.map(({ type, data }) => ({ type, data }));
}

describe("events", () => {
  it("are emitted once per status of a training job, and at most every 5 seconds for its progress", async () => {
    const tenant = await newTenant();
    const job = await insertTrainingJob(database.pool, tenant);
    const advance = (status: "queued" | "running", progressPercent: number) =>
      advanceJob(database.pool, "training", job, {
        status,
        progressPercent,
        statusMessage: null,
        platformJobName: "tj",
      });
    await advance("queued", 0);
    await advance("running", 0);
    for (const percent of [1, 2, 3, 40]) await advance("running", percent);
    await execute(
      database.pool,
      sql.fragment`update training_jobs set progress_event_at = now() - interval '6 seconds' where id = ${job}`,
    );
    await advance("running", 50);
    await finishJob(database.pool, "training", job, {
      status: "completed",
      statusMessage: null,
      errorMessage: null,
    });
    const events = (await readEvents(tenant)).filter(({ type }) => type.startsWith("training_job."));
    const of = (type: string, status: string, progress_percent: number) => ({
      type: `training_job.${type}`,
      data: { training_job_id: job, dataset_id: events[0]?.data.dataset_id, status, progress_percent },
    });
    expect(events).toEqual([
      of("pending", "pending", 0),
      of("queued", "queued", 0),
      of("running", "running", 0),
      of("progress", "running", 1),
      // The update that moved progress_event_at back also counts as a change of progress.
      of("progress", "running", 40),
      of("progress", "running", 50),
      of("completed", "completed", 100),
    ]);
  });

  it("are emitted for files, sets, models and keys, whichever role changes them", async () => {
    const tenant = await newTenant();
    const model = await insertModel(database.pool, tenant);
    const job = await insertInferenceJob(database.pool, tenant, model, 3);
    const dataset = await insertDataset(database.pool, tenant);
    const operator = await makeDatabase(
      { PLOSIVE_DATABASE_URL: database.urlOf("plosive_operator"), PLOSIVE_DATABASE_POOL: 2 },
      undefined,
      "plosive_operator",
    );
    const [done = "", failed = "", cancelled = ""] = job.files;
    const audio = [randomUUID(), randomUUID()];
    for (const id of audio) {
      await execute(
        database.pool,
        sql.fragment`insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, upload_expires_at)
          values (${id}, ${tenant}, ${dataset}, 'a.wav', 'audio/wav', 1, now())`,
      );
    }
    const [ready = "", broken = ""] = audio;
    const key = randomUUID();
    await readEvents(tenant);
    const before = (await oneEventPosition(database.apiPool.asTenant(tenant), tenant)).own;
    try {
      await execute(operator, sql.fragment`update audio_files set status = 'ready' where id = ${ready}`);
      await execute(operator, sql.fragment`update audio_files set status = 'failed' where id = ${broken}`);
      await execute(operator, sql.fragment`update audio_files set filename = 'b.wav' where id = ${ready}`);
      await execute(
        operator,
        sql.fragment`update inference_files set status = 'completed' where id = ${done}`,
      );
      await execute(
        operator,
        sql.fragment`update inference_files set status = 'failed' where id = ${failed}`,
      );
      await execute(
        operator,
        sql.fragment`update inference_files set status = 'cancelled' where id = ${cancelled}`,
      );
      await execute(
        operator,
        sql.fragment`update inference_jobs set status = 'running' where id = ${job.id}`,
      );
      const api = database.apiPool.asTenant(tenant);
      const set = await api.oneFirst(sql.type(z.object({ id: z.string() }))`
        insert into annotation_sets (id, tenant_id, dataset_id, version)
        values (${randomUUID()}, ${tenant}, ${dataset}, 7) returning id`);
      const nothing = sql.type(z.object({}));
      await api.query(
        nothing`update annotation_sets set status = 'published', published_at = now() where id = ${set}`,
      );
      await api.query(nothing`update models set archived_at = now(), is_active = false where id = ${model}`);
      await api.query(nothing`update models set archived_at = null where id = ${model}`);
      await api.query(nothing`insert into api_keys (id, tenant_id, name, key_prefix, key_hash)
        values (${key}, ${tenant}, 'k', 'pl_aaaaa', sha256(${key}))`);
      await api.query(nothing`update api_keys set last_used_at = now() where id = ${key}`);
      await api.query(nothing`update api_keys set revoked_at = now() where id = ${key}`);
      await readEvents(tenant);
      const events = await manyEventsAfter(api, tenant, before, 100);
      expect(events.map(({ type, data }) => [type, data])).toEqual([
        ["audio_file.ready", { audio_file_id: ready, dataset_id: dataset, status: "ready" }],
        ["audio_file.failed", { audio_file_id: broken, dataset_id: dataset, status: "failed" }],
        [
          "inference_file.completed",
          { inference_file_id: done, inference_job_id: job.id, status: "completed" },
        ],
        ["inference_file.failed", { inference_file_id: failed, inference_job_id: job.id, status: "failed" }],
        [
          "inference_job.running",
          { inference_job_id: job.id, model_id: model, status: "running", progress_percent: 0 },
        ],
        [
          "annotation_set.published",
          { annotation_set_id: set, dataset_id: dataset, version: 7, status: "published" },
        ],
        ["model.archived", { model_id: model, training_job_id: expect.any(String) }],
        ["api_key.created", { api_key_id: key }],
        ["api_key.revoked", { api_key_id: key }],
      ]);
    } finally {
      await operator.end();
    }
  });

  it("of a thousand files in one transaction are all numbered, in several batches", async () => {
    const tenant = await newTenant();
    const job = await insertInferenceJob(database.pool, tenant, await insertModel(database.pool, tenant), 1);
    await execute(
      database.pool,
      sql.fragment`insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes,
          object_key, status)
        select gen_random_uuid(), ${tenant}, ${job.id}, 'a.wav', 'audio/wav', 1, 'k', 'processing'
        from generate_series(1, 999)`,
    );
    await readEvents(tenant);
    const { own } = await oneEventPosition(database.apiPool.asTenant(tenant), tenant);
    await execute(
      database.pool,
      sql.fragment`update inference_files set status = 'completed' where inference_job_id = ${job.id}`,
    );
    expect(await numberEvents(database.apiPool)).toEqual({ numbered: 200, more: true });
    while ((await numberEvents(database.apiPool))?.more);
    const rows = await manyEventsAfter(database.apiPool.asTenant(tenant), tenant, own, 2_000);
    expect(rows).toHaveLength(1_000);
    expect(new Set(rows.map(({ data }) => data.inference_file_id)).size).toBe(1_000);
  });

  it("of a tenant with very many are numbered in turns with those of others, and few are read for each batch", async () => {
    const [busy, quiet] = [await newTenant(), await newTenant()];
    await readEvents(quiet);
    const emit = (tenant: string, count: number) =>
      execute(
        database.pool,
        sql.fragment`insert into event_inbox (tenant_id, type, data)
          select ${tenant}, 'test.many', jsonb_build_object('n', n) from generate_series(1, ${count}::int) n`,
      );
    await emit(busy, 20_000);
    await emit(quiet, 3);
    const ofQuiet = async () =>
      (await manyEventsAfter(database.apiPool.asTenant(quiet), quiet, 0, 1_000)).flatMap(({ type, data }) =>
        type === "test.many" ? [data.n] : [],
      );
    await database.pool.transaction(async (tx) => {
      expect(await numberEvents(tx)).toEqual({ numbered: 200, more: true });
      const read = await tx.oneFirst(sql.type(z.object({ rows: z.number() }))`
        select (seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables
        where relname = 'event_inbox'`);
      expect(read).toBeLessThan(1_000);
    });
    expect(await ofQuiet()).toEqual([1, 2, 3]);
    while ((await numberEvents(database.apiPool))?.more);
    const all = await manyEventsAfter(database.apiPool.asTenant(busy), busy, 0, 30_000);
    const order = all.flatMap(({ type, data }) => (type === "test.many" ? [Number(data.n)] : []));
    expect(order).toEqual(Array.from({ length: 20_000 }, (_, i) => i + 1));
  });

  it("are not emitted for a change that is rolled back", async () => {
    const tenant = await newTenant();
    const job = await insertTrainingJob(database.pool, tenant);
    const before = (await readEvents(tenant)).length;
    const broken = database.pool.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`update training_jobs set status = 'queued' where id = ${job}`);
      throw new Error("not today");
    });
    await expect(broken).rejects.toThrow("not today");
    expect(await readEvents(tenant)).toHaveLength(before);
  });

  it("can be neither written nor read for another tenant", async () => {
    const [own, other] = [await newTenant(), await newTenant()];
    await insertTrainingJob(database.pool, other);
    await readEvents(other);
    const api = database.apiPool.asTenant(own);
    // The statement has no tenant predicate, so only the policies protect the rows.
    const seen = await api.any(sql.type(z.object({ type: z.string() }))`select type from events`);
    expect(seen).toEqual([]);
    expect(await database.apiPool.any(sql.type(z.object({}))`select from events`)).toEqual([]);
    const forbidden = { code: "42501" };
    for (const table of ["event_inbox", "events"]) {
      const forged = api.query(sql.type(z.object({}))`
        insert into ${sql.identifier([table])} (tenant_id, type, data, created_at) values (${own}, 'x', '{}', now())`);
      await expect(forged).rejects.toMatchObject(forbidden);
    }
    const call = api.query(sql.type(z.object({}))`select emit_event(${other}::uuid, 'x', '{}'::jsonb)`);
    await expect(call).rejects.toMatchObject(forbidden);
  });

  it("have numbers that do not depend on the events of others", async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const numbersOf = async (tenant: string) => {
      const rows = await manyEventsAfter(database.apiPool.asTenant(tenant), tenant, 0, 100);
      return rows.map(({ id }) => id);
    };
    for (const tenant of [one, other, other, one]) await insertTrainingJob(database.pool, tenant);
    await readEvents(one);
    const first = await numbersOf(one);
    expect(first).toEqual(first.map((_, i) => i + 1));
    await insertTrainingJob(database.pool, other);
    await insertTrainingJob(database.pool, one);
    await readEvents(one);
    expect((await numbersOf(one)).slice(0, first.length + 1)).toEqual([...first, first.length + 1]);
    expect((await numbersOf(other))[0]).toBe(1);
  });

  it("are deleted after 24 hours, and their ids are never reused", async () => {
    const tenant = await newTenant();
    await insertTrainingJob(database.pool, tenant);
    await readEvents(tenant);
    const { own, given } = await oneEventPosition(database.apiPool.asTenant(tenant), tenant);
    expect(own).toBe(given);
    await execute(database.pool, sql.fragment`update events set created_at = now() - interval '23 hours'`);
    expect(await deleteOldEvents(database.apiPool)).toEqual({ more: false });
    expect(await readEvents(tenant)).not.toEqual([]);
    await execute(database.pool, sql.fragment`update events set created_at = now() - interval '25 hours'`);
    // In batches: other tests of this file left thousands of events.
    while ((await deleteOldEvents(database.apiPool)).more);
    expect(await readEvents(tenant)).toEqual([]);
    expect((await oneEventPosition(database.apiPool.asTenant(tenant), tenant)).given).toBe(given);
    await insertTrainingJob(database.pool, tenant);
    const page = await (async () => {
      await readEvents(tenant);
      return await listEvents(database.apiPool.asTenant(tenant), tenant, { page: 1, page_size: 10 });
    })();
    expect(page.items[0]?.id).toBeGreaterThan(given);
  });
});

describe("the sequencer", () => {
  it("numbers events so that no reader misses or repeats one, in any order of commits and with several processes", async () => {
    const tenants = [await newTenant(), await newTenant(), await newTenant()];
    const writers = 8;
    const rounds = 40;
    let writing = true;

    // The transactions differ in length, so that they commit in another order than they begin.
    const write = async (writer: number) => {
      for (let round = 0; round < rounds; round++) {
        const tenant = tenants[(writer + round) % tenants.length] ?? "";
        await database.pool
          .transaction(async (tx) => {
            for (let step = 0; step < 3; step++) {
              const data = JSON.stringify({ writer, round, step });
              await tx.query(
                sql.type(z.object({}))`select emit_event(${tenant}::uuid, 'test.written', ${data}::jsonb)`,
              );
              if ((writer + round) % 3 === step)
                await tx.query(sql.type(z.object({}))`select pg_sleep(0.004)`);
            }
            // One transaction in eight rolls back, so its inbox numbers never become visible.
            if ((writer * rounds + round) % 8 === 0) throw new Error("rolled back");
          })
          .catch((error: Error) => expect(error.message).toBe("rolled back"));
      }
    };
    const stamp = async () => {
      while (writing) await numberEvents(database.apiPool);
    };
    const read = async (tenant: string) => {
      const seen: { id: number; data: Record<string, unknown> }[] = [];
      let last = 0;
      const readBatch = async () => {
        const rows = await manyEventsAfter(database.apiPool.asTenant(tenant), tenant, last, 7);
        seen.push(...rows);
        last = rows.at(-1)?.id ?? last;
        return rows.length;
      };
      while (writing) await readBatch();
      while ((await readBatch()) > 0);
      return seen;
    };

    const readers = Promise.all(tenants.map(read));
    const stampers = Promise.all([stamp(), stamp(), stamp()]);
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    while ((await oneEventLag(database.apiPool)).inbox > 0) await numberEvents(database.apiPool);
    writing = false;
    const seen = await readers;
    await stampers;

    const written = writers * rounds * (7 / 8) * 3;
    expect(seen.flat()).toHaveLength(written);
    for (const [i, rows] of seen.entries()) {
      const ids = rows.map((row) => row.id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      const all = await manyEventsAfter(
        database.apiPool.asTenant(tenants[i] ?? ""),
        tenants[i] ?? "",
        0,
        10_000,
      );
      expect(ids).toEqual(all.map((row) => row.id));
    }
    // The events of one writer keep their order.
    const order = (data: Record<string, unknown>) => Number(data.round) * 10 + Number(data.step);
    for (const rows of seen)
      for (let writer = 0; writer < writers; writer++) {
        const own = rows.filter((row) => row.data.writer === writer).map((row) => order(row.data));
        expect(own).toEqual([...own].sort((a, b) => a - b));
      }
  });
});
