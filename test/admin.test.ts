// plosive-admin against a real database and with the rights of its role: what it prints, what it changes,
// and what it says when it cannot.
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { runAdmin } from "../src/admin.ts";
import { oneDatasetForShare } from "../src/db/dataset.ts";
import { gatherEmbeddingJobs } from "../src/db/embedding-job.ts";
import { failShard } from "../src/db/ingest.ts";
import { makeDatabase, statementTimeoutMs } from "../src/db/pool.ts";
import { execute, useApi } from "./support/api.ts";
import { poll } from "./support/poll.ts";
import { loginOf } from "./support/postgres.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertEmbeddedAudio,
  insertTrainingJob,
} from "./support/rows.ts";

const api = useApi();
const dir = mkdtempSync(join(tmpdir(), "plosive-admin-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const program = join(import.meta.dirname, "../src/admin.ts");
const address = () => {
  const url = new URL(loginOf(api.pool.configuration.connectionUri, "plosive_admin"));
  url.search = "";
  return url.href;
};

/** In this process: a start of Node for each would take most of the time. */
async function admin(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: "", err: "" };
  const code = await runAdmin(args, {
    database: () =>
      makeDatabase(
        { PLOSIVE_DATABASE_URL: address(), PLOSIVE_DATABASE_POOL: 1 },
        statementTimeoutMs.operator,
        "plosive_admin",
      ),
    random: randomBytes,
    now: Date.now,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { code, ...said };
}

/** As a process of its own. */
function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env.PATH, ...env } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

async function tenant(name = "studio"): Promise<string> {
  return (await admin("tenants", "create", name)).out.trim();
}

describe("plosive-admin", () => {
  it("makes a tenant and a key that opens it, and prints each alone, so that a script can keep it", async () => {
    const made = await admin("tenants", "create", "north studio");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^[0-9a-f-]{36}\n$/);
    const id = made.out.trim();
    expect(made.err).toContain(`keys create --tenant ${id}`);

    const key = await admin(
      "keys",
      "create",
      "--tenant",
      id,
      "--name",
      "ci",
      "--expires-at",
      "2999-01-01T00:00:00+01:00",
    );
    expect(key.out).toMatch(/^pl_[0-9A-Za-z]{46}\n$/);
    expect(key.err).not.toContain(key.out.trim());
    const listed = await api.as(key.out.trim()).get("/api/v1/auth/api-keys");
    expect(listed.body).toMatchObject([{ name: "ci", expires_at: "2998-12-31T23:00:00.000Z" }]);
  });

  it("revokes a key and suspends a tenant from the next request on, and lets it in again", async () => {
    const id = await tenant();
    const { id: keyId, key } = JSON.parse((await admin("keys", "create", "--tenant", id, "--json")).out);
    const other = (await admin("keys", "create", "--tenant", id)).out.trim();
    const statuses = async () => [
      (await api.as(key).get("/api/v1/datasets")).status,
      (await api.as(other).get("/api/v1/datasets")).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    expect((await admin("keys", "revoke", keyId)).code).toBe(0);
    expect(await statuses()).toEqual([401, 200]);
    expect((await admin("tenants", "suspend", id)).err).toContain("now suspended");
    expect(await statuses()).toEqual([401, 403]);
    expect((await admin("tenants", "suspend", id)).err).toContain("already suspended");
    await admin("tenants", "resume", id);
    expect(await statuses()).toEqual([401, 200]);
    const again = await admin("keys", "revoke", keyId);
    expect([again.code, again.out]).toEqual([1, ""]);
    expect(again.err).toMatch(/no key .* revoked already/);
  });

  it("lists tenants and keys, as columns and as JSON, and never a key", async () => {
    const id = await tenant("listed");
    const key = (await admin("keys", "create", "--tenant", id, "--name", "shown")).out.trim();
    const tenants = await admin("tenants", "list");
    expect(tenants.out).toMatch(/^ID +NAME +KEYS +CREATED +SUSPENDED\n/);
    expect(tenants.out).toMatch(new RegExp(`^${id}  listed +1 +\\S+  -$`, "m"));
    expect(JSON.parse((await admin("tenants", "list", "--json")).out)).toContainEqual({
      id,
      name: "listed",
      keys: 1,
      created_at: expect.stringMatching(/Z$/),
      suspended_at: null,
    });
    const keys = await admin("keys", "list", "--tenant", id);
    expect(keys.out).toMatch(new RegExp(`${key.slice(0, 8)}  shown`));
    expect(keys.out).not.toContain(key);
    expect(JSON.parse((await admin("keys", "list", "--tenant", id, "--json")).out)).toHaveLength(1);
  });

  it("has files embedded again, but not those that a training reads, and leaves what is new when it comes again", async () => {
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
    expect(done).toMatchObject({ code: 0, err: expect.stringContaining("2 files were left alone") });
    expect(done.out).toMatch(/^TENANT +DATASET +FILES {2}LEFT ALONE\n/);
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

  it("judges a file by the job that embedded it, whenever that ended", async () => {
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

  it("waits for whoever is making a training job, and leaves its files alone", async () => {
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

  it("gives what waits to be embedded again to a job at a time, apart from new uploads, and a failure leaves it ready", async () => {
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
    await gatherEmbeddingJobs(api.db, limits, randomUUID);
    await gatherEmbeddingJobs(api.db, limits, randomUUID);
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
    await gatherEmbeddingJobs(api.db, limits, randomUUID);
    expect(await withJobs()).toHaveLength(3);
  });

  it("is noted in the audit log", async () => {
    const id = await tenant("audited");
    const { id: keyId } = JSON.parse((await admin("keys", "create", "--tenant", id, "--json")).out);
    await admin("keys", "revoke", keyId);
    await admin("tenants", "suspend", id);
    await admin("tenants", "resume", id);
    const noted = await api.db.any(sql.type(z.object({ action: z.string(), request_id: z.string() }))`
      select action, request_id from audit_log where tenant_id = ${id} order by id`);
    expect(noted).toEqual(
      ["tenant.created", "api_key.created", "api_key.revoked", "tenant.suspended", "tenant.resumed"].map(
        (action) => ({
          action,
          request_id: "plosive-admin",
        }),
      ),
    );
  });

  it.each([
    [[], 2, /^Usage: plosive-admin/],
    [["tenants"], 2, /no command "tenants"/],
    [["tenants", "burn", "x"], 2, /no command "tenants burn"/],
    [["tenants", "create"], 2, /NAME is missing/],
    [["tenants", "create", "two", "words"], 2, /"words" is one word too many; quote/],
    [["keys", "create"], 2, /--tenant TENANT_ID is missing/],
    [["keys", "create", "--tenant", "x"], 2, /must be a UUID, not "x"/],
    [["keys", "create", "--tenant", randomUUID()], 1, /no tenant .* plosive-admin tenants list/],
    [["keys", "list", "--tenant", randomUUID(), "--color"], 2, /--color/],
    [["keys", "revoke", randomUUID()], 1, /no key/],
    [["tenants", "suspend", randomUUID()], 1, /no tenant/],
    [["embeddings", "renew", "--tenant", randomUUID()], 1, /no tenant/],
    [["embeddings", "renew", "--before", "yesterday"], 2, /--before is a time with offset/],
    [["embeddings", "renew", "all"], 2, /"all" is one word too many/],
  ])("%j ends with %i and says what to do", async (args, code, words) => {
    const answer = await admin(...args);
    expect(answer.code).toBe(code);
    expect(answer.out + answer.err).toMatch(words);
    expect(answer.err).not.toContain("    at ");
  });

  it.each(["yesterday", "2001-01-01T00:00:00Z", "2999-01-01T00:00:00"])(
    "makes no key that expires at %s",
    async (time) => {
      const answer = await admin("keys", "create", "--tenant", await tenant(), "--expires-at", time);
      expect([answer.code, answer.out]).toEqual([2, ""]);
      expect(answer.err).toContain("--expires-at");
    },
  );

  it("runs as in the pod, with a file that only names the database", async () => {
    const file = join(dir, "url");
    writeFileSync(file, address());
    const made = await run(["tenants", "create", "from a pod"], { PLOSIVE_DATABASE_URL_FILE: file });
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
    expect((await run(["tenants"], {})).code).toBe(2);
  });

  it("says why when it is not told of a database, or when that is away", async () => {
    const untold = await run(["tenants", "list"], {});
    expect([untold.code, untold.out]).toEqual([1, ""]);
    expect(untold.err).toMatch(/^plosive-admin: .*PLOSIVE_DATABASE_URL/s);
    const away = await run(["tenants", "list"], {
      PLOSIVE_DATABASE_URL: "postgres://x@127.0.0.1:1/x",
    });
    expect(away.code).toBe(1);
    expect(away.err).toMatch(/^plosive-admin: .*ECONNREFUSED/s);
  });

  it("does nothing with the API's user of the database, and says where to run it", async () => {
    const url = new URL(address());
    url.username = "test_plosive_api";
    const refused = await run(["tenants", "list"], { PLOSIVE_DATABASE_URL: url.href });
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(/permission denied .*\n.*operator's pod/);
  });

  it("explains itself", async () => {
    const help = await admin("--help");
    expect(help.code).toBe(0);
    expect(help.out).toContain("keys revoke KEY_ID");
  });
});
