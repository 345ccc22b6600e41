// Unusual but valid input: it is accepted, returned as it was sent, and has no side effects.
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
import { makeWorld, type World } from "../support/world.ts";
import { digestOfTables } from "./digest.ts";
import { filled, makeWebhook, play, type Target } from "./play.ts";
import { send, sendBytes } from "./send.ts";
import { example, operations, resolved } from "./table/description.ts";

const api = useApi();
let client: Client;
let world: World;
let target: Target;
beforeAll(async () => {
  client = await api.tenant();
  world = await makeWorld(client, api.db);
  target = { url: api.url, key: client.key, world, webhookId: await makeWebhook(client) };
});

const call = (method: string, path: string, body?: string | Buffer, headers: [string, string][] = []) =>
  play(
    {
      name: path,
      request: { method, path, headers, ...(body === undefined ? {} : { body }) },
      status: 200,
      code: "",
    },
    target,
  );

const names: readonly (readonly [what: string, name: string])[] = [
  ["right-to-left text", "\u202eexe.wav"],
  ["Arabic", "تسجيل صوتي"],
  ["Hebrew with marks", "שָׁלוֹם"],
  ["invisible characters", "a\u200b\u200d\ufeffb"],
  ["emoji sequences", "👩‍👩‍👧‍👦🏳️‍🌈"],
  ["decomposed letters", "e\u0301"],
  ["letters with many combining marks", `Z${"\u0334\u0351".repeat(100)}`],
  ["characters beyond the basic plane", "𝕍𝕠𝕚𝕔𝕖𝕤"],
  ["unassigned characters", "\u{e000}\u{10ffff}\ufffe"],
  ["control characters", "a\u0007\u001b[31mb\u007f"],
  ["line breaks", "a\r\nX-Evil: 1\n\nb"],
  ["HTML", "<script>alert(1)</script>"],
  ["SQL", "'; drop table datasets; --"],
  ["a format string", "%s%n%x"],
  ["a template", "{{7*7}}<%= 7 %>#{7*7}"],
  ["shell substitutions", "$(reboot) `reboot` | reboot"],
  ["a path", "../../etc/passwd"],
  ["a formula", '=HYPERLINK("http://127.0.0.1","x")'],
  ["a lookup", "$".concat("{jndi:ldap://127.0.0.1/a}")],
  ["127 emoji, 254 UTF-16 code units", "\u{1f600}".repeat(127)],
  ["only a space", " "],
  ["a JavaScript property", "constructor"],
  ["the word null", "null"],
  ["JSON", '{"a":1}'],
  ["backslashes and quotes", "\\\"'\\\\"],
];

describe("unusual text", () => {
  it.each(names)("is a valid name of a dataset: %s", async (_, name) => {
    const made = await client.post("/api/v1/datasets", { name, description: name });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ name, description: name });
    expect((await client.get(`/api/v1/datasets/${made.body.id}`)).body).toEqual(made.body);
    const found = await client.get(`/api/v1/datasets?name=${encodeURIComponent(name)}&page_size=100`);
    expect(found.body.items.map((item: { id: string }) => item.id)).toContain(made.body.id);
  });

  it.each(names)("is a valid file name, also of a download: %s", async (_, name) => {
    const path = `/api/v1/datasets/${world.datasetId}/audio/${world.audioFileId}`;
    const metadata = { [name.slice(0, 60).toWellFormed()]: name };
    const changed = await client.patch(path, { filename: name, metadata });
    expect(changed.body).toMatchObject({ filename: name });
    expect(Object.entries(changed.body.metadata)).toEqual(Object.entries(metadata));
    const { url } = (await client.get(`${path}/download`)).body;
    await api.storage.write(`audio/${client.tenantId}/${world.audioFileId}`, "x");
    const download = await fetch(url);
    expect(download.status).toBe(200);
    expect(download.headers.get("content-disposition")).toMatch(
      /^attachment; filename="[ -~]*"; filename\*=UTF-8''[ -~]*$/,
    );
    expect(download.headers.get("x-evil")).toBeNull();
  });
});

