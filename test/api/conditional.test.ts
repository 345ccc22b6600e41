// Conditional requests: what a client has is not sent again, what it has not seen is not overwritten (design 2.14).
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { isExpected, isUnchanged, longestTagList } from "../../src/api/conditional.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { type Ids, makeFullWorld } from "../support/isolation.ts";
import { poll } from "../support/poll.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

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

  it("is taken by every GET of a single resource", () => {
    // Answers that are new each time (signed URLs, probes, streams) and lists have no ETag.
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
      expect(again.headers.get("x-request-id")).not.toBeNull();
    }
    for (const header of ['"other"', etag.slice(1, -1), "", `${etag}x`]) {
      const full = await client.get(fill(path), { "If-None-Match": header });
      expect([header, full.status]).toEqual([header, 200]);
      expect(full.text).toBe(first.text);
    }
  });

  it("hides no 401 and no 404", async () => {
    const path = `/api/v1/datasets/${ids.dataset_id}`;
    const any = { "If-None-Match": "*" };
    expect((await api.as(null).get(path, any)).status).toBe(401);
    expect((await (await api.tenant()).get(path, any)).status).toBe(404);
  });
});

describe("the ETag of an annotation set", () => {
  it("is another one after each change of its annotations and marks, and the same after none", async () => {
    const { set, audio, dataset } = await draft();
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

  it("comes with the draft when it is made", async () => {
    const dataset = await makeDataset(client);
    const made = await client.post(`/api/v1/datasets/${dataset}/annotation-sets`);
    const read = await client.get(made.headers.get("location")!);
    expect(made.headers.get("etag")).toBe(read.headers.get("etag"));
  });
});

async function draft() {
  const dataset = await makeDataset(client);
  const audio = await addReadyAudio(api.db, client.tenantId, dataset);
  const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
  const set = `${sets}/${(await client.post(sets)).body.id}`;
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
  const annotation = `${set}/annotations/${(await client.post(`${set}/annotations`, label)).body.id}`;
  return { dataset, audio, set, label, annotation };
}

type Send = (headers: Record<string, string>) => Promise<{ status: number; body: unknown; text: string }>;

/** For each write that takes If-Match: a fresh resource, whose ETag it takes, and how it is written. */
const writers: Record<string, () => Promise<{ read: string; send: Send }>> = {
  updateDataset: async () => {
    const read = `/api/v1/datasets/${await makeDataset(client)}`;
    return { read, send: (headers) => client.patch(read, { name: "new" }, headers) };
  },
  deleteDataset: async () => {
    const read = `/api/v1/datasets/${await makeDataset(client)}`;
    return { read, send: (headers) => client.delete(read, headers) };
  },
  updateAudioFile: async () => {
    const { dataset, audio } = await draft();
    const read = `/api/v1/datasets/${dataset}/audio/${audio}`;
    return { read, send: (headers) => client.patch(read, { filename: "new.wav" }, headers) };
  },
  deleteAudioFile: async () => {
    const { dataset, audio } = await draft();
    const read = `/api/v1/datasets/${dataset}/audio/${audio}`;
    return { read, send: (headers) => client.delete(read, headers) };
  },
  publishAnnotationSet: async () => {
    const { set } = await draft();
    return { read: set, send: (headers) => client.post(`${set}/publish`, undefined, headers) };
  },
  deleteAnnotationSet: async () => {
    const { set } = await draft();
    return { read: set, send: (headers) => client.delete(set, headers) };
  },
  markReviewedFile: async () => {
    const { set, audio } = await draft();
    return { read: set, send: (headers) => client.put(`${set}/reviewed/${audio}`, undefined, headers) };
  },
  unmarkReviewedFile: async () => {
    const { set, audio } = await draft();
    await client.put(`${set}/reviewed/${audio}`);
    return { read: set, send: (headers) => client.delete(`${set}/reviewed/${audio}`, headers) };
  },
  createAnnotation: async () => {
    const { set, label } = await draft();
    return { read: set, send: (headers) => client.post(`${set}/annotations`, label, headers) };
  },
  createAnnotations: async () => {
    const { set, label } = await draft();
    const body = { annotations: [label] };
    return {
      read: `${set}/annotations`,
      send: (headers) => client.post(`${set}/annotations/bulk`, body, headers),
    };
  },
  updateAnnotation: async () => {
    const { annotation } = await draft();
    return { read: annotation, send: (headers) => client.patch(annotation, { end_ms: 9 }, headers) };
  },
  deleteAnnotation: async () => {
    const { annotation } = await draft();
    return { read: annotation, send: (headers) => client.delete(annotation, headers) };
  },
  importAnnotationTool: async () => {
    const { set, audio } = await draft();
    const value = { start: 0.5, end: 0.6, labels: ["click"] };
    const result = [{ from_name: "label", to_name: "audio", type: "labels", value }];
    const body = [{ data: { audio_file_id: audio }, annotations: [{ result }] }];
    return {
      read: set,
      send: (headers) => client.post(`${set}/import/annotation-tool`, body, headers),
    };
  },
  importCsv: async () => {
    const { set, audio } = await draft();
    const text = `audio_file_id,artifact_type,start_ms,end_ms\n${audio},click,5,6\n`;
    return { read: set, send: (headers) => sendText(`${set}/import/csv`, "text/csv", text, headers) };
  },
  importAudacity: async () => {
    const { set, audio } = await draft();
    const path = `${set}/import/audacity?audio_file_id=${audio}`;
    return { read: set, send: (headers) => sendText(path, "text/plain", "0.5\t0.6\tclick\n", headers) };
  },
  deleteTrainingJob: async () => {
    const id = await addTrainingJob(api.db, client.tenantId, ids.dataset_id!, ids.annotation_set_id!);
    const read = `/api/v1/training-jobs/${id}`;
    return { read, send: (headers) => client.delete(read, headers) };
  },
  updateModel: async () => {
    const read = await newModel();
    return { read, send: (headers) => client.patch(read, { name: "new" }, headers) };
  },
  deleteModel: async () => {
    const read = await newModel();
    await client.post(`${read}/archive`);
    return { read, send: (headers) => client.delete(read, headers) };
  },
  deleteInferenceJob: async () => {
    const read = await newJob();
    await client.post(`${read}/cancel`);
    return { read, send: (headers) => client.delete(read, headers) };
  },
  deleteInferenceFile: async () => {
    const job = await newJob();
    const upload = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
    const read = (await client.post(`${job}/files/upload-url`, upload)).headers.get("location")!;
    return { read, send: (headers) => client.delete(read, headers) };
  },
  updateWebhook: async () => {
    const read = await newWebhook();
    return { read, send: (headers) => client.patch(read, { description: "new" }, headers) };
  },
  deleteWebhook: async () => {
    const read = await newWebhook();
    return { read, send: (headers) => client.delete(read, headers) };
  },
};

async function sendText(path: string, type: string, body: string, headers: Record<string, string>) {
  const answer = await fetch(api.url + path, {
    method: "POST",
    headers: { "X-API-Key": client.key, "Content-Type": type, ...headers },
    body,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text), text };
}

async function newModel(): Promise<string> {
  const training = await addTrainingJob(api.db, client.tenantId, ids.dataset_id!, ids.annotation_set_id!);
  return `/api/v1/models/${await addModel(api.db, client.tenantId, training)}`;
}

async function newJob(): Promise<string> {
  return (await client.post("/api/v1/inference-jobs", { model_id: ids.model_id })).headers.get("location")!;
}

async function newWebhook(): Promise<string> {
  const made = await client.post("/api/v1/webhooks", { url: "https://hooks.example.com/y" });
  return made.headers.get("location")!;
}

const refused = {
  detail: "The resource has changed since: If-Match names none of its ETags",
  code: "precondition_failed",
};

describe("If-Match", () => {
  it("is in the table below for every route that takes it", () => {
    const guarded = routes.filter((route) => route.guard).map((route) => route.operationId);
    expect(guarded.filter((name) => !(name in writers))).toEqual([]);
    // And every change or deletion of a resource that has an ETag takes it.
    const readers = new Set(routes.filter((route) => route.conditional).map((route) => route.path));
    const open = routes.filter(
      (route) => ["PATCH", "PUT", "DELETE"].includes(route.method) && readers.has(route.path) && !route.guard,
    );
    expect(open.map((route) => route.operationId)).toEqual([]);
  });

  it.each(Object.keys(writers))("%s", async (name) => {
    const { read, send } = await writers[name]!();
    const before = await client.get(read);
    const etag = before.headers.get("etag")!;
    for (const header of ['"other"', `W/${etag}`, '"a", "b"', "nonsense"]) {
      const answer = await send({ "If-Match": header });
      expect([header, answer.status, answer.body]).toEqual([header, 412, refused]);
    }
    expect((await send({ "If-Match": `"${"x".repeat(longestTagList)}"` })).status).toBe(400);
    expect((await client.get(read)).text).toBe(before.text);
    const answer = await send({ "If-Match": `"other", ${etag}` });
    expect(answer.status, answer.text).toBeLessThan(300);
    // What was true before is so no longer.
    const late = await send({ "If-Match": etag });
    expect([404, 412]).toContain(late.status);
  });

  it.each(Object.keys(writers))("* of %s", async (name) => {
    const { send } = await writers[name]!();
    const answer = await send({ "If-Match": "*" });
    expect(answer.status, answer.text).toBeLessThan(300);
  });

  it("on one annotation also takes the set's, for editors that want the whole set unchanged", async () => {
    const { set, annotation, label } = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    const first = await client.patch(annotation, { end_ms: 5 }, { "If-Match": etag });
    const next = first.headers.get("x-annotation-set-etag")!;
    expect((await client.patch(annotation, { end_ms: 6 }, { "If-Match": etag })).status).toBe(412);
    expect((await client.patch(annotation, { end_ms: 6 }, { "If-Match": next })).status).toBe(200);
    // With the annotation's own, others may work on the rest of the set.
    const own = (await client.get(annotation)).headers.get("etag")!;
    await client.post(`${set}/annotations`, label);
    expect((await client.patch(annotation, { end_ms: 7 }, { "If-Match": own })).status).toBe(200);
  });

  it("lets exactly one of many through that saw the same state", async () => {
    const { set, label } = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.post(`${set}/annotations`, label, { "If-Match": etag })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(412)]);
    expect((await client.get(`${set}/annotations`)).body).toHaveLength(2);

    const path = `/api/v1/datasets/${await makeDataset(client)}`;
    const seen = (await client.get(path)).headers.get("etag")!;
    const names = await Promise.all(
      Array.from({ length: 10 }, (_, i) => client.patch(path, { name: `n${i}` }, { "If-Match": seen })),
    );
    expect(names.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  it("comes after 404 and before 409; together with an Idempotency-Key a retry is no lost update", async () => {
    const { set, label } = await draft();
    const none = `/api/v1/datasets/${ids.dataset_id}/annotation-sets/${ids.dataset_id}`;
    expect((await client.delete(none, { "If-Match": "*" })).status).toBe(404);
    const etag = (await client.get(set)).headers.get("etag")!;
    const headers = { "If-Match": etag, "Idempotency-Key": "both" };
    const first = await client.post(`${set}/annotations`, label, headers);
    const again = await client.post(`${set}/annotations`, label, headers);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    await client.post(`${set}/publish`);
    expect((await client.post(`${set}/annotations`, label, { "If-Match": etag })).status).toBe(412);
    expect((await client.post(`${set}/annotations`, label, { "If-Match": "*" })).status).toBe(409);
  });

  it("waits for who is changing the resource, and then sees the change", async () => {
    const { set, label } = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    const id = set.split("/").at(-1)!;
    let late: Promise<{ status: number }> | undefined;
    await api.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`update annotation_sets set revision = revision + 1 where id = ${id}`);
      late = client.post(`${set}/annotations`, label, { "If-Match": etag });
      await poll("the request to wait for the lock", () =>
        tx.oneFirst(sql.unsafe`
          select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      );
    });
    expect((await late)?.status).toBe(412);
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
  ])("%s names a: %s", (header, names) => {
    expect(isUnchanged(header, '"a"')).toBe(names);
  });

  it("are compared strongly where something is changed", () => {
    expect(isExpected('"a"', ['"a"'])).toBe(true);
    expect(isExpected('"x", "b"', ['"a"', '"b"'])).toBe(true);
    expect(isExpected('W/"a"', ['"a"'])).toBe(false);
    expect(isExpected("*", [])).toBe(true);
    expect(isExpected("a", ['"a"'])).toBe(false);
  });

  it("take no time, however odd they are", () => {
    const start = performance.now();
    for (const part of ['"', ",", '"a",', 'W/"', " ", ", ", " , ", '"a" , ', "\t,\t\t"]) {
      const odd = part.repeat((longestTagList - 10) / part.length);
      isUnchanged(odd, '"a"');
      isUnchanged(`"b"${odd}`, '"a"');
      isUnchanged(`"b"${odd}x`, '"a"');
    }
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
