// Who may call what: guests, wrong keys, other tenants. The tables come from the list of routes, so that a new route is
// in them without being asked.
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import type { Route } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";
import { makeWorld, type World } from "../support/world.ts";

const api = useApi();
const closed = routes.filter((route) => route.auth !== false);

async function call(client: Client, route: Route, path: string, body: unknown): Promise<Answer> {
  if (route.method === "GET") return await client.get(path);
  if (route.method === "PUT") return await client.put(path);
  if (route.method === "DELETE") return await client.delete(path);
  if (route.method === "PATCH") return await client.patch(path, body ?? {});
  return await client.post(path, body);
}

describe("a guest", () => {
  it.each(closed.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "gets 401 from %s",
    async (_, route) => {
      const path = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const answer = await call(api.as(null), route, path, { nonsense: true });
      expect(answer.status).toBe(401);
      expect(answer.body.detail).toBe("Invalid or missing API key");
      expect(answer.headers.get("www-authenticate")).toBe("APIKey");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    },
  );

  it("reads health, readiness and the description", async () => {
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/api/v1/openapi.json"])
      expect((await api.as(null).get(path)).status).toBe(200);
  });
});

describe("a key", () => {
  it("that is malformed, unknown, mistyped or sent twice is refused with the same words", async () => {
    const { key } = await api.tenant();
    const flipped = key.slice(0, 20) + (key[20] === "a" ? "b" : "a") + key.slice(21);
    const wrong = [
      "x",
      key.toLowerCase(),
      `${key}x`,
      flipped,
      makeApiKey(randomBytes),
      `${key}, ${key}`,
      `Bearer ${key}`,
    ];
    for (const text of wrong) {
      const answer = await api.as(text).get("/api/v1/datasets");
      expect([answer.status, answer.body.detail]).toEqual([401, "Invalid or missing API key"]);
    }
    const inQuery = await api.as(null).get(`/api/v1/datasets?X-API-Key=${key}&api_key=${key}`);
    expect(inQuery.status).toBe(401);
  });

  it("says that it has expired, but only to who has it", async () => {
    const client = await api.tenant();
    await execute(
      api.db,
      sql.fragment`
      update api_keys set expires_at = now() - interval '1 second' where tenant_id = ${client.tenantId}`,
    );
    const answer = await client.get("/api/v1/datasets");
    expect([answer.status, answer.body.detail]).toEqual([401, "API key expired"]);
  });

  it("is dead on the very next request after it was revoked, and stays dead", async () => {
    const client = await api.tenant();
    const second = (await client.post("/api/v1/auth/api-keys", { name: "second" })).body;
    const other = api.as(second.key);
    expect((await other.get("/api/v1/datasets")).status).toBe(200);
    expect((await client.delete(`/api/v1/auth/api-keys/${second.id}`)).status).toBe(204);
    expect((await other.get("/api/v1/datasets")).status).toBe(401);
    expect((await client.delete(`/api/v1/auth/api-keys/${second.id}`)).body.code).toBe("api_key_not_found");
  });

  it("may revoke itself", async () => {
    const client = await api.tenant();
    const [own] = (await client.get("/api/v1/auth/api-keys")).body;
    expect((await client.delete(`/api/v1/auth/api-keys/${own.id}`)).status).toBe(204);
    expect((await client.get("/api/v1/datasets")).status).toBe(401);
  });

  it("of a suspended account is known and refused with 403", async () => {
    const client = await api.tenant();
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    expect((await client.get("/api/v1/datasets")).body.code).toBe("tenant_suspended");
  });
});

describe("API keys", () => {
  it("show themselves once, are listed newest first without themselves, and note their use", async () => {
    const client = await api.tenant();
    const created = (
      await client.post("/api/v1/auth/api-keys", { name: "ci", expires_at: "2999-01-01T02:00:00+02:00" })
    ).body;
    expect(created).toMatchObject({
      name: "ci",
      scopes: [],
      last_used_at: null,
      expires_at: "2999-01-01T00:00:00.000Z",
    });
    expect(created.key).toMatch(/^pl_[0-9A-Za-z]{46}$/);
    expect(created.key_prefix).toBe(created.key.slice(0, 8));
    await api.as(created.key).get("/api/v1/datasets");
    await api.settle();
    const list = await client.get("/api/v1/auth/api-keys");
    expect(list.body.map((key: { name: string }) => key.name)).toEqual(["ci", "test"]);
    expect(list.body[0].last_used_at).not.toBeNull();
    expect(list.text).not.toContain(created.key);
  });

  it.each([
    ["2999-01-01T00:00:00-23:59", "2999-01-01T23:59:00.000Z"],
    ["2999-01-02T00:00:00+16:00", "2999-01-01T08:00:00.000Z"],
    ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"],
  ])("expire at %s, whatever the offset and the digits", async (given, shown) => {
    const client = await api.tenant();
    const answer = await client.post("/api/v1/auth/api-keys", { name: "x", expires_at: given });
    expect([answer.status, answer.body.expires_at]).toEqual([201, shown]);
  });

  it("cannot expire when years have five digits in UTC", async () => {
    const client = await api.tenant();
    const body = { name: "x", expires_at: "9999-12-31T23:59:59-12:00" };
    const answer = await client.post("/api/v1/auth/api-keys", body);
    expect(answer.body.detail).toMatchObject([{ loc: ["body", "expires_at"], type: "value_error" }]);
  });

  it("cannot be made to have expired already, nor without a name", async () => {
    const client = await api.tenant();
    const past = await client.post("/api/v1/auth/api-keys", {
      name: "x",
      expires_at: "2000-01-01T00:00:00Z",
    });
    expect(past.body.detail).toMatchObject([{ loc: ["body", "expires_at"], type: "value_error" }]);
    const local = await client.post("/api/v1/auth/api-keys", { name: "", expires_at: "2999-01-01T00:00:00" });
    expect(local.body.detail.map((item: { type: string }) => item.type)).toEqual([
      "string_too_short",
      "datetime_parsing",
    ]);
  });
});

