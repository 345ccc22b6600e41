// The shares of what is scarce in an API process: one tenant takes its part, another one notices nothing. Those that are held
// until a response is read, or while a route works: unread-responses.test.ts and held-shares.test.ts.
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { maxDocumentBytes } from "../../src/api/body/documents.ts";
import { makeShares, unitsOf } from "../../src/api/shares.ts";
import { type Answer, type Client, useApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";
import { poll } from "../support/poll.ts";
import { makeDataset } from "../support/world.ts";

const api = useApi();
let greedy: Client;
let other: Client;
beforeAll(async () => {
  [greedy, other] = [await api.tenant(), await api.tenant()];
});

async function drafts(client: Client, count: number): Promise<string[]> {
  const sets = `/api/v1/datasets/${await makeDataset(client)}/annotation-sets`;
  const made = Array.from({ length: count }, async () => `${sets}/${(await client.post(sets)).body.id}`);
  return await Promise.all(made);
}

describe("database connections", () => {
  it("one tenant's blocked writes hold at most four of ten; another tenant's requests succeed", async () => {
    const sets = await drafts(greedy, 12);
    const ids = sets.map((path) => path.split("/").at(-1)!);
    const answers = await api.db.transaction(async (tx) => {
      await tx.query(
        sql.unsafe`select from annotation_sets where id = any(${sql.array(ids, "uuid")}) for update`,
      );
      const blocked = sets.map((path) => greedy.post(`${path}/publish`));
      await poll("the share to be used up", () => api.pool.state().acquiredConnections === 4);
      // Few enough that the blocked statements do not reach their timeout meanwhile.
      const reads = Array.from({ length: 20 }, () => other.get("/api/v1/datasets"));
      for (const answer of await Promise.all(reads)) expect(answer.status).toBe(200);
      // The last reads give their connections back after their answers.
      await poll(
        "the blocked writes alone to hold connections",
        () => api.pool.state().acquiredConnections === 4,
      );
      return blocked;
    });
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  });
});

describe("lists that may read all rows", () => {
  it("of one tenant run one at a time; another tenant's, and pages near the first, do not wait", async () => {
    const [set] = await drafts(greedy, 1);
    const [filtered, far, near] = ["name=x", "page=1000", "page=2"].map(
      (query) => `/api/v1/datasets?${query}`,
    );
    const count = () => api.pool.state().acquiredConnections;
    const answers = await api.db.transaction(async (tx) => {
      // Statements that read datasets wait until the end of the transaction.
      await tx.query(sql.unsafe`lock table datasets in access exclusive mode`);
      const begin = (client: Client, path: string) => client.get(path).then(({ status }) => status);
      const scans = [begin(greedy, filtered!), begin(greedy, far!)];
      await untilLocked(tx, 1);
      // No page is asked for, and the table of datasets is not needed.
      let isRead = false;
      const labels = begin(greedy, `${set}/annotations?artifact_type=click`);
      scans.push(labels.finally(() => (isRead = true)));
      const others = [begin(greedy, near!), begin(other, filtered!)];
      await untilLocked(tx, 3);
      await setTimeout(200);
      await poll("only these to hold connections", () => count() === 3, 3_000);
      expect(isRead).toBe(false);
      return [...scans, ...others];
    });
    for (const status of await Promise.all(answers)) expect(status).toBe(200);
  });
});

describe("requests that read all of something", () => {
  it("run one at a time for each tenant, whatever their method and parameters", async () => {
    const [set = ""] = await drafts(greedy, 1);
    const [dataset_id, annotation_set_id] = [set.split("/")[4], set.split("/").at(-1)];
    const sets = `/api/v1/datasets/${dataset_id}/annotation-sets`;
    const id = randomUUID();
    const job = { dataset_id, annotation_set_id, config: { artifact_types: ["click"] } };
    const requests: Record<string, () => Promise<Answer>> = {
      "inference jobs": () => greedy.get("/api/v1/inference-jobs"),
      "inference files": () => greedy.get(`/api/v1/inference-jobs/${id}/files`),
      models: () => greedy.get("/api/v1/models"),
      deliveries: () => greedy.get(`/api/v1/webhooks/${id}/deliveries`),
      events: () => greedy.get("/api/v1/events"),
      "reviewed files": () => greedy.get(`${set}/reviewed`),
      "detections of a file": () => greedy.get(`/api/v1/inference-jobs/${id}/files/${id}/detections`),
      "a draft from detections": () =>
        greedy.post(`/api/v1/inference-jobs/${id}/to-annotation-set`, { dataset_id }),
      "a training": () => greedy.post("/api/v1/training-jobs", job),
      "a training with a key": () => greedy.post("/api/v1/training-jobs", job, { "Idempotency-Key": id }),
      "a training again": () => greedy.post(`/api/v1/training-jobs/${id}/retry`),
      "a draft from another set": () => greedy.post(sets, { from_annotation_set_id: id }),
      "the deletion of a draft": () => greedy.delete(`${sets}/${id}`),
      "the deletion of a dataset": () => greedy.delete(`/api/v1/datasets/${id}`),
      "the deletion of an inference job": () => greedy.delete(`/api/v1/inference-jobs/${id}`),
      "the deletion of a webhook": () => greedy.delete(`/api/v1/webhooks/${id}`),
      "the deletion of an audio file": () => greedy.delete(`/api/v1/datasets/${dataset_id}/audio/${id}`),
    };
    const answered: string[] = [];
    const answers = await api.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`lock table datasets in access exclusive mode`);
      const first = greedy.get("/api/v1/datasets?name=x");
      await untilLocked(tx);
      const begun = Object.entries(requests).map(async ([what, begin]) => {
        const { status } = await begin();
        answered.push(what);
        return status;
      });
      await setTimeout(300);
      const held = () => api.pool.state().acquiredConnections;
      await poll("only the list to hold a connection", () => held() === 1, 3_000);
      expect(answered).toEqual([]);
      return [first.then(({ status }) => status), ...begun];
    });
    for (const status of await Promise.all(answers)) expect([200, 404, 409]).toContain(status);
    expect(answered).toHaveLength(Object.keys(requests).length);
  });
});

