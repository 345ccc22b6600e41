// Tenant isolation over HTTP: for each place of the OpenAPI description where a request can name an id, one tenant
// sends an id of the other. Each answer equals the one for an unknown id, and nothing of the other tenant changes or
// shows. Three runs: with both guards, with the tenant predicate of the statements alone, and with row-level security
// alone. A new route is covered without an entry here.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeOpenApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes/index.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { type Client, clientOf, makeTenant, type ServedApi, serveApi, testDeps } from "../support/api.ts";
import { type Ids, makeFullWorld, pictureOf, withoutPredicates } from "../support/isolation.ts";
import {
  exampleFor,
  type Operation,
  operationsOf,
  type Query,
  type Request,
  type Way,
  waysOf,
} from "../support/matrix.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();

const operations = operationsOf(makeOpenApi(routes));

/** Valid bodies with the caller's own ids, for operations whose example in the description does not work here. */
const bodies: Readonly<Record<string, (own: Ids) => unknown>> = {
  createInferenceJob: (own) => ({ model_id: own.model_id }),
  createTrainingJob: (own) => ({
    dataset_id: own.dataset_id,
    annotation_set_id: own.annotation_set_id,
    config: { artifact_types: ["click"] },
  }),
  importAnnotationTool: () => ({ tasks: [] }),
  importCsv: (own) => csvOf(own),
  importAudacity: () => "0.1\t0.2\tclick\n",
};
/** Required query parameters (the answer is 422 without them), and dry_run, so that imports change nothing. */
const queries: Readonly<Record<string, (own: Ids) => Query>> = {
  exportAudacity: (own) => ({ audio_file_id: own.audio_file_id! }),
  exportWebvtt: (own) => ({ audio_file_id: own.audio_file_id! }),
  importAnnotationTool: () => ({ dry_run: "true" }),
  importCsv: () => ({ dry_run: "true" }),
  importAudacity: (own) => ({ audio_file_id: own.audio_file_id!, dry_run: "true" }),
};
const csvOf = (ids: Ids) => `audio_file_id,artifact_type,start_ms,end_ms\n${ids.audio_file_id},click,1,2\n`;

/** Ids that the description cannot show because they are in the text of a body. */
const textWays: Readonly<Record<string, readonly Way[]>> = {
  importCsv: [
    {
      name: "POST .../import/csv with a line's audio_file_id",
      foreign: ["audio_file_id"],
      part: "body",
      request: (own, others) => ({
        path: `/api/v1/datasets/${own.dataset_id}/annotation-sets/${own.annotation_set_id}/import/csv?dry_run=true`,
        body: csvOf(others),
      }),
    },
  ],
};

const ways = operations.flatMap((operation) =>
  [
    ...waysOf(
      operation,
      bodies[operation.id] ?? ((own) => exampleFor(operation, own)),
      queries[operation.id],
    ),
    ...(textWays[operation.id] ?? []),
  ].map((way) => ({ operation, way })),
);

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

// These headers differ from one request to the next, for every caller.
const changing = ["date", "x-request-id", "ratelimit", "ratelimit-remaining", "ratelimit-reset"];

async function ask(
  client: Client,
  url: string,
  operation: Operation,
  request: Request,
  headers: Headers = {},
): Promise<Seen> {
  const { body } = request;
  const answer = await fetch(url + request.path, {
    method: operation.method,
    headers: {
      "X-API-Key": client.key,
      ...(body === undefined ? {} : { "Content-Type": operation.contentType ?? "application/json" }),
      ...headers,
    },
    body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    // An event stream has no end.
    signal: AbortSignal.timeout(10_000),
  });
  const kept = [...answer.headers].filter(([name]) => !changing.includes(name));
  return { status: answer.status, headers: Object.fromEntries(kept), text: await answer.text() };
}

/** Masks the ids that the request itself named: their repetition in the answer reveals nothing. */
const anonymous = (seen: Seen, ids: Ids): Seen => ({
  ...seen,
  text: Object.values(ids).reduce((text, id) => text.replaceAll(id, "..."), seen.text),
});

const randomIds = (ids: Ids): Ids => Object.fromEntries(Object.keys(ids).map((name) => [name, randomUUID()]));

/** Two tenants on an API that uses the given pool. They create their resources through an API with both guards. */
function useTenants(pool: () => DatabasePool) {
  const running: ServedApi[] = [];
  const start = async (db: DatabasePool) => {
    const deps = testDeps(db, store.storage);
    // Without guards some requests fail on the composite keys.
    deps.log.level = "silent";
    const served = await serveApi(deps);
    running.push(served);
    return served;
  };
  const made = {} as { url: string; reference: string; a: Client; b: Client; own: Ids; others: Ids };
  beforeAll(async () => {
    const reference = await start(database.apiPool);
    const [a, b] = [
      await makeTenant(database.pool, reference.url),
      await makeTenant(database.pool, reference.url),
    ];
    const [own, others] = [await makeFullWorld(a, database.pool), await makeFullWorld(b, database.pool)];
    await reference.app.settle();
    const { url } = await start(pool());
    Object.assign(made, {
      url,
      reference: reference.url,
      own,
      others,
      a: clientOf(url, a.key, a.tenantId),
      b: clientOf(url, b.key, b.tenantId),
    });
  });
  afterAll(async () => {
    for (const served of running) await served.stop();
  });
  return made;
}