describe("unusual JSON is accepted:", () => {
  const set = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}";
  const annotation = (more: string) =>
    `{"audio_file_id":"{audio_file_id}","artifact_type":"click","start_ms":1,"end_ms":2${more}}`;

  it.each<[string, string | Buffer, object]>([
    ["a byte order mark", Buffer.from('\ufeff{"name":"x"}'), { name: "x" }],
    ["white space around the document", ' \r\n\t{"name":"x"}\r\n ', { name: "x" }],
    ["a duplicate member, whose last value counts", '{"name":7,"name":"x"}', { name: "x" }],
    ["escapes for every character", '{"\\u006eame":"\\u0078"}', { name: "x" }],
    ["an escaped pair of surrogates", '{"name":"\\ud83d\\ude00"}', { name: "\u{1f600}" }],
    [
      "unknown members",
      '{"name":"x","id":"y","tenant_id":"z","toString":1,"__proto__":{"a":1}}',
      { name: "x" },
    ],
  ])("%s", async (_, body, wanted) => {
    const answer = await call("POST", "/api/v1/datasets", body);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([201, wanted]);
  });

  it.each<[string, string, object]>([
    ["minus zero is zero", ',"confidence":-0', { confidence: 0 }],
    ["a number below the smallest double is zero", ',"confidence":1e-400', { confidence: 0 }],
    ["a number with many digits", `,"confidence":0.${"3".repeat(5_000)}`, { confidence: 1 / 3 }],
    [
      "extra data with unusual names",
      ',"extra_data":{"constructor":2,"":3,"toString":4,"prototype":{"a":1}}',
      {},
    ],
    ["extra data with unusual numbers", ',"extra_data":{"a":-0.0,"b":1e308,"c":18446744073709551616}', {}],
  ])("%s", async (_, more, wanted) => {
    const answer = await call("POST", `${set}/annotations`, annotation(more));
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([201, wanted]);
    const sent = JSON.parse(filled(annotation(more), target)).extra_data;
    if (sent !== undefined)
      expect(JSON.stringify(sorted(JSON.parse(answer.text).extra_data))).toBe(JSON.stringify(sorted(sent)));
    const read = await client.get(filled(`${set}/annotations/${JSON.parse(answer.text).id}`, target));
    expect(JSON.stringify(sorted(read.body))).toBe(JSON.stringify(sorted(JSON.parse(answer.text))));
  });

  it("integers with a decimal point or an exponent", async () => {
    const body = '{"audio_file_id":"{audio_file_id}","artifact_type":"click","start_ms":2e1,"end_ms":20.0}';
    const answer = await call("POST", `${set}/annotations`, body);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([201, { start_ms: 20, end_ms: 20 }]);
  });

  it("and no request has changed the prototypes of this process", () => {
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

/** Members sorted by name, because Postgres orders them in its own way. Own members named __proto__ stay. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}

describe("an unusual request", () => {
  it.each<[string, string, string]>([
    ["an id in upper case", "GET", "/api/v1/datasets/{DATASET_ID}"],
    ["an id with a percent-encoded digit", "GET", "/api/v1/datasets/{ENCODED}"],
    ["an unknown parameter", "GET", "/api/v1/datasets?__proto__=1&constructor=2&x[]=3"],
    ["a parameter given twice", "GET", "/api/v1/datasets?page=7&page=1"],
    ["a page number with a decimal point", "GET", "/api/v1/datasets?page=1.0"],
    ["10,000 parameters", "GET", `/api/v1/datasets?${"a&".repeat(7_000)}`],
    ["a percent sign in the query", "GET", "/api/v1/datasets?name=%zz%"],
    ["invalid UTF-8 in the query", "GET", "/api/v1/datasets?name=%ff%fe"],
    ["a question mark in the query", "GET", "/api/v1/datasets?name=??&page=1"],
    ["HEAD", "HEAD", "/api/v1/datasets"],
    ["a percent-encoded letter in the path", "GET", "/api/v1/%64atasets"],
  ])("with %s is answered", async (_, method, path) => {
    const encoded = `%3${world.datasetId[0]}${world.datasetId.slice(1)}`;
    const place = path.replace("{DATASET_ID}", world.datasetId.toUpperCase()).replace("{ENCODED}", encoded);
    const answer = await call(method, place);
    expect([200, 404]).toContain(answer.status);
    if (path.includes("{")) expect(JSON.parse(answer.text).id).toBe(world.datasetId);
  });

  it.each([
    "' or 1=1--",
    "'; drop table annotations; --",
    "\\",
    "%",
    "_",
    "click' union select key_hash from api_keys--",
    "$1",
    "click\u2019",
  ])("with a filter of %s searches for that text", async (text) => {
    const before = await digestOfTables(api.db);
    const value = encodeURIComponent(text);
    const inSet = `/api/v1/datasets/${world.datasetId}/annotation-sets/${world.annotationSetId}`;
    for (const path of [
      `/api/v1/datasets?name=nowhere${value}`,
      `/api/v1/datasets/${world.datasetId}/audio?filename=nowhere${value}`,
    ])
      expect((await client.get(path)).body.total).toBe(0);
    expect((await client.get(`${inSet}/annotations?artifact_type=${value}`)).body).toEqual([]);
    expect(await digestOfTables(api.db)).toEqual(before);
  });

  it.each<[string, [string, string][]]>([
    ["another host name", [["Host", "evil.example"]]],
    [
      "forwarding headers",
      [
        ["X-Forwarded-Host", "evil.example"],
        ["Forwarded", "host=evil.example"],
        ["X-Forwarded-For", "' or 1=1"],
        ["X-Forwarded-Proto", "javascript"],
      ],
    ],
    ["a method override", [["X-HTTP-Method-Override", "DELETE"]]],
    [
      "an Accept header for HTML",
      [
        ["Accept", "text/html"],
        ["Accept-Language", "*"],
        ["Accept-Encoding", "x, gzip;q=0"],
      ],
    ],
    ["a range", [["Range", "bytes=0-1,2-3,-1"]]],
    [
      "an invalid trace context",
      [
        ["traceparent", "00-zz-00-xx"],
        ["tracestate", "=,=,"],
      ],
    ],
    ["a request id with markup", [["X-Request-Id", "<script>alert(1)</script>"]]],
    ["a request id with a line break", [["X-Request-Id", "abcdefgh\tX-Evil: 1"]]],
    [
      "two request ids",
      [
        ["X-Request-Id", "abcdefgh"],
        ["X-Request-Id", "hgfedcba"],
      ],
    ],
    [
      "an invalid condition",
      [
        ["If-Modified-Since", "yesterday"],
        ["If-None-Match", 'garbage, "", W/'],
      ],
    ],
    ["a condition of 10 kB", [["If-None-Match", '"a",'.repeat(2_500)]]],
    [
      "other kinds of credentials",
      [
        ["Authorization", "Basic eDp4"],
        ["Cookie", "a=b; __proto__=c"],
      ],
    ],
    [
      "a WebSocket upgrade",
      [
        ["Connection", "Upgrade"],
        ["Upgrade", "websocket"],
        ["Sec-WebSocket-Key", "x"],
      ],
    ],
    [
      "an upgrade to HTTP/2",
      [
        ["Connection", "Upgrade, HTTP2-Settings"],
        ["Upgrade", "h2c"],
        ["HTTP2-Settings", "AAMAAABk"],
      ],
    ],
    ["200 headers", Array.from({ length: 200 }, (_, i): [string, string] => [`X-${i}`, "a"])],
  ])("with %s gets the usual answer", async (_, headers) => {
    const path = `/api/v1/datasets/${world.datasetId}`;
    const usual: [string, string][] = [["X-API-Key", client.key]];
    const answer = await send(api.url, "GET", path, [...usual, ...headers]);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).id).toBe(world.datasetId);
    expect(answer.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{8,128}$/);
    expect(JSON.stringify(answer)).not.toContain("evil");
  });

  it("with an absolute request target uses its path", async () => {
    const head = `Host: x\r\nX-API-Key: ${client.key}\r\nConnection: close\r\n\r\n`;
    const answer = await sendBytes(
      api.url,
      `GET http://evil.example/api/v1/datasets?page_size=1 HTTP/1.1\r\n${head}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toContain("evil");
  });

  it("with CONNECT opens no tunnel", async () => {
    const answer = await sendBytes(api.url, "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(answer).not.toMatch(/HTTP\/1\.1 [25]/);
  });
});

describe("members that only the service writes", () => {
  const documentOf = async (path: string) => JSON.parse((await call("GET", path)).text);
  const patches = operations.filter((operation) => operation.method === "PATCH");
  const withIds = patches.map((operation) => operation.path).filter((path) => path.endsWith("}"));

  it.each(withIds)("are unchanged by PATCH %s", async (path) => {
    const before = await documentOf(path);
    const body = patches.find((operation) => operation.path === path)!.body!;
    const taken = Object.keys(resolved(body).properties ?? {});
    const hostile = Object.fromEntries(
      Object.entries(before)
        .filter(([name]) => !taken.includes(name))
        .map(([name, value]) => [name, otherThan(value)]),
    );
    expect(Object.keys(hostile)).toContain("id");
    const answer = await call("PATCH", path, JSON.stringify(hostile));
    expect(answer.status).toBe(200);
    const { updated_at: _, ...rest } = before;
    expect(JSON.parse(answer.text)).toMatchObject(rest);
    expect(await documentOf(path)).toMatchObject(rest);
  });

  it("are set by the service on POST, whatever the request contains", async () => {
    let made = 0;
    for (const operation of operations.filter(
      ({ method, body }) => method === "POST" && body !== undefined,
    )) {
      if (!operation.statuses.includes("201")) continue;
      const evil = {
        id: world.datasetId,
        tenant_id: world.keyId,
        status: "completed",
        version: 77,
        key: client.key,
        key_prefix: "pl_aaaaa",
        created_at: "2000-01-01T00:00:00.000Z",
        progress_percent: 100,
        object_store_key: "models/x",
        object_key: "audio/x",
        embedding_status: "completed",
        embedding_key: "embeddings/x",
        upload_expires_at: "2099-01-01T00:00:00.000Z",
        last_used_at: "2000-01-01T00:00:00.000Z",
        total_files: 77,
      };
      const body = { ...evil, ...(example(operation.body!) as object) };
      const answer = await call("POST", operation.path, JSON.stringify(body));
      expect(answer.status, `${operation.path}: ${answer.text}`).toBeLessThan(500);
      if (answer.status !== 201) continue;
      made += 1;
      const created = JSON.parse(answer.text);
      for (const record of [created, created.audio_file, created.inference_file, ...(created.items ?? [])]) {
        for (const [name, value] of Object.entries(record ?? {}))
          if (name in evil)
            expect({ [name]: value }).not.toEqual({ [name]: evil[name as keyof typeof evil] });
      }
    }
    expect(made).toBeGreaterThan(5);
  });
});

/** Another value of the same type. */
function otherThan(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return [...value, "evil"];
  if (typeof value === "object" && value !== null) return { ...value, evil: 1 };
  if (typeof value === "string" && /^[0-9a-f-]{36}$/.test(value))
    return "00000000-0000-4000-8000-00000000beef";
  return "2000-01-01T00:00:00.000Z";
}
