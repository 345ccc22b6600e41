// plosive-admin embeddings renew on a real database: which files it marks for embedding again, which it leaves alone,
// and how embedding jobs process the marked ones.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { oneDatasetForShare } from "../src/db/dataset.ts";
import { gatherEmbeddingJobs } from "../src/db/operator/embedding-job.ts";
import { failShard } from "../src/db/operator/ingest.ts";
import { defaultInstallation } from "../src/schemas/installation.ts";
import { adminOf } from "./support/admin.ts";
import { execute, useApi } from "./support/api.ts";
import { poll } from "./support/poll.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertEmbeddedAudio,
  insertTrainingJob,
} from "./support/rows.ts";

const api = useApi();
const { admin, tenant } = adminOf(api);

describe("plosive-admin embeddings renew", () => {
  it("marks files for embedding again, except those that a training job reads, and leaves files with new embeddings alone", async () => {
    const id = await tenant("another encoder");
    const dataset = await insertDataset(api.db, id);
    const [ready, failed, old, running] = [
      await insertEmbeddedAudio(api.db, id, dataset),
      await insertEmbeddedAudio(api.db, id, dataset),
      await insertEmbeddedAudio(api.db, id, dataset),
      await insertConfirmedAudio(api.db, id, dataset),
    ];
    await execute(
      api.db,
      sql.fragment`update audio_files set embedded_at = now() - interval '1 hour' where tenant_id = ${id} and status = 'ready'`,
    );
    await execute(
      api.db,
      sql.fragment`update audio_files set status = 'failed', embedding_status = 'failed', embedded_at = null,
        error_message = 'no encoder', updated_at = now() - interval '1 hour' where id = ${failed}`,
    );
    await execute(
      api.db,
      sql.fragment`update audio_files set embedding_status = 'failed', error_message = 'too long' where id = ${old}`,
    );
    const embedding = randomUUID();
    await execute(
      api.db,
      sql.fragment`insert into embedding_jobs (id, tenant_id, shard_count, created_at)
        values (${embedding}, ${id}, 1, now() - interval '1 hour')`,
    );
    const run = `ej-${embedding}-1`;
    await execute(
      api.db,
      sql.fragment`update embedding_jobs set platform_job_name = ${run} where id = ${embedding}`,
    );
    await execute(
      api.db,
      sql.fragment`update audio_files set embedding_status = 'processing', embedding_job_id = ${embedding},
        embedding_shard = 0 where id = ${running}`,
    );
    const job = await insertTrainingJob(api.db, id);
    const fileRow = z.object({ id: z.string(), status: z.string() });
    const waiting = () =>
      api.db.any(sql.type(fileRow)`
        select id, status from audio_files
        where tenant_id = ${id} and embedding_status = 'pending' and embedding_job_id is null and error_message is null
        order by id`);
    const others = await tenant("not asked for");
    await insertEmbeddedAudio(api.db, others, await insertDataset(api.db, others));

    const done = await admin("embeddings", "renew", "--tenant", id);
    expect(done).toMatchObject({ code: 0, err: expect.stringContaining("2 files were skipped") });
    expect(done.out).toMatch(/^TENANT +DATASET +FILES {2}SKIPPED\n/);
    expect(done.out).toMatch(new RegExp(`^${id}  ${dataset}  4 +0$`, "m"));
    const given = [
      { id: ready, status: "ready" },
      { id: failed, status: "processing" },
      { id: old, status: "ready" },
      { id: running, status: "processing" },
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(await waiting()).toEqual(given);
    const left = await api.db.anyFirst(sql.type(z.object({ target: z.string() }))`
      select target from leftovers where tenant_id = ${id} and kind = 'embedding'`);
    expect(left).toEqual([`${running}/${run}`]);

    const again = /plosive-admin (.*)/.exec(done.err)?.[1]?.split(" ") ?? [];
    expect(again.slice(0, -1)).toEqual(["embeddings", "renew", "--tenant", id, "--before"]);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'cancelled', completed_at = now() where id = ${job}`,
    );
    await execute(
      api.db,
      sql.fragment`update audio_files set embedding_status = 'completed', embedded_at = now() where id = ${ready}`,
    );
    const rest = JSON.parse((await admin(...again, "--json")).out);
    expect(rest).toMatchObject([{ tenant_id: id, files: 2, left_alone: 0 }]);
    const all = JSON.parse((await admin("embeddings", "renew", "--json")).out);
    expect(all).toContainEqual(expect.objectContaining({ tenant_id: others, files: 1, left_alone: 0 }));
    const noted = await api.db.anyFirst(sql.type(z.object({ action: z.string() }))`
      select action from audit_log where tenant_id = ${id} order by id`);
    expect(noted).toEqual(["tenant.created", ...Array(3).fill("tenant.embedded_again")]);
  });

  it("selects a file by the job that embedded it, whenever that job ended", async () => {
    const id = await tenant("slow jobs");
    const dataset = await insertDataset(api.db, id);
    const [before, after] = [
      await insertEmbeddedAudio(api.db, id, dataset),
      await insertEmbeddedAudio(api.db, id, dataset),
    ];
    for (const [file, age] of [
      [before, "2 hours"],
      [after, "30 minutes"],
    ] as const) {
      const job = randomUUID();
      await execute(
        api.db,
        sql.fragment`insert into embedding_jobs (id, tenant_id, shard_count, created_at)
          values (${job}, ${id}, 1, now() - ${age}::interval)`,
      );
      await execute(
        api.db,
        sql.fragment`update audio_files set embedded_at = now(), embedding_job_id = ${job}, embedding_shard = 0
          where id = ${file}`,
      );
    }
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    await admin("embeddings", "renew", "--tenant", id, "--before", hourAgo);
    const waiting = await api.db.anyFirst(sql.type(z.object({ id: z.string() }))`
      select id from audio_files where tenant_id = ${id} and embedding_status = 'pending'`);
    expect(waiting).toEqual([before]);
  });

  it("waits for a transaction that creates a training job, and leaves its files alone", async () => {
    const id = await tenant("at the same time");
    const old = await insertTrainingJob(api.db, id);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'cancelled', completed_at = now() where id = ${old}`,
    );
    const dataset = await api.db.oneFirst(sql.type(z.object({ id: z.string() }))`
      select dataset_id as id from training_jobs where id = ${old}`);
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const renewed = isLocked.then(() => admin("embeddings", "renew", "--tenant", id, "--json"));
    await api.db.transaction(async (tx) => {
      await oneDatasetForShare(tx, id, dataset);
      locked();
      await poll("the command to wait", () =>
        tx.exists(
          sql.unsafe`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
        ),
      );
      await execute(
        tx,
        sql.fragment`insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name,
            annotation_set_version, config)
          select ${randomUUID()}, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version, config
          from training_jobs where id = ${old}`,
      );
    });
    expect(JSON.parse((await renewed).out)).toMatchObject([{ files: 0, left_alone: 2 }]);
  });

  it("has marked files embedded one job at a time, apart from new uploads, and a failure leaves a file ready", async () => {
    const id = await tenant("two queues");
    const dataset = await insertDataset(api.db, id);
    const old = [
      await insertEmbeddedAudio(api.db, id, dataset),
      await insertEmbeddedAudio(api.db, id, dataset),
    ];
    const fresh = await insertConfirmedAudio(api.db, id, dataset);
    await execute(
      api.db,
      sql.fragment`update audio_files set embedded_at = now() where tenant_id = ${id} and status = 'ready'`,
    );
    await admin("embeddings", "renew", "--tenant", id);
    const limits = { quietSeconds: 0, longestWaitSeconds: 0, filesPerShard: 1, maxShards: 1 };
    const options = { installation: defaultInstallation, ...limits };
    const row = z.object({
      id: z.string(),
      status: z.string(),
      embedding_status: z.string(),
      job: z.string(),
    });
    const withJobs = () =>
      api.db.any(sql.type(row)`
        select id, status, embedding_status, embedding_job_id as job from audio_files
        where tenant_id = ${id} and embedding_job_id is not null order by status`);
    await gatherEmbeddingJobs(api.db, options, randomUUID);
    await gatherEmbeddingJobs(api.db, options, randomUUID);
    const [first, second, ...more] = await withJobs();
    expect([first, second, more]).toEqual([
      { id: fresh, status: "processing", embedding_status: "processing", job: expect.any(String) },
      {
        id: expect.toBeOneOf(old),
        status: "ready",
        embedding_status: "processing",
        job: expect.any(String),
      },
      [],
    ]);
    expect(first?.job).not.toBe(second?.job);
    const jobId = second?.job ?? "";
    const run = `ej-${jobId}-1`;
    await execute(
      api.db,
      sql.fragment`
      update embedding_jobs set platform_job_name = ${run}, status = 'running' where id = ${jobId}`,
    );
    await failShard(api.db, "embedding", { jobId, run, shard: 0 }, "the encoder is away");
    expect((await withJobs()).find((file) => file.id === second?.id)).toMatchObject({
      status: "ready",
      embedding_status: "failed",
    });
    await gatherEmbeddingJobs(api.db, options, randomUUID);
    expect(await withJobs()).toHaveLength(3);
  });
});
