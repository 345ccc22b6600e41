// CORS: no page of another origin can read a response unless the configuration allows its origin.
import { beforeAll, describe, expect, it } from "vitest";
import { apiConfig } from "../../src/config.ts";
import { type Client, testSettings, useApi } from "../support/api.ts";

const page = "https://app.example.com";
const closed = useApi();
const open = useApi({ config: testSettings({ PLOSIVE_CORS_ORIGINS: [page, "http://localhost:5173"] }) });
let client: Client;
beforeAll(async () => {
  client = await open.tenant();
});

const path = "/api/v1/datasets";
const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control")));

async function ask(url: string, origin: string, method = "POST", where = path) {
  return await fetch(url + where, {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "x-api-key,content-type",
    },
  });
}

describe("CORS by default", () => {
  it("allows no origin", async () => {
    const answer = await ask(closed.url, page);
    expect(answer.status).toBe(204);
    expect(corsHeaders(answer.headers)).toEqual({});
    const read = await (await closed.tenant()).get(path, { Origin: page });
    expect(corsHeaders(read.headers)).toEqual({});
  });
});

describe("a page of an allowed origin", () => {
  it("gets an answer to its preflight request without a key", async () => {
    const answer = await ask(open.url, page);
    expect(answer.status).toBe(204);
    expect(corsHeaders(answer.headers)).toEqual({
      "access-control-allow-origin": page,
      "access-control-allow-methods": answer.headers.get("allow"),
      "access-control-allow-headers":
        "X-API-Key, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, traceparent",
      "access-control-max-age": "600",
    });
    expect(answer.headers.get("allow")).toMatch(/GET.*POST/);
    expect(answer.headers.get("vary")).toContain("Origin");
  });

  it("can read the 404 of a path that does not exist", async () => {
    const answer = await ask(open.url, page, "POST", "/api/v1/nothing");
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "route_not_found" });
    expect(answer.headers.get("access-control-allow-origin")).toBe(page);
  });

  it("can read responses and their headers, including errors", async () => {
    const answer = await client.post(path, { name: "a" }, { Origin: page });
    expect(answer.headers.get("access-control-allow-origin")).toBe(page);
    const exposed = answer.headers.get("access-control-expose-headers")!.split(", ");
    for (const name of ["Location", "ETag", "RateLimit", "Retry-After", "X-Request-Id", "X-Total-Count"])
      expect(exposed).toContain(name);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    for (const refused of [
      await open.as(null).get(path, { Origin: page }),
      await client.post(path, {}, { Origin: page }),
      await client.get("/api/v1/nothing", { Origin: page }),
    ]) {
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.headers.get("access-control-allow-origin")).toBe(page);
    }
  });
});

describe("a page of another origin", () => {
  it.each(["https://evil.example", `${page}.evil.example`, "null", `${page}:444`, page.toUpperCase()])(
    "such as %s cannot read any response",
    async (origin) => {
      expect(corsHeaders((await ask(open.url, origin)).headers)).toEqual({});
      const read = await client.get(path, { Origin: origin });
      expect(read.status).toBe(200);
      expect(corsHeaders(read.headers)).toEqual({});
      expect(read.headers.get("vary")).toContain("Origin");
    },
  );
});

describe("the list of allowed origins", () => {
  const env = {
    PLOSIVE_DATABASE_URL: "-",
    PLOSIVE_S3_ENDPOINT: "http://s3",
    PLOSIVE_S3_ACCESS_KEY_ID: "-",
    PLOSIVE_S3_SECRET_ACCESS_KEY: "-",
  };
  it("is separated by commas and accepts origins only, without paths and wildcards", () => {
    const list = "https://a.example, http://b.example:81";
    expect(apiConfig({ ...env, PLOSIVE_CORS_ORIGINS: list }).PLOSIVE_CORS_ORIGINS).toEqual([
      "https://a.example",
      "http://b.example:81",
    ]);
    expect(apiConfig(env).PLOSIVE_CORS_ORIGINS).toEqual([]);
    for (const wrong of ["*", "https://a.example/", "https://*.example/x", "a.example", "null"])
      expect(() => apiConfig({ ...env, PLOSIVE_CORS_ORIGINS: wrong }), wrong).toThrow("PLOSIVE_CORS_ORIGINS");
  });
});