describe("the table of requests with foreign ids", () => {
  it("contains every operation with an id, at each place of an id", () => {
    expect(operations.length).toBeGreaterThan(70);
    expect(ways.length).toBeGreaterThan(130);
    const places = ways.map(({ way }) => way.name);
    expect(places).toEqual(
      expect.arrayContaining([
        "GET /api/v1/datasets/{dataset_id} with {dataset_id}",
        "POST /api/v1/training-jobs with body.annotation_set_id",
        "POST /api/v1/inference-jobs with body.audio_file_ids.0",
        "GET /api/v1/training-jobs with ?dataset_id",
        "GET /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id} with all ids of the path",
      ]),
    );
    expect(new Set(places).size).toBe(places.length);
  });
});

const guards: readonly (readonly [string, () => DatabasePool])[] = [
  ["with both guards", () => database.apiPool],
  ["with row-level security alone", () => withoutPredicates(database.apiPool).pool],
  ["with the tenant predicate alone", () => database.pool],
];

type Headers = Readonly<Record<string, string>>;
const plain: Headers = {};
const guarded: Headers = { "If-Match": '"1"' };
const cached: Headers = { "If-None-Match": "*" };
/** Each request has a new key: the same key with another body would be refused for that reason. */
const keyed: Headers = { "Idempotency-Key": "new" };
/** Additional headers of an operation. None of them may reveal more. */
const headersFor = (method: string): readonly Headers[] =>
  method === "GET" ? [plain, cached] : method === "POST" ? [plain, guarded, keyed] : [plain, guarded];

describe.each(guards)("the id of another tenant, %s", (_, pool) => {
  const made = useTenants(pool);

  it.each(ways.map((entry) => [entry.way.name, entry] as const))(
    "is unknown to %s",
    async (_name, { operation, way }) => {
      const { url, a, b, own, others } = made;
      const before = await pictureOf(database.pool, b.tenantId);
      const random = randomIds(others);
      for (const headers of headersFor(operation.method)) {
        const sent = () => (headers === keyed ? { "Idempotency-Key": randomUUID() } : headers);
        const foreign = await ask(a, url, operation, way.request(own, others), sent());
        const unknown = await ask(a, url, operation, way.request(own, random), sent());
        expect(anonymous(foreign, others)).toEqual(anonymous(unknown, random));
        const expected = { path: [404], query: [200, 404], body: [200, 404, 422] }[way.part];
        // If-Match is checked against a resource of the caller first.
        if (headers === guarded) expected.push(412);
        if (headers === cached && way.part === "query") expected.push(304);
        expect(expected, foreign.text).toContain(foreign.status);
      }
      expect(await pictureOf(database.pool, b.tenantId)).toEqual(before);
    },
  );

  it("does not appear in any answer about the caller's own resources", async () => {
    const { url, a, own, others } = made;
    const gets = operations.filter(({ method, id }) => method === "GET" && id !== "streamEvents");
    for (const operation of gets) {
      const path = operation.path.replace(/\{(\w+)\}/g, (_all, name) => own[name]!);
      const query = new URLSearchParams(queries[operation.id]?.(own)).toString();
      const { text } = await ask(a, url, operation, { path: `${path}?${query}` });
      for (const [name, id] of Object.entries(others))
        expect([path, name, text.includes(id)]).toEqual([path, name, false]);
    }
  });

  it("is not returned for an Idempotency-Key that both tenants use for the same request", async () => {
    const { a, b } = made;
    const body = { name: "the same" };
    const headers = { "Idempotency-Key": "used by both" };
    const theirs = await b.post("/api/v1/datasets", body, headers);
    const mine = await a.post("/api/v1/datasets", body, headers);
    expect([theirs.status, mine.status]).toEqual([201, 201]);
    expect(mine.body.id).not.toBe(theirs.body.id);
  });
});

describe("without any guard", () => {
  const open = { pool: undefined as ReturnType<typeof withoutPredicates> | undefined };
  const made = useTenants(() => {
    open.pool = withoutPredicates(database.pool);
    return open.pool.pool;
  });

  it("every operation exposes resources of the other tenant, which proves that the cases above are effective", async () => {
    const { url, reference, a, own } = made;
    let { b, others } = made;
    const kept: string[] = [];
    for (const { operation, way } of ways) {
      if (way.part !== "path" || way.foreign.length < operation.pathIds.length) continue;
      const before = await pictureOf(database.pool, b.tenantId);
      const random = randomIds(others);
      const unknown = await ask(a, url, operation, way.request(own, random));
      const foreign = await ask(a, url, operation, way.request(own, others));
      if (isDeepStrictEqual(anonymous(foreign, others), anonymous(unknown, random))) kept.push(way.name);
      if (isDeepStrictEqual(await pictureOf(database.pool, b.tenantId), before)) continue;
      // A deleted resource cannot be exposed a second time, so a new tenant replaces this one.
      b = await makeTenant(database.pool, reference);
      others = await makeFullWorld(b, database.pool);
    }
    expect(kept).toEqual([]);
    expect(open.pool?.count()).toBeGreaterThan(200);
  });
});
