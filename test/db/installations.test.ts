// Rows of several installations in one database: which rows each of them gets, what the migration makes of rows from before, and
// how jobs are moved. Real Postgres, with the rights of each role.
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { Client } from "pg";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { migrate } from "../../src/db/driver/migrate.ts";
import { manyModelStates, manyOpenSubmitted } from "../../src/db/operator/drift.ts";
import { gatherEmbeddingJobs } from "../../src/db/operator/embedding-job.ts";
import {
  holdInstallation,
  manyInstallations,
  moveJobs,
  releaseInstallation,
} from "../../src/db/operator/installation.ts";
import {
  manyCancels,
  manyUnsubmitted,
  maybeOneSubmission,
  oneOutboxLag,
} from "../../src/db/operator/outbox.ts";
import { countFailingPurges, manyDuePurges } from "../../src/db/operator/purge-queue.ts";
import { useDatabase } from "../support/postgres.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";

const database = useDatabase();
const text = z.object({ value: z.string() });
let tenant: string;
beforeAll(async () => {
  tenant = await insertTenant(database.pool);
});

/** A started job of each requested kind, created a minute ago in this installation. */
async function insertJobs(installation: string) {
  const model = await insertModel(database.pool, tenant);
  const trainingId = await insertTrainingJob(database.pool, tenant);
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  await database.execute(sql.fragment`update models set installation = ${installation} where id = ${model}`);
  for (const [table, job] of [["training_jobs", trainingId] as const, ["inference_jobs", id] as const])
    await database.execute(sql.fragment`
      update ${sql.identifier([table])} set installation = ${installation}, created_at = now() - interval '1 minute'
      where id = ${job}`);
  await database.execute(sql.fragment`
    update inference_jobs set start_requested_at = now() - interval '1 minute' where id = ${id}`);
  return { model, training: trainingId, inference: id };
}

describe("an installation", () => {
  it("gets its own jobs to submit, to cancel and to compare, and no others", async () => {
    const db = database.operatorPool;
    const [a, b] = [await insertJobs("a"), await insertJobs("b")];
    const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id).sort();
    const due = (installation: string) =>
      manyUnsubmitted(db, { installation, olderThanMs: 0, except: [], limit: 9 });
    expect(ids(await due("a"))).toEqual([a.training, a.inference].sort());
    expect(ids(await due("b"))).toEqual([b.training, b.inference].sort());
    expect(await oneOutboxLag(db, "b")).toBeGreaterThan(50);
    expect(await oneOutboxLag(db, "c")).toBe(0);
    for (const kind of ["training", "inference"] as const) {
      expect(await maybeOneSubmission(db, "a", kind, a[kind])).toMatchObject({ kind });
      expect(await maybeOneSubmission(db, "b", kind, a[kind])).toBeNull();
      await database.execute(sql.fragment`
        update ${sql.identifier([`${kind}_jobs`])}
        set submitted_at = now() - interval '1 hour', cancel_requested_at = now() where tenant_id = ${tenant}`);
    }
    expect(ids(await manyCancels(db, "a", [], 9))).toEqual([a.training, a.inference].sort());
    expect(ids(await manyOpenSubmitted(db, "b"))).toEqual([b.training, b.inference].sort());
    expect([...(await manyModelStates(db, "a")).keys()]).toEqual([a.model]);
  });

  it("purges the custom resources of its own jobs and models, and objects that belong to none", async () => {
    await database.execute(sql.fragment`delete from leftovers`);
    const jobs = await insertJobs("a");
    await database.execute(
      sql.fragment`update training_jobs set status = 'failed' where id = ${jobs.training}`,
    );
    await database.execute(
      sql.fragment`update inference_jobs set deleted_at = now() where id = ${jobs.inference}`,
    );
    await database.execute(sql.fragment`delete from training_jobs where id = ${jobs.training}`);
    await database.execute(sql.fragment`delete from models where id = ${jobs.model}`);
    await database.execute(sql.fragment`update leftovers set attempts = 1`);
    const db = database.operatorPool;
    const due = async (installation: string) =>
      (await manyDuePurges(db, { installation, graceSeconds: 0, limit: 100 })).map(({ kind }) => kind).sort();
    expect(await due("a")).toEqual(["model", "model", "resource", "resource", "resource", "run", "run"]);
    expect(await due("b")).toEqual(["model", "model"]);
    expect(await countFailingPurges(db, "a")).toBe(7);
    expect(await countFailingPurges(db, "b")).toBe(2);
  });

  it("renews embeddings while the renewal job of another one never ends", async () => {
    const owner = await insertTenant(database.pool);
    const dataset = await insertDataset(database.pool, owner);
    const files = [
      await insertConfirmedAudio(database.pool, owner, dataset),
      await insertConfirmedAudio(database.pool, owner, dataset),
    ];
    const toRenew = (id: string) =>
      database.execute(sql.fragment`
        update audio_files set status = 'ready', embedding_status = 'pending', embedded_at = now() where id = ${id}`);
    const gather = (installation: string) =>
      gatherEmbeddingJobs(
        database.operatorPool,
        { installation, quietSeconds: 0, longestWaitSeconds: 0, filesPerShard: 9, maxShards: 1 },
        randomUUID,
      );
    await toRenew(files[0]!);
    // The other file is not to be embedded yet.
    await database.execute(sql.fragment`update audio_files set status = 'failed' where id = ${files[1]!}`);
    expect(await gather("gone")).toHaveLength(1);
    await toRenew(files[1]!);
    expect(await gather("gone")).toEqual([]);
    const [made] = await gather("present");
    expect(
      await database.pool.oneFirst(sql.type(text)`
        select installation as value from embedding_jobs where id = ${made!}`),
    ).toBe("present");
  });
});

