// The shares that routes hold while they work, or until a client has read the response: what they refuse, and whom.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { sql } from "slonik";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Client, execute, useApi } from "../support/api.ts";
import { peaksText } from "../support/peaks.ts";
import { poll } from "../support/poll.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let greedy: Client;
let other: Client;
beforeAll(async () => {
  [greedy, other] = [await api.tenant(), await api.tenant()];
});

/** Calls of a function of the store wait until `open` is called. Their keys are in `begun`. */
function gate(name: "head" | "readAll") {
  const begun: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const original = api.storage[name] as (key: string, ...rest: number[]) => Promise<unknown>;
  const spy = vi.spyOn(api.storage, name).mockImplementation((async (key: string, ...rest: number[]) => {
    begun.push(key);
    await opened;
    return await original(key, ...rest);
  }) as never);
  return {
    begun,
    open: () => {
      spy.mockRestore();
      open();
    },
  };
}

describe("large responses", () => {
  /** Each takes 130 KB. */
  const addDatasets = ({ tenantId }: Client, count: number) =>
    execute(
      api.db,
      sql.fragment`
        insert into datasets (id, tenant_id, name, artifact_types)
        select gen_random_uuid(), ${tenantId}, 'large',
          (select jsonb_agg(jsonb_build_object('name', 't' || i, 'description', repeat('x', 2000) || n))
           from generate_series(1, 64) i)
        from generate_series(1, ${count}::int) n`,
    );

  it("of more than an account's share are read all the same, and hold all of it until they are read", async () => {
    await addDatasets(greedy, 100);
    await addDatasets(other, 5);
    const list = (size: number) => `/api/v1/datasets?page_size=${size}`;
    const whole = await greedy.get(list(100));
    expect([whole.status, whole.body.items.length]).toEqual([200, 100]);
    expect(whole.text.length).toBeGreaterThan(8 * 1024 * 1024);

    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${list(100)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${greedy.key}\r\n\r\n`);
    const [head] = await once(socket, "data");
    socket.pause();
    expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await greedy.get(list(5));
    expect([refused.status, refused.body.code]).toEqual([429, "share_exceeded"]);
    expect(refused.body.detail).toContain("large responses");
    expect((await greedy.get(list(1))).status).toBe(200);
    expect((await other.get(list(5))).status).toBe(200);
    socket.destroy();
    await poll("the share to be free", async () => (await greedy.get(list(5))).status === 200);
  });

  it.each([
    ["of one account are read at 2 MiB per second", ""],
    ["with a filter too", "&created_after=2020-01-01T00:00:00Z"],
  ])("%s, and those of another one do not wait for them", async (_, filter) => {
    const busy = await api.tenant();
    await addDatasets(busy, 15);
    // Each has 2 MiB, and a place of its account until it is paid for.
    const list = `/api/v1/datasets?page_size=15${filter}`;
    const began = performance.now();
    const done: string[] = [];
    const pages = Array.from({ length: 8 }, async () => {
      const { status } = await busy.get(list);
      done.push("busy");
      return status;
    });
    await poll("the first pages", () => done.length >= 4);
    expect((await other.get("/api/v1/datasets?page_size=5")).status).toBe(200);
    expect(done.length).toBeLessThan(pages.length);
    expect(await Promise.all(pages)).toEqual(Array(pages.length).fill(200));
    expect(performance.now() - began).toBeGreaterThan(3_500);
  });
});

describe("upload confirms", () => {
  it("of one account run four at a time; another account's do not wait", async () => {
    const path = async (client: Client) => {
      const audio = `/api/v1/datasets/${await makeDataset(client)}/audio`;
      const files = [{ filename: "a.wav", content_type: "audio/wav", size_bytes: 1_000 }];
      const { body } = await client.post(`${audio}/upload-urls`, { files: Array(6).fill(files[0]) });
      return body.items.map(
        (item: { audio_file_id: string }) => `${audio}/${item.audio_file_id}`,
      ) as string[];
    };
    const [own, others] = [await path(greedy), await path(other)];
    const store = gate("head");
    const confirms = own.map((file) => greedy.post(`${file}/confirm`));
    await poll("four to begin", () => store.begun.length === 4);
    confirms.push(other.post(`${others[0]}/confirm`));
    await poll("the other's to begin", () => store.begun.length === 5);
    await setTimeout(300);
    expect(store.begun.length).toBe(5);
    store.open();
    for (const { status } of await Promise.all(confirms)) expect(status).toBe(409);
  });
});

describe("waveforms", () => {
  it("of one account are read one at a time; another account's do not wait", async () => {
    const path = async (client: Client) => {
      const dataset = await makeDataset(client);
      const key = `peaks/${randomUUID()}`;
      const audio = await addReadyAudio(api.db, client.tenantId, dataset, { peaksKey: key });
      await api.storage.write(key, peaksText([-1, 1]));
      return `/api/v1/datasets/${dataset}/audio/${audio}/waveform`;
    };
    const [own, others] = [await path(greedy), await path(other)];
    const store = gate("readAll");
    const reads = [greedy.get(own), greedy.get(own), other.get(others)];
    await poll("one of each to begin", () => store.begun.length === 2);
    await setTimeout(300);
    expect(new Set(store.begun).size).toBe(2);
    expect(store.begun.length).toBe(2);
    store.open();
    for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
  });
});
