// Lost updates: If-Match on each change and deletion protects changes that the client has not seen. Conditional reads:
// etags.test.ts.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { longestTagList } from "../../src/api/conditional.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type Client, useApi } from "../support/api.ts";
import { type Ids, makeFullWorld } from "../support/isolation.ts";
import { untilLocked } from "../support/locks.ts";
import { addModel, addTrainingJob, makeDataset, makeDraft } from "../support/world.ts";

const api = useApi();
let client: Client;
let ids: Ids;
beforeAll(async () => {
  client = await api.tenant();
  ids = await makeFullWorld(client, api.db);
});

const draft = () => makeDraft(client, api.db);

type Send = (headers: Record<string, string>) => Promise<{ status: number; body: unknown; text: string }>;

/** For each write that accepts If-Match: a fresh resource, the path with its ETag, and the request that writes. */
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
  updateAnnotations: async () => {
    const { set, annotation } = await draft();
    const body = { annotations: [{ id: annotation.split("/").at(-1), end_ms: 9 }] };
    return { read: set, send: (headers) => client.patch(`${set}/annotations/bulk`, body, headers) };
  },
  deleteAnnotations: async () => {
    const { set, annotation } = await draft();
    const body = { ids: [annotation.split("/").at(-1)] };
    return { read: set, send: (headers) => client.post(`${set}/annotations/bulk/delete`, body, headers) };
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
  detail: "The resource has changed: If-Match contains none of its current ETags",
  code: "precondition_failed",
};

describe("If-Match", () => {
  it("is in the table above for every route that accepts it", () => {
    const guarded = routes.filter((route) => route.guard).map((route) => route.operationId);
    // A key has no GET and so no ETag.
    expect(guarded.filter((name) => !(name in writers))).toEqual(["revokeApiKey"]);
    // Every change or deletion of a resource with an ETag accepts If-Match.
    const readers = new Set(routes.filter((route) => route.conditional).map((route) => route.path));
    const open = routes.filter(
      (route) => ["PATCH", "PUT", "DELETE"].includes(route.method) && readers.has(route.path) && !route.guard,
    );
    expect(open.map((route) => route.operationId)).toEqual([]);
  });

  it.each(Object.keys(writers))("protects %s", async (name) => {
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
    // The write has made this ETag stale.
    const late = await send({ "If-Match": etag });
    expect([404, 412]).toContain(late.status);
  });

  it.each(Object.keys(writers))("with * permits %s", async (name) => {
    const { send } = await writers[name]!();
    const answer = await send({ "If-Match": "*" });
    expect(answer.status, answer.text).toBeLessThan(300);
  });

  it("on an annotation also accepts the set's ETag, for editors that need the whole set unchanged", async () => {
    const { set, annotation, label } = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    const first = await client.patch(annotation, { end_ms: 5 }, { "If-Match": etag });
    const next = first.headers.get("x-annotation-set-etag")!;
    expect((await client.patch(annotation, { end_ms: 6 }, { "If-Match": etag })).status).toBe(412);
    expect((await client.patch(annotation, { end_ms: 6 }, { "If-Match": next })).status).toBe(200);
    // With the annotation's own ETag, other clients can work on the rest of the set.
    const own = (await client.get(annotation)).headers.get("etag")!;
    await client.post(`${set}/annotations`, label);
    expect((await client.patch(annotation, { end_ms: 7 }, { "If-Match": own })).status).toBe(200);
  });

  it("on a new annotation accepts the ETag of its creation, whatever the order of its extra data", async () => {
    const { set, label } = await draft();
    const extra_data = { second: 1, b: { z: [1e21, -0], y: 2 }, a: "x" };
    const made = await client.post(`${set}/annotations`, { ...label, extra_data });
    const path = made.headers.get("location")!;
    const read = await client.get(path);
    expect(made.text).toBe(read.text);
    const etag = made.headers.get("etag")!;
    expect(read.headers.get("etag")).toBe(etag);
    expect((await client.patch(path, { end_ms: 5 }, { "If-Match": etag })).status).toBe(200);
  });

  it("lets exactly one of many writers of the same state succeed", async () => {
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

  it("is checked after 404 and before 409, and a retry with an Idempotency-Key is no lost update", async () => {
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

  it("with any ETag protects an API key from being revoked", async () => {
    const keys = "/api/v1/auth/api-keys";
    const { id, key } = (await client.post(keys, { name: "kept" })).body;
    for (const header of ['"nothing"', "nonsense"]) {
      const answer = await client.delete(`${keys}/${id}`, { "If-Match": header });
      expect([answer.status, answer.body]).toEqual([412, refused]);
    }
    expect((await api.as(key).get(keys)).status).toBe(200);
    expect((await client.delete(`${keys}/${id}`, { "If-Match": "*" })).status).toBe(204);
    expect((await client.delete(`${keys}/${id}`, { "If-Match": '"nothing"' })).status).toBe(404);
  });

  it("waits for a concurrent change of the resource and then sees it", async () => {
    const { set, label } = await draft();
    const etag = (await client.get(set)).headers.get("etag")!;
    const id = set.split("/").at(-1)!;
    let late: Promise<{ status: number }> | undefined;
    await api.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`update annotation_sets set revision = revision + 1 where id = ${id}`);
      late = client.post(`${set}/annotations`, label, { "If-Match": etag });
      await untilLocked(tx);
    });
    expect((await late)?.status).toBe(412);
  });
});
