// Conditional reads: the ETag of each resource, and If-None-Match, which avoids sending an unchanged resource again.
// Lost updates: if-match.test.ts.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { isExpected, isUnchanged } from "../../src/api/conditional.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { type Ids, makeFullWorld } from "../support/isolation.ts";
import { addReadyAudio, makeDataset, makeDraft } from "../support/world.ts";

const api = useApi();
let client: Client;
let ids: Ids;
beforeAll(async () => {
  client = await api.tenant();
  ids = await makeFullWorld(client, api.db);
  await execute(
    api.db,
    sql.fragment`update audio_files set peaks_key = 'peaks' where id = ${ids.audio_file_id!}`,
  );
  const peaks = { version: 2, channels: 1, sample_rate: 16000, samples_per_pixel: 256, bits: 8, length: 1 };
  await api.storage.write("peaks", Buffer.from(JSON.stringify({ ...peaks, data: [-1, 1] })));
});

const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!);

describe("If-None-Match", () => {
  const readers = routes.filter((route) => route.conditional);

  it("is supported by every GET of a single resource", () => {
    // Answers that differ each time (signed URLs, probes, streams) and lists have no ETag.
    const without = routes
      .filter((route) => route.method === "GET" && !route.conditional && route.path.endsWith("}"))
      .map((route) => route.operationId);
    expect(without).toEqual([]);
    expect(readers.length).toBeGreaterThan(10);
  });

  it.each(readers.map((route) => [route.operationId, route.path]))("%s", async (_, path) => {
    const first = await client.get(fill(path));
    expect(first.status, first.text).toBe(200);
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await client.get(fill(path))).headers.get("etag")).toBe(etag);
    for (const header of [etag, `W/${etag}`, `"other" , ${etag}`, "*"]) {
      const again = await fetch(api.url + fill(path), {
        headers: { "X-API-Key": client.key, "If-None-Match": header },
      });
      expect([header, again.status, await again.text()]).toEqual([header, 304, ""]);
      expect(again.headers.get("etag")).toBe(etag);
      expect(again.headers.get("cache-control")).toBe("private, no-cache");
      expect(again.headers.get("content-type")).toBeNull();
      expect(again.headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
    for (const header of ['"other"', etag.slice(1, -1), "", `${etag}x`]) {
      const full = await client.get(fill(path), { "If-None-Match": header });
      expect([header, full.status]).toEqual([header, 200]);
      expect(full.text).toBe(first.text);
    }
  });

  it("does not replace a 401 or a 404 by a 304", async () => {
    const path = `/api/v1/datasets/${ids.dataset_id}`;
    const any = { "If-None-Match": "*" };
    expect((await api.as(null).get(path, any)).status).toBe(401);
    expect((await (await api.tenant()).get(path, any)).status).toBe(404);
  });
});

describe("the ETag of an annotation set", () => {
  it("changes with each change of its annotations and marks, and stays the same after refused changes", async () => {
    const { set, audio, dataset } = await makeDraft(client, api.db);
    const etagNow = async () => (await client.get(set)).headers.get("etag");
    const seen = [await etagNow()];
    const changed = async (answer: Promise<{ status: number; headers: Headers }>) => {
      const { status, headers } = await answer;
      expect(status).toBeLessThan(300);
      const now = await etagNow();
      expect(seen).not.toContain(now);
      seen.push(now);
      return headers;
    };
    const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
    const one = await client.post(`${set}/annotations`, label);
    await changed(Promise.resolve(one));
    const bulk = await changed(client.post(`${set}/annotations/bulk`, { annotations: [label, label] }));
    expect(bulk.get("x-annotation-set-etag")).toBe(await etagNow());
    expect(bulk.get("etag")).toBe((await client.get(`${set}/annotations`)).headers.get("etag"));
    const patched = await changed(client.patch(`${set}/annotations/${one.body.id}`, { end_ms: 9 }));
    expect(patched.get("x-annotation-set-etag")).toBe(await etagNow());
    const annotation = await client.get(`${set}/annotations/${one.body.id}`);
    expect(patched.get("etag")).toBe(annotation.headers.get("etag"));
    const deleted = await changed(client.delete(`${set}/annotations/${one.body.id}`));
    expect(deleted.get("x-annotation-set-etag")).toBe(await etagNow());
    const marked = await changed(client.put(`${set}/reviewed/${audio}`));
    expect(marked.get("x-annotation-set-etag")).toBe(await etagNow());
    const unmarked = await changed(client.delete(`${set}/reviewed/${audio}`));
    expect(unmarked.get("x-annotation-set-etag")).toBe(await etagNow());
    const other = await addReadyAudio(api.db, client.tenantId, dataset);
    await client.post(`${set}/annotations`, { ...label, audio_file_id: other });
    seen.push(await etagNow());
    await changed(client.delete(`/api/v1/datasets/${dataset}/audio/${other}`));

    expect((await client.post(`${set}/annotations`, { ...label, artifact_type: "none" })).status).toBe(422);
    expect((await client.delete(`${set}/annotations/${one.body.id}`)).status).toBe(404);
    expect(await etagNow()).toBe(seen.at(-1));

    const published = await changed(client.post(`${set}/publish`));
    expect(published.get("etag")).toBe(await etagNow());
    expect((await client.post(`${set}/annotations`, label)).status).toBe(409);
    expect(await etagNow()).toBe(published.get("etag"));
  });

  it("is in the answer that creates a draft", async () => {
    const dataset = await makeDataset(client);
    const made = await client.post(`/api/v1/datasets/${dataset}/annotation-sets`);
    const read = await client.get(made.headers.get("location")!);
    expect(made.headers.get("etag")).toBe(read.headers.get("etag"));
  });
});

describe("lists of entity tags", () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b","a"', true],
    ['"b" , W/"a" ,', true],
    ["*", true],
    [' "a" ', true],
    ['"b"', false],
    ["a", false],
    ['"a', false],
    ['"a" "b"', false],
    ["", false],
    ['w/"a"', false],
    ['"b", *', false],
  ])('%s contains "a": %s', (header, names) => {
    expect(isUnchanged(header, '"a"')).toBe(names);
  });

  it("are compared strongly for writes", () => {
    expect(isExpected('"a"', ['"a"'])).toBe(true);
    expect(isExpected('"x", "b"', ['"a"', '"b"'])).toBe(true);
    expect(isExpected('W/"a"', ['"a"'])).toBe(false);
    expect(isExpected("*", [])).toBe(true);
    expect(isExpected("a", ['"a"'])).toBe(false);
  });

  // So long that quadratic time would exceed the timeout of the test. The API refuses such headers before it parses them.
  it.each([
    ['"', [false, false, false]],
    [",", [false, true, false]],
    ['"a",', [true, false, false]],
    ['W/"', [false, false, false]],
    [" ", [false, true, false]],
    [", ", [false, true, false]],
    [" , ", [false, true, false]],
    ['"a" , ', [true, false, false]],
    ["\t,\t\t", [false, true, false]],
  ])("are parsed in linear time when %j is repeated", (part, expected) => {
    const odd = part.repeat(3_000_000 / part.length);
    expect([
      isUnchanged(odd, '"a"'),
      isUnchanged(`"b"${odd}`, '"b"'),
      isUnchanged(`"b"${odd}x`, '"b"'),
    ]).toEqual(expected);
  });
});
