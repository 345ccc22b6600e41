// The REST API over real HTTP, on the file's own database and bucket. Called at the top of test files: `const api =
// useApi()`, then `await api.as(key).post(path, body)` inside the tests. Every answer is checked against the schema of
// its route, so that the description and the answers agree.
import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect } from "vitest";
import { hashApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";
import { type App, makeApp } from "../../src/api/app.ts";
import type { ApiDeps } from "../../src/api/deps.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type HttpServer, listen } from "../../src/api/server.ts";
import { type ApiSettings, apiConfig } from "../../src/config.ts";
import { insertApiKey } from "../../src/db/api-key.ts";
import { makeListener } from "../../src/db/driver/listen.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { makeLog } from "../../src/log.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { execute, useDatabase } from "./postgres.ts";
import { useStorage } from "./s3.ts";

export { execute };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape; the schemas check them.
  readonly body: any;
}

export interface Client {
  readonly key: string;
  readonly tenantId: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
}

export interface TestApi {
  readonly url: string;
  /** The owner's connections, which see every tenant, for test data and checks. */
  readonly db: DatabasePool;
  /** The API's own pool. */
  readonly pool: DatabasePool;
  /** The operator's pool. */
  readonly operatorPool: DatabasePool;
  readonly storage: Storage;
  /** The API's metrics. */
  readonly registry: Registry;
  /** Jobs that the API submitted, in order. */
  readonly submitted: { kind: string; id: string }[];
  /** Creates a tenant with a key of its own. */
  tenant(): Promise<Client>;
  /** A client with this key, or without a key. */
  as(key: string | null): Client;
  /** Waits for the work that answers did not wait for. */
  settle(): Promise<void>;
}

export function useApi(overrides: Partial<ApiDeps> = {}): TestApi {
  const database = useDatabase();
  const store = useStorage();
  const submitted: { kind: string; id: string }[] = [];
  const registry = new Registry();
  let served: ServedApi | undefined;
  beforeAll(async () => {
    served = await serveApi({
      ...testDeps(database.apiPool, store.storage),
      registry,
      submit: async ({ kind, id }) => void submitted.push({ kind, id }),
      ...overrides,
    });
  });
  afterAll(() => served?.stop());
  const url = () => served?.url ?? "";
  return {
    get url() {
      return url();
    },
    get db() {
      return database.pool;
    },
    get pool() {
      return database.apiPool;
    },
    get operatorPool() {
      return database.operatorPool;
    },
    get storage() {
      return store.storage;
    },
    registry,
    submitted,
    tenant: () => makeTenant(database.pool, url()),
    as: (key) => clientOf(url(), key ?? "", ""),
    settle: async () => served?.app.settle(),
  };
}

export interface ServedApi {
  readonly app: App;
  readonly server: HttpServer;
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves an API with the test's own dependencies on a free port. */
export async function serveApi(deps: ApiDeps & { registry: Registry }): Promise<ServedApi> {
  const app = makeApp(deps);
  const server = await listen(app.listener, 0, "127.0.0.1");
  return {
    app,
    server,
    url: `http://127.0.0.1:${server.port}`,
    async stop() {
      app.drain();
      await server.stop(2_000);
      await app.settle();
      await deps.listener.end();
    },
  };
}

/** Everything that the app needs besides a server, with defaults for tests. */
export function testDeps(db: DatabasePool, storage: Storage): ApiDeps & { registry: Registry } {
  return {
    db,
    storage,
    submit: async () => {},
    clock: { now: Date.now },
    random: randomBytes,
    log: makeLog("test", "error"),
    listener: makeListener({ url: db.configuration.connectionUri, log: makeLog("test", "error") }),
    config: testSettings(),
    registry: new Registry(),
  };
}

/** The settings of an installation without rate limits, which tests would exceed. */
export function testSettings(overrides: Partial<ApiSettings> = {}): ApiSettings {
  const needed = ["DATABASE_URL", "S3_ENDPOINT", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];
  const rates = ["", "WRITES_", "UPLOADS_", "KEYS_", "TRAININGS_"].map((name) => `RATE_${name}PER_MINUTE`);
  const env = {
    ...Object.fromEntries(needed.map((name) => [`PLOSIVE_${name}`, "http://nowhere"])),
    ...Object.fromEntries([...rates, "FAILED_KEYS_PER_SECOND"].map((name) => [`PLOSIVE_${name}`, "0"])),
  };
  return { ...apiConfig(env), ...overrides };
}

export async function makeTenant(db: DatabasePool, url: string): Promise<Client> {
  const tenantId = await insertTenant(db, "test");
  const key = makeApiKey(randomBytes);
  await insertApiKey(db, tenantId, {
    name: "test",
    prefix: prefixOf(key),
    hash: hashApiKey(key),
    expiresAt: null,
  });
  return clientOf(url, key, tenantId);
}

export function clientOf(url: string, key: string, tenantId: string): Client {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key === "" ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      // Text with another content type is sent unchanged.
      body: headers["Content-Type"]?.startsWith("text/") ? String(body) : JSON.stringify(body),
    });
    return await toAnswer(method, path, response);
  };
  return {
    key,
    tenantId,
    get: (path, headers) => call("GET", path, undefined, headers),
    post: (path, body, headers) => call("POST", path, body, headers),
    put: (path, body, headers) => call("PUT", path, body, headers),
    patch: (path, body, headers) => call("PATCH", path, body, headers),
    delete: (path, headers) => call("DELETE", path, undefined, headers),
  };
}

async function toAnswer(method: string, path: string, response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const body = isJson ? JSON.parse(text) : undefined;
  if (response.status < 300) checkAgainstRoute(method, path, response, body);
  return { status: response.status, headers: response.headers, text, body };
}

/** Checks that status, headers and body of a success match the route, without missing or additional members. */
function checkAgainstRoute(method: string, path: string, response: Response, body: unknown): void {
  const route = routes.find(
    (candidate) =>
      candidate.method === method &&
      new RegExp(`^${candidate.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path.split("?")[0] ?? ""),
  );
  if (route === undefined) throw new Error(`no route for ${method} ${path}`);
  expect(response.status).toBe(route.answer.status);
  if (response.status === 201) expect(response.headers.get("location")).toMatch(/^\/api\/v1\//);
  const caching = route.conditional ? "private, no-cache" : "no-store";
  if (path.startsWith("/api/")) expect(response.headers.get("cache-control")).toBe(caching);
  if (route.answer.schema === undefined) expect(body).toBeUndefined();
  else if (body !== undefined) expect(route.answer.schema.parse(body)).toEqual(body);
}
