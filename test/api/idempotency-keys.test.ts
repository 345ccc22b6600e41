// The life of an Idempotency-Key: what it matches, requests with it that run at once, failures, expiry and deletion.
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { digest } from "../../src/api/fingerprint.ts";
import { runOnce } from "../../src/api/idempotency.ts";
import type { Call } from "../../src/api/route.ts";
import type { Exchange } from "../../src/api/step.ts";
import { insertRequestKey, purgeRequestKeys } from "../../src/db/idempotency.ts";
import { type Answer, execute, useApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";
import { useRequestKeys, withKey } from "../support/request-keys.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
const { client, world, trainingJob, countRows } = useRequestKeys(api);

describe("an Idempotency-Key", () => {
  it("is valid for one path of one tenant", async () => {
    const other = await api.tenant();
    const mine = await client.post("/api/v1/datasets", { name: "a" }, withKey("shared"));
    const theirs = await other.post("/api/v1/datasets", { name: "a" }, withKey("shared"));
    expect(theirs.body.id).not.toBe(mine.body.id);
    const second = await makeDataset(client);
    const one = await client.post(
      `/api/v1/datasets/${world.datasetId}/annotation-sets`,
      {},
      withKey("shared"),
    );
    const two = await client.post(`/api/v1/datasets/${second}/annotation-sets`, {}, withKey("shared"));
    expect([one.status, two.status]).toEqual([201, 201]);
  });

  it("matches an equal body with its members in another order", async () => {
    const first = await client.post(
      "/api/v1/datasets",
      { name: "order", artifact_types: [{ name: "a", description: "b" }] },
      withKey("order"),
    );
    const second = await client.post(
      "/api/v1/datasets",
      { artifact_types: [{ description: "b", name: "a" }], name: "order" },
      withKey("order"),
    );
    expect(second.body.id).toBe(first.body.id);
  });

  it("has 1 to 255 characters, and its faults are reported with all others", async () => {
    const long = await client.post("/api/v1/datasets", {}, withKey("k".repeat(256)));
    expect(long.body.detail.map((item: { loc: unknown }) => item.loc)).toEqual([
      ["header", "Idempotency-Key"],
      ["body", "name"],
    ]);
    expect(long.body.detail[0].type).toBe("string_too_long");
    const most = await client.post("/api/v1/datasets", { name: "a" }, withKey("k".repeat(255)));
    expect(most.status).toBe(201);
    const none = await client.post("/api/v1/datasets", { name: "a" }, withKey(""));
    expect(none.body.detail[0]).toMatchObject({ type: "string_too_short" });
  });

  it("is not stored with a failure, so that the corrected or repeated request is executed", async () => {
    const audio = await addReadyAudio(api.db, client.tenantId, world.datasetId, { status: "processing" });
    const body = { model_id: world.modelId, audio_file_ids: [audio] };
    const early = await client.post("/api/v1/inference-jobs", body, withKey("early"));
    expect(early.body.code).toBe("audio_not_ready");
    await execute(api.db, sql.fragment`update audio_files set status = 'ready' where id = ${audio}`);
    expect((await client.post("/api/v1/inference-jobs", body, withKey("early"))).status).toBe(201);
    expect((await client.post("/api/v1/datasets", { name: 1 }, withKey("fixed"))).status).toBe(422);
    expect((await client.post("/api/v1/datasets", { name: "1" }, withKey("fixed"))).status).toBe(201);
  });

  it("is answered with 409 and Retry-After while its first request is running", async () => {
    const send = () => client.post("/api/v1/datasets", { name: "slow" }, withKey("slow"));
    let both: Promise<Answer>[] = [];
    // The insert of the dataset blocks on the lock of the tenant's row.
    await api.db.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`select from tenants where id = ${client.tenantId} for update`);
      both = [send(), send()];
      const early = await Promise.race(both);
      expect([early.status, early.body.code]).toEqual([409, "request_in_progress"]);
      expect(early.headers.get("retry-after")).toBe("1");
    });
    expect((await Promise.all(both)).map((answer) => answer.status).sort()).toEqual([201, 409]);
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
  });

  it("creates one resource however many requests arrive at once", async () => {
    const before = await countRows();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post("/api/v1/datasets", { name: "race" }, withKey("race"))),
    );
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const ids = answers.filter((answer) => answer.status === 201).map((answer) => answer.body.id);
    expect(new Set(ids).size).toBe(1);
    expect(await countRows()).toBe(before + 1);
  });

  it("expires after 24 hours, even before its row is deleted", async () => {
    const first = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    await execute(
      api.db,
      sql.fragment`update idempotency_keys set created_at = now() - interval '24 hours 1 second'
        where tenant_id = ${client.tenantId} and ${first.body.id} = any(created_ids)`,
    );
    const second = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    expect(second.body.id).not.toBe(first.body.id);
    const third = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    expect(third.body.id).toBe(second.body.id);

    await execute(
      api.db,
      sql.fragment`update idempotency_keys set created_at = now() - interval '2 days'
        where ${second.body.id} = any(created_ids)`,
    );
    expect(await purgeRequestKeys(api.db, 10)).toBe(1);
    expect(await purgeRequestKeys(api.db, 10)).toBe(0);
  });

  it("is deleted in batches, but not if a request renews it meanwhile", async () => {
    const change = (created: string) => sql.type(z.object({}))`
      update idempotency_keys set created_at = now() - ${created}::interval
      where tenant_id = ${client.tenantId} and created_ids && ${sql.array(ids, "uuid")}`;
    const ids: string[] = [];
    for (const key of ["first", "second", "third"])
      ids.push((await client.post("/api/v1/datasets", { name: key }, withKey(key))).body.id);
    await api.db.query(change("2 days"));
    expect(await purgeRequestKeys(api.db, 2)).toBe(2);

    const [renewed, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const renewal = api.db.transaction(async (tx) => {
      await tx.query(change("0"));
      renewed.resolve();
      await goOn.promise;
    });
    await renewed.promise;
    const purging = api.db.transaction(async (tx) => {
      // The plan for a large table, which is the dangerous one.
      await tx.query(sql.unsafe`set local enable_seqscan = off`);
      return await purgeRequestKeys(tx, 2);
    });
    await untilLocked(api.db);
    goOn.resolve();
    await renewal;
    expect(await purging).toBe(0);
    expect((await api.db.query(change("2 days"))).rowCount).toBe(1);
    expect(await purgeRequestKeys(api.db, 2)).toBe(1);
  });

  it("causes no submission for a transaction that the database rolled back", async () => {
    // A rollback does not reset a sequence: the first commit fails, the second succeeds.
    for (const statement of [
      sql.fragment`create sequence commits`,
      sql.fragment`create function refuse_first_commit() returns trigger language plpgsql security definer as $$
        begin
          if nextval('commits') = 1 then raise exception 'once more' using errcode = '40001'; end if;
          return null;
        end $$`,
      sql.fragment`create constraint trigger refuse_first_commit after insert on training_jobs
        deferrable initially deferred for each row execute function refuse_first_commit()`,
    ])
      await execute(api.db, statement);
    await api.settle();
    const before = api.submitted.length;
    await addReadyAudio(api.db, client.tenantId, world.datasetId, { durationMs: 300_000 });
    const made = await client.post("/api/v1/training-jobs", trainingJob(), withKey(randomUUID()));
    await api.settle();
    await execute(api.db, sql.fragment`drop trigger refuse_first_commit on training_jobs`);
    expect(made.status).toBe(201);
    expect(api.submitted.slice(before)).toEqual([{ kind: "training", id: made.body.id }]);
  });

  it("drops the work that an attempt put off if its retry finds what another request created", async () => {
    const headers = { "idempotency-key": "retried" };
    const exchange = {
      ctx: { method: "POST", path: "/api/v1/datasets", req: { headers } },
      route: { idempotent: async (_: Call, ids: readonly string[]) => ({ body: ids }) },
      caller: { tenantId: client.tenantId },
      call: { deps: { db: api.pool.asTenant(client.tenantId) } },
      fingerprint: randomBytes(32),
      deferred: [],
    } as unknown as Exchange;
    const [begun, created] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ran = runOnce(exchange, async () => {
      exchange.deferred.push(["submit what is rolled back", async () => {}]);
      begun.resolve();
      await created.promise;
      throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
    });
    await begun.promise;
    const id = randomUUID();
    const { tenantId } = client;
    const scope = digest(["POST", "/api/v1/datasets", "retried"]);
    const fingerprint = Buffer.from(exchange.fingerprint!);
    await insertRequestKey(api.db, { tenantId, scope, fingerprint }, [id]);
    created.resolve();
    await ran;
    expect(exchange.reply.body).toEqual([id]);
    expect(exchange.deferred).toEqual([]);
  });

  it("is ignored by operations that create nothing", async () => {
    const name = { name: "patched" };
    const path = `/api/v1/datasets/${world.datasetId}`;
    expect((await client.patch(path, name, withKey("k".repeat(300)))).status).toBe(200);
  });
});
