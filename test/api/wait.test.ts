// `?wait=` on jobs: the API answers as soon as the job changes, and does no work before that.
import type { Registry } from "prom-client";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { clientOf, execute, serveApi, testDeps, useApi } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTrainingJob } from "../support/rows.ts";

// Longer than any wait: only a notification wakes a request before its wait ends.
const api = useApi({ timing: { beatMs: 120_000 } });
/** The time of ?wait=30. */
const waitMs = 30_000;

const waiting = async (registry: Registry) =>
  /plosive_waiting_requests\{what="wait"\} (\d+)/.exec(await registry.metrics())?.[1];
const untilWaiting = (registry: Registry) =>
  poll("the request to wait", async () => (await waiting(registry)) === "1");

const kinds = [
  {
    kind: "training",
    path: "/api/v1/training-jobs",
    make: (tenant: string) => insertTrainingJob(api.db, tenant),
  },
  {
    kind: "inference",
    path: "/api/v1/inference-jobs",
    make: async (tenant: string) =>
      (await insertInferenceJob(api.db, tenant, await insertModel(api.db, tenant), 1)).id,
  },
] as const;

const setStatus = (kind: string, id: string, status: string) =>
  execute(
    api.db,
    sql.fragment`update ${sql.identifier([`${kind}_jobs`])} set status = ${status} where id = ${id}`,
  );

