// Lists by time of creation: their order, and the restriction to a period.
import { type FragmentSqlToken, sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let dataset: string;
let job: string;
let webhook: string;
/** Path of each list, and the table whose rows it shows. */
const lists: Record<string, { path: () => string; table: string }> = {
  datasets: { path: () => "/api/v1/datasets", table: "datasets" },
  "audio files": { path: () => `/api/v1/datasets/${dataset}/audio`, table: "audio_files" },
  "annotation sets": { path: () => `/api/v1/datasets/${dataset}/annotation-sets`, table: "annotation_sets" },
  "training jobs": { path: () => "/api/v1/training-jobs", table: "training_jobs" },
  models: { path: () => "/api/v1/models", table: "models" },
  "inference jobs": { path: () => "/api/v1/inference-jobs", table: "inference_jobs" },
  "inference files": { path: () => `/api/v1/inference-jobs/${job}/files`, table: "inference_files" },
  webhooks: { path: () => "/api/v1/webhooks", table: "webhooks" },
  deliveries: { path: () => `${webhook}/deliveries`, table: "webhook_deliveries" },
};
const days = ["2026-01-01", "2026-01-02", "2026-01-03"];

beforeAll(async () => {
  client = await api.tenant();
  const url = "https://example.com/";
  for (let i = 0; i < 3; i++) {
    dataset = await makeDataset(client);
    webhook = (await client.post("/api/v1/webhooks", { url })).headers.get("location")!;
  }
  for (let i = 0; i < 3; i++) await client.post(`${webhook}/test`);
  for (let i = 0; i < 3; i++) {
    await addReadyAudio(api.db, client.tenantId, dataset);
    const set = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
    const training = await addTrainingJob(api.db, client.tenantId, dataset, set);
    const model_id = await addModel(api.db, client.tenantId, training);
    job = (await client.post("/api/v1/inference-jobs", { model_id })).body.id;
  }
  const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
  await client.post(`/api/v1/inference-jobs/${job}/files/upload-urls`, { files: [file, file, file] });
  const run = (statement: FragmentSqlToken) => execute(api.db, statement);
  for (const { table } of Object.values(lists)) {
    const name = sql.identifier([table]);
    await run(sql.fragment`
      update ${name} t set created_at = (${sql.array(days, "text")})[n.n]::timestamptz
      from (select id, row_number() over (order by id) as n from ${name} where tenant_id = ${client.tenantId}) n
      where t.id = n.id`);
  }
});

describe("a list of", () => {
  it.each(Object.entries(lists))("%s is in the requested order", async (_, { path }) => {
    const daysOf = async (query: string) =>
      (await client.get(`${path()}?${query}`)).body.items.map((item: { created_at: string }) =>
        item.created_at.slice(0, 10),
      );
    expect(await daysOf("")).toEqual(days.toReversed());
    expect(await daysOf("order=desc")).toEqual(days.toReversed());
    expect(await daysOf("order=asc")).toEqual(days);
    expect(await daysOf("order=asc&page=2&page_size=2")).toEqual(days.slice(2));
  });

  it.each(Object.entries(lists))("%s has only the items of the period", async (_, { path }) => {
    const found = async (query: string) => {
      const { items, total } = (await client.get(`${path()}?${query}`)).body;
      expect(items).toHaveLength(total);
      return items.map((item: { created_at: string }) => item.created_at.slice(8, 10)).join(" ");
    };
    expect(await found("created_after=2026-01-02T00:00:00Z")).toBe("03 02");
    expect(await found("created_after=2026-01-02T00:00:00.001Z")).toBe("03");
    expect(await found("created_before=2026-01-02T00:00:00Z")).toBe("01");
    expect(await found("created_before=2026-01-02T01:00:00%2B01:00")).toBe("01");
    expect(await found("created_after=2026-01-02T00:00:00Z&created_before=2026-01-03T00:00:00Z")).toBe("02");
    expect(await found("created_after=0000-01-01T00:00:00Z&created_before=9999-12-31T23:59:59Z")).toBe(
      "03 02 01",
    );
  });

  it.each(Object.entries(lists))("%s says whether more items follow", async (_, { path }) => {
    const more = async (page: number, size: number) => {
      const answer = await client.get(`${path()}?page=${page}&page_size=${size}`);
      const { items, has_more } = answer.body;
      expect(answer.headers.has("X-Next-Cursor")).toBe(has_more);
      return [items.length, has_more];
    };
    expect(await more(1, 2)).toEqual([2, true]);
    expect(await more(2, 2)).toEqual([1, false]);
    expect(await more(3, 2)).toEqual([0, false]);
    expect(await more(1, 3)).toEqual([3, false]);
    expect(await more(3, 1)).toEqual([1, false]);
  });

  it.each(Object.entries(lists))("%s is read in full by its cursors", async (_, { path, table }) => {
    // Two rows of the same microsecond, and one that is less than a millisecond older.
    const times = ["2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00Z"];
    const name = sql.identifier([table]);
    const ids = (await client.get(path())).body.items.map((item: { id: string }) => item.id);
    const setTimes = (values: string[]) =>
      execute(
        api.db,
        sql.fragment`update ${name} t set created_at = n.at::timestamptz
          from unnest(${sql.array(ids, "uuid")}, ${sql.array(values, "text")}) n (id, at) where t.id = n.id`,
      );
    await setTimes(times);
    try {
      for (const order of ["asc", "desc"]) {
        const whole = (await client.get(`${path()}?order=${order}`)).body;
        expect([whole.items.length, whole.has_more]).toEqual([3, false]);
        const read: unknown[] = [];
        for (let cursor: string | null = ""; cursor !== null; ) {
          const query = `order=${order}&page_size=1${cursor === "" ? "" : `&cursor=${cursor}`}`;
          const answer: Answer = await client.get(`${path()}?${query}`);
          cursor = answer.headers.get("X-Next-Cursor");
          expect(answer.body).toMatchObject({ total: 3, has_more: cursor !== null });
          read.push(...answer.body.items);
        }
        expect(read).toEqual(whole.items);
      }
    } finally {
      await setTimes(days.toReversed());
    }
  });

  it.each(Object.entries(lists))("%s refuses what is no time, order or cursor", async (_, { path }) => {
    for (const query of [
      "created_after=yesterday",
      "created_before=2026-01-02",
      "order=newest",
      "cursor=2",
    ]) {
      const answer = await client.get(`${path()}?${query}`);
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["query", query.split("=")[0]]]);
    }
  });
});