describe("another tenant", () => {
  let owner: Client;
  let stranger: Client;
  let own: World;
  let world: World;
  beforeAll(async () => {
    [owner, stranger] = await Promise.all([api.tenant(), api.tenant()]);
    world = await makeWorld(owner, api.db);
    own = await makeWorld(stranger, api.db);
  });

  const idOf = (from: World, name: string): string => {
    const ids: Record<string, string> = {
      dataset_id: from.datasetId,
      audio_file_id: from.audioFileId,
      annotation_set_id: from.annotationSetId,
      annotation_id: from.annotationId,
      training_job_id: from.trainingJobId,
      model_id: from.modelId,
      inference_job_id: from.inferenceJobId,
      file_id: from.inferenceFileId,
      key_id: from.keyId,
    };
    const id = ids[name];
    if (id === undefined) throw new Error(`the table needs an id for {${name}}`);
    return id;
  };
  const upload = { filename: "x.wav", content_type: "audio/wav", size_bytes: 10 };
  const bodies: Record<string, (w: World) => unknown> = {
    createAudioUpload: () => upload,
    createInferenceUpload: () => upload,
    createAudioUploads: () => ({ files: [upload] }),
    createInferenceUploads: () => ({ files: [upload] }),
    createAnnotation: (w) => ({
      audio_file_id: w.audioFileId,
      artifact_type: "click",
      start_ms: 1,
      end_ms: 2,
    }),
    createAnnotations: (w) => ({
      annotations: [{ audio_file_id: w.audioFileId, artifact_type: "click", start_ms: 1, end_ms: 2 }],
    }),
  };
  const withIds = closed.filter((route) => route.path.includes("{"));

  it.each(withIds.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "gets the same answer for a foreign and for a random id from %s",
    async (_, route) => {
      const body = bodies[route.operationId]?.(world) ?? (route.body === undefined ? undefined : {});
      const foreign = route.path.replace(/\{(\w+)\}/g, (_all, name) => idOf(world, name));
      const random = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const answers = [await call(stranger, route, foreign, body), await call(stranger, route, random, body)];
      expect(answers[0]?.status).toBe(404);
      expect(answers[1]?.text).toBe(answers[0]?.text);

      // With the caller's own resource in front and the foreign one behind it.
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
      const last = names.at(-1);
      if (names.length > 1) {
        const mixed = route.path.replace(/\{(\w+)\}/g, (_all, name) =>
          idOf(name === last ? world : own, name),
        );
        expect((await call(stranger, route, mixed, body)).status).toBe(404);
      }
    },
  );

  it("sees nothing of it in lists", async () => {
    const guest = await api.tenant();
    for (const path of ["datasets", "training-jobs", "models", "inference-jobs"])
      expect((await guest.get(`/api/v1/${path}`)).body).toMatchObject({
        items: [],
        total: 0,
        has_more: false,
      });
  });

  it("cannot refer to it in bodies", async () => {
    const config = { artifact_types: ["click"] };
    const cases: [string, unknown, string][] = [
      [
        "/api/v1/training-jobs",
        { dataset_id: world.datasetId, annotation_set_id: world.annotationSetId, config },
        "dataset_not_found",
      ],
      [
        "/api/v1/training-jobs",
        { dataset_id: own.datasetId, annotation_set_id: world.annotationSetId, config },
        "annotation_set_not_found",
      ],
      ["/api/v1/inference-jobs", { model_id: world.modelId }, "model_not_found"],
      ["/api/v1/inference-jobs", { model_id: own.modelId, dataset_id: world.datasetId }, "dataset_not_found"],
      [
        "/api/v1/inference-jobs",
        { model_id: own.modelId, audio_file_ids: [own.audioFileId, world.audioFileId] },
        "audio_file_not_found",
      ],
      [
        `/api/v1/datasets/${own.datasetId}/annotation-sets`,
        { from_annotation_set_id: world.annotationSetId },
        "annotation_set_not_found",
      ],
    ];
    for (const [path, body, code] of cases) {
      const foreign = await stranger.post(path, body);
      const unknown = await stranger.post(path, JSON.parse(replaceIds(JSON.stringify(body), world)));
      expect([foreign.status, foreign.body.code]).toEqual([404, code]);
      expect(unknown.text).toBe(foreign.text);
    }
    const set = `/api/v1/datasets/${own.datasetId}/annotation-sets/${own.annotationSetId}/annotations`;
    const label = { artifact_type: "click", start_ms: 1, end_ms: 2 };
    const foreign = await stranger.post(set, { ...label, audio_file_id: world.audioFileId });
    const unknown = await stranger.post(set, { ...label, audio_file_id: randomUUID() });
    expect(foreign.body.detail).toMatchObject([{ loc: ["body", "audio_file_id"], type: "value_error" }]);
    expect(unknown.text).toBe(foreign.text);
  });

  it("has changed nothing by all of this", async () => {
    expect((await owner.get(`/api/v1/datasets/${world.datasetId}`)).body.audio_file_count).toBe(1);
    expect((await owner.get(`/api/v1/models/${world.modelId}`)).body.archived_at).toBeNull();
    expect((await owner.get("/api/v1/auth/api-keys")).body).toHaveLength(2);
  });
});

/** The body with every id of the world replaced by one that nobody has. */
function replaceIds(text: string, world: World): string {
  return Object.values(world).reduce((result, id) => result.replaceAll(id, randomUUID()), text);
}