describe.each(kinds)("a $kind job", ({ kind, path, make }) => {
  it("is returned when it changes, with its new state", async () => {
    const client = await api.tenant();
    const id = await make(client.tenantId);
    const known = (await client.get(`${path}/${id}`)).headers.get("etag") ?? "";
    let start = performance.now();
    const request = client.get(`${path}/${id}?wait=30`, { "If-None-Match": known });
    await setStatus(kind, id, "queued");
    const first = await request;
    expect([first.status, first.body.status]).toEqual([200, "queued"]);
    expect(performance.now() - start).toBeLessThan(waitMs);
    // Without If-None-Match the wait starts with the state at its first read. A change before that read would be
    // missed, so the test changes the job repeatedly.
    start = performance.now();
    const second = client.get(`${path}/${id}?wait=30`);
    let done = false;
    second.finally(() => {
      done = true;
    });
    for (let percent = 1; !done; percent++) {
      await execute(
        api.db,
        sql.fragment`update ${sql.identifier([`${kind}_jobs`])} set progress_percent = ${1 + (percent % 99)} where id = ${id}`,
      );
    }
    expect((await second).body.progress_percent).toBeGreaterThan(0);
    expect(performance.now() - start).toBeLessThan(waitMs);
  });

  it("is returned at once when the client's ETag is stale or the job has ended", async () => {
    const client = await api.tenant();
    const id = await make(client.tenantId);
    const start = performance.now();
    const known = (await client.get(`${path}/${id}`)).headers.get("etag") ?? "";
    await setStatus(kind, id, "queued");
    const changed = await client.get(`${path}/${id}?wait=30`, { "If-None-Match": known });
    expect([changed.status, changed.body.status]).toEqual([200, "queued"]);
    await setStatus(kind, id, "failed");
    const ended = await client.get(`${path}/${id}?wait=30`);
    expect(ended.body.status).toBe("failed");
    const same = ended.headers.get("etag") ?? "";
    expect((await client.get(`${path}/${id}?wait=30`, { "If-None-Match": same })).status).toBe(304);
    expect(performance.now() - start).toBeLessThan(waitMs);
  });

  it("is returned when the wait time is over, with 304 for a current ETag", async () => {
    const client = await api.tenant();
    const id = await make(client.tenantId);
    const start = performance.now();
    const first = await client.get(`${path}/${id}?wait=1`);
    expect(first.status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(1_000);
    const etag = first.headers.get("etag") ?? "";
    expect((await client.get(`${path}/${id}?wait=1`, { "If-None-Match": etag })).status).toBe(304);
  });

  it("accepts a wait between 0 and 60 seconds", async () => {
    const client = await api.tenant();
    const id = await make(client.tenantId);
    for (const wait of ["61", "-1", "1.5", "x", ""]) {
      const answer = await client.get(`${path}/${id}?wait=${wait}`);
      expect([wait, answer.status]).toEqual([wait, 422]);
    }
    expect((await client.get(`${path}/${id}?wait=0`)).status).toBe(200);
  });
});

describe("a waiting request", () => {
  it("is woken by a change of the job that its path names in upper case", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    const start = performance.now();
    const request = client.get(`/api/v1/training-jobs/${id.toUpperCase()}?wait=30`);
    await untilWaiting(api.registry);
    await poll("its first read to end", () => api.pool.state().acquiredConnections === 0);
    await setStatus("training", id, "queued");
    expect((await request).body.status).toBe("queued");
    expect(performance.now() - start).toBeLessThan(waitMs);
  });

  it("is refused as soon as its key is revoked", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    const key = (await client.post("/api/v1/auth/api-keys", { name: "second" })).body;
    const start = performance.now();
    const request = clientOf(api.url, key.key, client.tenantId).get(`/api/v1/training-jobs/${id}?wait=30`);
    await untilWaiting(api.registry);
    await client.delete(`/api/v1/auth/api-keys/${key.id}`);
    expect((await request).status).toBe(401);
    expect(performance.now() - start).toBeLessThan(waitMs);
  });

  it("gets 404 when the job is deleted meanwhile", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    const start = performance.now();
    const request = client.get(`/api/v1/training-jobs/${id}?wait=30`);
    await untilWaiting(api.registry);
    await poll("its first read to end", () => api.pool.state().acquiredConnections === 0);
    await execute(api.db, sql.fragment`delete from training_jobs where id = ${id}`);
    expect((await request).body.code).toBe("training_job_not_found");
    expect(performance.now() - start).toBeLessThan(waitMs);
  });

  it("makes no queries while nothing changes", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    let queries = 0;
    const deps = testDeps(api.pool, api.storage);
    const counting = <T extends object>(db: T): T =>
      new Proxy(db, {
        get: (target, name) => {
          const member = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          if (name === "asTenant") return (tenantId: string) => counting(member.call(target, tenantId));
          return (...args: unknown[]) => {
            queries += 1;
            return member.apply(target, args);
          };
        },
      });
    const own = await serveApi({ ...deps, db: counting(deps.db) });
    try {
      const same = clientOf(own.url, client.key, client.tenantId);
      await same.get(`/api/v1/training-jobs/${id}`);
      await own.app.settle();
      const once = queries;
      expect(once).toBeGreaterThanOrEqual(2);
      await same.get(`/api/v1/training-jobs/${id}?wait=3`);
      // Four more queries: one read when the listener has connected, one read at the end, and the look-up of the key
      // before each.
      expect(queries - once).toBeLessThanOrEqual(once + 4);
    } finally {
      await own.stop();
    }
  });

  it("is answered when its process stops", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    const deps = testDeps(api.pool, api.storage);
    const own = await serveApi(deps);
    const request = clientOf(own.url, client.key, client.tenantId).get(`/api/v1/training-jobs/${id}?wait=60`);
    await untilWaiting(deps.registry);
    own.app.drain();
    expect((await request).status).toBe(200);
    await own.stop();
  });

  it("frees its slot when its client disconnects", async () => {
    const client = await api.tenant();
    const id = await insertTrainingJob(api.db, client.tenantId);
    const deps = testDeps(api.pool, api.storage);
    const own = await serveApi(deps);
    const gone = new AbortController();
    const request = fetch(`${own.url}/api/v1/training-jobs/${id}?wait=60`, {
      headers: { "X-API-Key": client.key },
      signal: gone.signal,
    }).catch(() => "gone");
    await untilWaiting(deps.registry);
    gone.abort();
    expect(await request).toBe("gone");
    await poll("its slot to be free", async () => (await waiting(deps.registry)) === "0");
    await own.stop();
  });
});