describe("request bodies", () => {
  it("of two tenants with the largest documents leave room for a third tenant's", async () => {
    const { documents } = makeShares(new Registry(), api.pool);
    const largest = unitsOf(maxDocumentBytes);
    await Promise.all([documents("a", largest), documents("b", largest)]);
    const third = documents("c", largest).then(() => "taken");
    expect(await Promise.race([third, setTimeout(1_000, "waits")])).toBe("taken");
  });

  /** Sends the head of an import and a part of its body, and returns the first line and the body of the answer. */
  const slowImport = (client: Client, path: string, size: number) => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = [
      `POST ${path}/import/annotation-tool HTTP/1.1`,
      "Host: x",
      `X-API-Key: ${client.key}`,
      "Content-Type: application/json",
      `Content-Length: ${size}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n[`);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    return { socket, text: () => text };
  };
  const size = 8 * 1024 * 1024;

  it("of one tenant wait for its share and are then refused unread; another tenant's are read", async () => {
    const [set = ""] = await drafts(greedy, 1);
    const [free = ""] = await drafts(other, 1);
    const slow = Array.from({ length: 5 }, () => slowImport(greedy, set, size));
    await poll("four to be refused", () => slow.filter(({ text }) => text() !== "").length === 4);
    for (const { text } of slow.filter(({ text }) => text() !== "")) {
      expect(text()).toMatch(/^HTTP\/1\.1 429 /);
      expect(text()).toMatch(/^retry-after: \d+/im);
      expect(text()).toContain('"code":"share_exceeded"');
      expect(text()).toContain("large request bodies");
    }
    expect((await greedy.post(`${set}/import/annotation-tool`, [])).status).toBe(200);
    const body = JSON.stringify([{ data: { filename: "x".repeat(size - 100) } }]);
    expect((await other.post(`${free}/import/annotation-tool`, JSON.parse(body))).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });

  it("of one tenant are read at 1 MiB per second, unless they are small", async () => {
    const sets = await drafts(greedy, 2);
    const body = (bytes: number) => [{ data: { filename: "x".repeat(bytes - 100) } }];
    const began = performance.now();
    // Each holds the whole share until the bodies so far are paid for, so the last one is read after 8 MiB.
    const imports = Array.from({ length: 5 }, (_, i) =>
      greedy.post(`${sets[i % 2]}/import/annotation-tool`, body(size / 4)),
    );
    for (const answer of await Promise.all(imports)) expect(answer.status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(7_000);
  });

  it.each([
    [
      "empty objects",
      (count: number) => `[{"annotations":[{"was_cancelled":true,"result":[${"{},".repeat(count)}{}]}]}]`,
    ],
    [
      "empty lists",
      (count: number) => `[{"annotations":[{"was_cancelled":true,"result":[${"[],".repeat(count)}[]]}]}]`,
    ],
    ["objects in strings", (count: number) => `["\\"${"{},".repeat(count)}"]`],
  ])("of two million %s are judged before they are parsed", async (what, make) => {
    const [set = ""] = await drafts(greedy, 1);
    const answer = await fetch(`${api.url}${set}/import/annotation-tool`, {
      method: "POST",
      headers: { "X-API-Key": greedy.key, "Content-Type": "application/json" },
      body: make(2_000_000),
    });
    const { code, detail } = (await answer.json()) as { code?: string; detail: string };
    if (what === "objects in strings") expect([answer.status, code]).toEqual([422, undefined]);
    else {
      expect([answer.status, code]).toEqual([400, "invalid_request"]);
      expect(detail).toMatch(/2000\d{3} objects and lists/);
    }
  });
});

describe("two processes on one database", () => {
  const all = Number.POSITIVE_INFINITY;
  const taken = (share: Promise<unknown>) => share.then(() => "taken");
  const soon = (share: Promise<unknown>) => Promise.race([taken(share), setTimeout(1_000, "waits")]);
  const processes = () =>
    [makeShares(new Registry(), api.pool), makeShares(new Registry(), api.pool)] as const;

  it("read one body over 1 MiB of a tenant at a time; smaller ones and those of others do not wait", async () => {
    const [one, two] = processes();
    const [{ tenantId }, { tenantId: unrelated }] = [await api.tenant(), await api.tenant()];
    const release = await one.large_bodies(tenantId, all);
    const next = two.large_bodies(tenantId, all);
    const others = [two.large_bodies(tenantId, unitsOf(1024 * 1024)), two.large_bodies(unrelated, all)];
    expect(await Promise.all(others.map(soon))).toEqual(["taken", "taken"]);
    expect(await soon(next)).toBe("waits");
    for (const other of others) (await other)();
    release(1_500);
    expect(await soon(next)).toBe("waits");
    (await next)();
  });

  it("refuse a second one after ten seconds, and one for which all tenants together leave no room, which keeps no place", async () => {
    const [one, two] = processes();
    const tenants = await Promise.all(Array.from({ length: 5 }, () => api.tenant()));
    const ids = tenants.map(({ tenantId }) => tenantId);
    const releases = await Promise.all(ids.slice(0, 4).map((id) => one.large_bodies(id, all)));
    const [second, fifth] = [two.large_bodies(ids[0]!, all), one.large_bodies(ids[4]!, all)];
    await Promise.all([
      expect(second).rejects.toMatchObject({ code: "share_exceeded" }),
      expect(fifth).rejects.toThrow("all tenants together"),
    ]);
    releases.push(await two.large_bodies(ids[4]!, all));
    for (const release of releases) release();
  });

  it("send two exports of a tenant at a time", async () => {
    const [one, two] = processes();
    const { tenantId } = await api.tenant();
    const [first, second] = [await one.exports(tenantId, 1), await two.exports(tenantId, 1)];
    const next = two.exports(tenantId, 1);
    expect(await soon(next)).toBe("waits");
    first();
    (await next)();
    second();
  });
});
