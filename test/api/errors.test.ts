// Error responses: their order, codes and messages.
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";

const api = useApi();
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

async function send(
  method: string,
  path: string,
  options: {
    key?: string;
    type?: string;
    body?: string | Uint8Array<ArrayBuffer>;
    headers?: Record<string, string>;
  } = {},
) {
  const response = await fetch(api.url + path, {
    method,
    headers: {
      ...(options.key === undefined ? {} : { "X-API-Key": options.key }),
      ...(options.type === undefined ? {} : { "Content-Type": options.type }),
      ...options.headers,
    },
    body: options.body,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}
const json = "application/json";
const post = (body: string | Uint8Array<ArrayBuffer>, type = json) =>
  send("POST", "/api/v1/datasets", { key: client.key, type, body });

describe("the order of checks", () => {
  it("is path, method, key, body, fields, resource", async () => {
    expect((await send("POST", "/api/v1/nothing")).body).toEqual({
      detail: "Not Found",
      code: "route_not_found",
    });
    expect((await send("GET", "/api/v1/datasets/")).status).toBe(404);
    expect((await send("GET", "/api/v1/Datasets")).status).toBe(404);
    const method = await send("PUT", "/api/v1/datasets");
    expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS, POST"]);
    expect((await send("POST", "/api/v1/datasets", { type: "text/plain", body: "{" })).status).toBe(401);
    expect((await post("{", "text/plain")).status).toBe(415);
    expect((await post("{")).status).toBe(400);
    expect((await post("{}")).status).toBe(422);
    const unknown = await send("PATCH", "/api/v1/models/00000000-0000-4000-8000-000000000000", {
      key: client.key,
      type: json,
      body: '{"name":""}',
    });
    expect(unknown.status).toBe(422);
  });

  it("matches a literal path before a path with an id", async () => {
    const audio = "/api/v1/datasets/00000000-0000-4000-8000-000000000000/audio";
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await send(method, `${audio}/upload-url`);
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "OPTIONS, POST"]);
    }
    expect((await send("OPTIONS", `${audio}/upload-url`)).headers.get("allow")).toBe("OPTIONS, POST");
    expect((await send("GET", `${audio}/upload-urls-not`)).status).toBe(401);
  });

  it("answers OPTIONS without a key", async () => {
    const answer = await send("OPTIONS", "/api/v1/datasets");
    expect([answer.status, answer.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
  });

  it("answers HEAD like GET, without a body", async () => {
    const answer = await send("HEAD", "/api/v1/datasets", { key: client.key });
    expect([answer.status, answer.body]).toEqual([200, undefined]);
  });
});

describe("a request body", () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, string, number, string | undefined]>([
    ["that is not JSON", "{name:1}", json, 400, "invalid_request"],
    ["that is truncated", '{"name":"x"', json, 400, "invalid_request"],
    ["that is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), json, 400, "invalid_request"],
    ["with endless nesting", `${"[".repeat(5_000)}${"]".repeat(5_000)}`, json, 400, "invalid_request"],
    ["of another content type", "name=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    [
      "in another character set",
      '{"name":"x"}',
      "application/json; charset=latin1",
      415,
      "unsupported_media_type",
    ],
    [
      "larger than a mebibyte",
      JSON.stringify({ name: "x".repeat(1024 * 1024) }),
      json,
      413,
      "body_too_large",
    ],
    ["that is an array", "[]", json, 422, undefined],
    ["that is null", "null", json, 422, undefined],
  ])("%s is refused", async (_, body, type, status, code) => {
    const answer = await post(body, type);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it("can have unknown members with any content", async () => {
    expect((await post('{"name":"x","\\u0000":"\\ud800","__proto__":{"a":1},"id":7}')).status).toBe(201);
  });

  it("with compression is refused for its encoding, not for its content type", async () => {
    const answer = await send("POST", "/api/v1/datasets", {
      key: client.key,
      headers: { "Content-Type": json, "Content-Encoding": "gzip" },
      body: gzipSync('{"name":"x"}'),
    });
    expect([answer.status, answer.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect((await post("{", "text/plain")).headers.get("accept-encoding")).toBeNull();
  });

  it("with a declared UTF-8 character set is accepted", async () => {
    expect((await post('{"name":"x"}', 'Application/JSON; charset="UTF-8"')).status).toBe(201);
  });

  it.each(["declared", "in pieces"])(
    "far above the limit (%s) is refused even to a client that reads only after sending all of it, and the connection stays open",
    async (how) => {
      const head = `POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\nContent-Type: ${json}\r\n`;
      const size = 20 * 1024 * 1024;
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1")
        .setEncoding("latin1")
        .pause();
      socket.write(
        `${head}${how === "declared" ? `Content-Length: ${size}\r\n\r\n` : `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`}`,
      );
      await new Promise((resolve) => socket.write(Buffer.alloc(size, " "), resolve));
      if (how !== "declared") socket.write("\r\n0\r\n\r\n");
      socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      let answers = "";
      for await (const piece of socket) answers += piece;
      expect([...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual([
        "413",
        "200",
      ]);
    },
  );

  it("of endless chunks is refused at the limit, and the server closes the connection at last", async () => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1").setEncoding("latin1");
    socket.write(
      `POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\nContent-Type: ${json}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    let answer = "";
    socket.on("data", (text) => {
      answer += text;
    });
    socket.on("error", () => {});
    const piece = Buffer.concat([
      Buffer.from("100000\r\n"),
      Buffer.alloc(1024 * 1024, " "),
      Buffer.from("\r\n"),
    ]);
    let pieces = 0;
    while (!socket.destroyed && pieces < 1_000) {
      pieces += 1;
      await new Promise((resolve) => socket.write(piece, resolve));
    }
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(pieces).toBeLessThan(128);
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  });

  it("that is missing is reported as missing", async () => {
    const answer = await send("POST", "/api/v1/datasets", { key: client.key });
    expect(answer.body).toEqual({ detail: [{ loc: ["body"], msg: "Field required", type: "missing" }] });
  });
});

describe("a validation error", () => {
  it("has the messages of pydantic and never repeats the input", async () => {
    const secret = "s3cret".repeat(100);
    const answer = await post(
      JSON.stringify({
        name: secret,
        description: 5,
        artifact_types: [{ name: "!" }, { description: "x" }, 7],
      }),
    );
    expect(answer.body.detail).toEqual([
      { loc: ["body", "name"], msg: "String should have at most 255 characters", type: "string_too_long" },
      { loc: ["body", "description"], msg: "Input should be a valid string", type: "string_type" },
      {
        loc: ["body", "artifact_types", 0, "name"],
        msg: "String should match pattern '^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$'",
        type: "string_pattern_mismatch",
      },
      { loc: ["body", "artifact_types", 1, "name"], msg: "Field required", type: "missing" },
      { loc: ["body", "artifact_types", 2], msg: "Input should be a valid dictionary", type: "dict_type" },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain("s3cret");
  });

  it.each<[string, unknown[], string, string]>([
    ["datasets/1", ["path", "dataset_id"], "uuid_parsing", "Input should be a valid UUID"],
    [
      "datasets?page=0",
      ["query", "page"],
      "greater_than_equal",
      "Input should be greater than or equal to 1",
    ],
    [
      "datasets?page_size=101",
      ["query", "page_size"],
      "less_than_equal",
      "Input should be less than or equal to 100",
    ],
    [
      "datasets?page=one",
      ["query", "page"],
      "int_parsing",
      "Input should be a valid integer, unable to parse string as an integer",
    ],
    [
      "datasets?page=",
      ["query", "page"],
      "int_parsing",
      "Input should be a valid integer, unable to parse string as an integer",
    ],
    ["datasets?page=1.5", ["query", "page"], "int_type", "Input should be a valid integer"],
    [
      "datasets?page=99999999999999999999",
      ["query", "page"],
      "less_than_equal",
      "Input should be less than or equal to 9007199254740991",
    ],
    [
      "datasets?name=%00",
      ["query", "name"],
      "value_error",
      "Value error, text must not contain NUL characters or unpaired surrogates",
    ],
  ])("of GET %s names the place and the fault", async (path, loc, type, msg) => {
    const answer = await send("GET", `/api/v1/${path}`, { key: client.key });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toEqual({ loc, msg, type });
  });
});

describe("a request id", () => {
  it("is returned as the client sent it if it is well-formed and generated otherwise, on errors too", async () => {
    const echoed = await send("GET", "/nowhere", { headers: { "X-Request-Id": "abc.DEF-123" } });
    expect(echoed.headers.get("x-request-id")).toBe("abc.DEF-123");
    for (const bad of ["short", "x".repeat(129), "has space in it"]) {
      const made = await send("GET", "/nowhere", { headers: { "X-Request-Id": bad } });
      expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("malformed HTTP with", () => {
  it.each<[string, string, string]>([
    ["no request line", "hello\r\n\r\n", "400"],
    ["a header without end", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, "431"],
    [
      "two content lengths",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "400",
    ],
    ["no Host header", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "400"],
    ["an unknown expectation", "GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", "417"],
  ])("%s is answered with %s", async (_, text, status) => {
    const { port } = new URL(api.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let received = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk) => {
        received += chunk;
      });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });
    expect(answer.split("\r\n")[0]).toContain(status);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "").code).toBe("invalid_request");
  });
});

describe("a page", () => {
  it("has its five members, newest first, with an exact total also beyond the last page", async () => {
    const other = await api.tenant();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.unshift((await other.post("/api/v1/datasets", { name: `n%${i}_` })).body.id);
    const page = async (query: string) => (await other.get(`/api/v1/datasets?${query}`)).body;
    const idsOf = (body: { items: { id: string }[] }) => body.items.map((item) => item.id);
    const first = await page("page_size=2");
    expect(first).toMatchObject({ total: 5, page: 1, page_size: 2, has_more: true });
    const second = await page("page=2&page_size=2");
    const third = await page("page=3&page_size=2");
    expect(third).toMatchObject({ total: 5, has_more: false });
    expect([first, second, third].flatMap(idsOf)).toEqual(ids);
    expect(await page("page=4&page_size=2")).toEqual({
      items: [],
      total: 5,
      page: 4,
      page_size: 2,
      has_more: false,
    });
    expect(await page("page=9007199254740991&page_size=100")).toMatchObject({ items: [], total: 5 });
    expect((await page("")).page_size).toBe(20);
    // Wildcards of LIKE match literally.
    expect((await page("name=%253_")).total).toBe(1);
    expect((await page("name=%25")).total).toBe(5);
    expect((await page("name=_")).total).toBe(5);
    expect((await page("name=n_")).total).toBe(0);
  });
});