describe("the jobs of an installation that is gone", () => {
  it("are handed to another one, to be submitted again, and nothing is while its operator runs", async () => {
    const jobs = await insertJobs("lost");
    const adopted = await insertTrainingJob(database.pool, tenant);
    await database.execute(sql.fragment`
      update training_jobs set installation = 'lost', resource_name = 'by-hand' where id = ${adopted}`);
    await database.execute(sql.fragment`
      update training_jobs set submitted_at = now() where id in (${jobs.training}, ${adopted})`);
    await database.execute(sql.fragment`
      insert into leftovers (tenant_id, installation, kind, target) values (${tenant}, 'lost', 'run', 'tj-x')`);
    const stateOf = async (name: string) =>
      (await manyInstallations(database.operatorPool)).find((one) => one.name === name);
    expect(await stateOf("lost")).toEqual({
      name: "lost",
      seen_at: null,
      silent_seconds: null,
      is_running: false,
      open_jobs: 3,
    });
    await holdInstallation(database.operatorPool, "lost", "lease", 30);
    expect(await stateOf("lost")).toMatchObject({ is_running: true, open_jobs: 3 });
    expect(await moveJobs(database.pool, "lost", "found")).toBeNull();
    expect((await stateOf("lost"))?.open_jobs).toBe(3);
    await releaseInstallation(database.operatorPool, "lost", "lease");
    expect(await moveJobs(database.pool, "lost", "found")).toBe(3);
    expect(await stateOf("lost")).toBeUndefined();
    expect((await stateOf("found"))?.open_jobs).toBe(3);
    const due = await manyUnsubmitted(database.operatorPool, {
      installation: "found",
      olderThanMs: 0,
      except: [],
      limit: 9,
    });
    // The adopted one keeps its mark: only its resource had its whole spec.
    expect(due.map(({ id }) => id).sort()).toEqual([jobs.training, jobs.inference].sort());
    const rows = await database.pool.anyFirst(sql.type(text)`
      select installation as value from leftovers where target = 'tj-x'
      union all select installation from models where id = ${jobs.model}`);
    expect(rows).toEqual(["found", "found"]);
  });

  it("cannot be moved by the operator or the API", async () => {
    for (const db of [database.operatorPool, database.apiPool])
      await expect(moveJobs(db, "a", "b")).rejects.toMatchObject({ code: "42501" });
  });
});

describe("the upgrade of a database with jobs", () => {
  it("gives them, and those that the previous release still adds, to the installation that migrates", async () => {
    const names = readdirSync("src/db/migrations").sort();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query("drop schema public cascade; create schema public");
      await migrate(
        database.pool,
        names.filter((name) => name < "0047"),
      );
      const [owner, before, after] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
      const insert = (id: string) =>
        client.query(
          `insert into embedding_jobs (id, tenant_id, shard_count) values ('${id}', '${owner}', 1)`,
        );
      await client.query(`insert into tenants (id, name) values ('${owner}', 'voices')`);
      await insert(before!);
      await client.query(
        `insert into leftovers (tenant_id, kind, target) values ('${owner}', 'run', 'ej-old'), ('${owner}', 'audio', 'x')`,
      );
      await migrate(database.pool, undefined, { installation: "studio/plosive" });
      await insert(after!);
      const { rows } = await client.query("select id, installation from embedding_jobs order by id");
      expect(rows).toEqual([before, after].map((id) => ({ id, installation: "studio/plosive" })));
      await client.query(`update embedding_jobs set status = 'completed' where id = '${after}'`);
      await client.query(`insert into leftovers (tenant_id, kind, target) values ('${owner}', 'audio', 'y')`);
      const left = await client.query("select target, installation from leftovers order by id");
      expect(left.rows).toEqual([
        { target: "ej-old", installation: "studio/plosive" },
        { target: "x", installation: "studio/plosive" },
        { target: `ej-${after}`, installation: "studio/plosive" },
        { target: "y", installation: null },
      ]);
    } finally {
      await client.end();
    }
  });
});
