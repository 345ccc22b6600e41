// Cases: ambiguous paths, queries, methods, keys and headers.
import type { HostileCase, HostileRequest } from "../case.ts";
import { nobody } from "../case.ts";

const datasets = "/api/v1/datasets";
const dataset = `${datasets}/{dataset_id}`;
const get = (path: string, more: Partial<HostileRequest> = {}): HostileRequest => ({
  method: "GET",
  path,
  ...more,
});
const post = (headers: HostileRequest["headers"], body = '{"name":"x"}'): HostileRequest => ({
  method: "POST",
  path: datasets,
  body,
  headers,
});
const line = (status: number, code: string) => (name: string, request: HostileRequest) => ({
  name,
  request,
  status,
  code,
});

/** Path segments in place of an id: each is rejected as a malformed id and never decoded into another path. */
const malformedIds: readonly (readonly [name: string, segment: string])[] = [
  ["dots and a slash, encoded", "..%2f..%2fauth%2fapi-keys"],
  ["dots, encoded", "%2e%2e%2f%2e%2e"],
  ["dots, encoded twice", "%252e%252e%252f"],
  ["a backslash", "..%5c..%5c"],
  ["a NUL", "%00"],
  ["an id and a NUL", "{dataset_id}%00"],
  ["an id and a line break", "{dataset_id}%0a"],
  ["an id and a header", "{dataset_id}%0d%0aX-Evil:%201"],
  ["an id and a space", "{dataset_id}%20"],
  ["an id and a semicolon", "{dataset_id};a=b"],
  ["an id and an extension", "{dataset_id}.json"],
  ["an id and SQL", "{dataset_id}'%20or%20'1'='1"],
  ["an id in braces", "%7b{dataset_id}%7d"],
  ["two ids", "{dataset_id},{dataset_id}"],
  ["an id with a full-width digit", "%ef%bc%900000000-0000-4000-8000-00000000dead"],
  ["an overlong slash", "%c0%af"],
  ["a byte that is invalid in UTF-8", "%ff"],
  ["a percent sign alone", "%"],
  ["an incomplete percent encoding", "%4"],
  ["letters as a percent encoding", "%zz"],
  ["a number", "1"],
  ["a negative number", "-1"],
  ["null", "null"],
  ["undefined", "undefined"],
  ["the prototype", "__proto__"],
  ["the constructor", "constructor"],
  ["a star", "*"],
  ["a pattern", ".*"],
  ["a template", "%7b%7bconstructor.constructor%7d%7d"],
  ["a lookup", "$%7bjndi:ldap:%2f%2f127.0.0.1%2fa%7d"],
  ["4,000 letters", "a".repeat(4_000)],
  ["4,000 percent encodings", "%41".repeat(4_000)],
];

/** Paths that do not exist in the service. */
const unknownPaths: readonly (readonly [name: string, path: string])[] = [
  ["a trailing slash", `${datasets}/`],
  ["a trailing slash after an id", `${dataset}/`],
  ["two slashes", "/api//v1/datasets"],
  ["two slashes at the start", "//api/v1/datasets"],
  ["two slashes before an id", `${datasets}//{dataset_id}`],
  ["a dot", "/api/v1/./datasets"],
  ["two dots", "/api/v1/x/../datasets"],
  ["dots, encoded", "/api/v1/x/%2e%2e/datasets"],
  ["a slash, encoded", "/api%2fv1%2fdatasets"],
  ["a letter, encoded", "/api/v1/%64atasets/"],
  ["upper case", "/api/v1/DATASETS"],
  ["upper case in the prefix", "/API/v1/datasets"],
  ["a semicolon", `${datasets};a=b`],
  ["a NUL behind it", `${datasets}%00`],
  ["a question mark, encoded", `${datasets}%3fpage=1`],
  ["a hash sign, encoded", `${datasets}%23`],
  ["a backslash", "/api\\v1\\datasets"],
  ["another version", "/api/v2/datasets"],
  ["no version", "/api/datasets"],
  ["the file system", "/etc/passwd"],
  ["a path above the root", "/../../../../etc/passwd"],
  ["a path above the root, encoded", "/%2e%2e/%2e%2e/etc/passwd"],
  ["the repository", "/.git/config"],
  ["the environment", "/.env"],
  ["the metrics", "/metrics"],
  ["the inspector", "/json/version"],
  ["an action that does not exist", `${dataset}/publish`],
  ["the prototype", "/__proto__"],
  ["the constructor", "/constructor"],
  ["8,000 segments", "/a".repeat(7_000)],
  ["the root", "/"],
];

const methods = [
  "PUT",
  "PATCH",
  "DELETE",
  "TRACE",
  "PROPFIND",
  "MKCOL",
  "COPY",
  "LOCK",
  "SEARCH",
  "PURGE",
  "QUERY",
  "LINK",
];

const key = "{key}";
const keys: readonly (readonly [name: string, request: HostileRequest])[] = [
  ["no key", get(datasets, { key: false })],
  ["an empty key", get(datasets, { headers: [["X-API-Key", ""]] })],
  ["only white space", get(datasets, { headers: [["X-API-Key", "   "]] })],
  [
    "the key twice",
    get(datasets, {
      headers: [
        ["X-API-Key", key],
        ["X-API-Key", key],
      ],
    }),
  ],
  [
    "the key and an empty one",
    get(datasets, {
      headers: [
        ["X-API-Key", key],
        ["X-API-Key", ""],
      ],
    }),
  ],
  ["two keys in one header", get(datasets, { headers: [["X-API-Key", `${key},${key}`]] })],
  ["a space within", get(datasets, { headers: [["X-API-Key", `pl_ ${key}`]] })],
  ["a word before it", get(datasets, { headers: [["X-API-Key", `Bearer ${key}`]] })],
  ["quotes", get(datasets, { headers: [["X-API-Key", `"${key}"`]] })],
  ["a letter too many", get(datasets, { headers: [["X-API-Key", `${key}0`]] })],
  ["a wrong checksum", get(datasets, { headers: [["X-API-Key", `pl_${"a".repeat(46)}`]] })],
  ["no prefix", get(datasets, { headers: [["X-API-Key", "a".repeat(49)]] })],
  ["a prefix in capitals", get(datasets, { headers: [["X-API-Key", `PL_${"a".repeat(46)}`]] })],
  ["letters beyond ASCII", get(datasets, { headers: [["X-API-Key", `pl_${"\xe9".repeat(46)}`]] })],
  ["SQL", get(datasets, { headers: [["X-API-Key", "' or 1=1--"]] })],
  ["10,000 letters", get(datasets, { headers: [["X-API-Key", "pl_".padEnd(10_000, "a")]] })],
  ["the key in the query", get(`${datasets}?X-API-Key=${key}&api_key=${key}`, { key: false })],
  ["the key as a bearer token", get(datasets, { key: false, headers: [["Authorization", `Bearer ${key}`]] })],
  ["the key as a password", get(datasets, { key: false, headers: [["Authorization", "Basic eDp4"]] })],
  ["the key as a cookie", get(datasets, { key: false, headers: [["Cookie", `X-API-Key=${key}`]] })],
  ["the key with an underscore", get(datasets, { key: false, headers: [["X_API_Key", key]] })],
  ["a header that names another", get(datasets, { key: false, headers: [["X-Forwarded-X-API-Key", key]] })],
];

const json = "application/json";
const types: readonly (readonly [name: string, request: HostileRequest])[] = [
  ["no content type", post([["Content-Type", ""]])],
  ["a form", post([["Content-Type", "application/x-www-form-urlencoded"]])],
  ["a multipart form", post([["Content-Type", "multipart/form-data; boundary=x"]])],
  ["XML", post([["Content-Type", "application/xml"]])],
  ["a type that begins like JSON", post([["Content-Type", "application/jsonp"]])],
  ["a type that ends like JSON", post([["Content-Type", "text/json"]])],
  ["JSON with a suffix", post([["Content-Type", "application/merge-patch+json"]])],
  ["two types in one header", post([["Content-Type", `text/plain, ${json}`]])],
  ["two types, JSON first", post([["Content-Type", `${json}, text/plain`]])],
  ["a list of types", post([["Content-Type", "*/*"]])],
  ["Latin-1", post([["Content-Type", `${json}; charset=iso-8859-1`]])],
  ["UTF-16", post([["Content-Type", `${json}; charset=utf-16`]])],
  ["UTF-7", post([["Content-Type", `${json}; charset=utf-7`]])],
  ["no character set behind the equals sign", post([["Content-Type", `${json}; charset=`]])],
  ["two character sets", post([["Content-Type", `${json}; charset=utf-8; charset=utf-16`]])],
  ["half a quoted character set", post([["Content-Type", `${json}; charset="utf-8`]])],
  [
    "gzip",
    post([
      ["Content-Type", json],
      ["Content-Encoding", "gzip"],
    ]),
  ],
  [
    "deflate",
    post([
      ["Content-Type", json],
      ["Content-Encoding", "deflate"],
    ]),
  ],
  [
    "brotli",
    post([
      ["Content-Type", json],
      ["Content-Encoding", "br"],
    ]),
  ],
  [
    "two codings",
    post([
      ["Content-Type", json],
      ["Content-Encoding", "gzip, gzip"],
    ]),
  ],
  [
    "an unknown coding",
    post([
      ["Content-Type", json],
      ["Content-Encoding", "x"],
    ]),
  ],
];

/** Headers that other servers obey: the method and the path stay those of the request line. */
const overrides = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"];

const filters: readonly (readonly [name: string, path: string, status: number, code: string])[] = [
  ["a page below 1", `${datasets}?page=-1`, 422, "greater_than_equal"],
  ["a page of 30 digits", `${datasets}?page=${"9".repeat(30)}`, 422, "less_than_equal"],
  ["a page in exponents", `${datasets}?page=1e9`, 422, "int_parsing"],
  ["a page in other digits", `${datasets}?page=%d9%a1`, 422, "int_parsing"],
  ["a page with a space", `${datasets}?page=%201`, 422, "int_parsing"],
  ["a page with a plus", `${datasets}?page=+1`, 422, "int_parsing"],
  ["a page twice, the last one wrong", `${datasets}?page=1&page=x`, 422, "int_parsing"],
  ["a page of SQL", `${datasets}?page=1;drop%20table%20datasets`, 422, "int_parsing"],
  [
    "65 types",
    `${dataset}/annotation-sets/{annotation_set_id}/annotations?${"artifact_type=a&".repeat(65)}`,
    422,
    "too_long",
  ],
  ["a status that is none", "/api/v1/training-jobs?status=done", 422, "enum"],
  ["17 statuses", `/api/v1/training-jobs?${"status=queued&".repeat(17)}`, 422, "too_long"],
  ["a status of the prototype", "/api/v1/training-jobs?status=__proto__", 422, "enum"],
  ["an id of SQL", "/api/v1/training-jobs?dataset_id=1'%20or%20'1'='1", 422, "uuid_parsing"],
  [
    "a confidence of NaN",
    `${dataset}/annotation-sets/{annotation_set_id}/annotations?min_confidence=NaN`,
    422,
    "float_parsing",
  ],
  [
    "a window of 400 digits",
    `${dataset}/annotation-sets/{annotation_set_id}/annotations?start_ms=${"9".repeat(400)}`,
    422,
    "int_type",
  ],
];

export const requestCases: readonly HostileCase[] = [
  ...malformedIds.map(([name, segment]) => ({
    ...line(422, "uuid_parsing")(`a dataset id that is ${name}`, get(`${datasets}/${segment}`)),
    loc: ["path", "dataset_id"],
  })),
  ...unknownPaths.map(([name, path]) => line(404, "route_not_found")(`a path with ${name}`, get(path))),
  ...methods.map((method) =>
    line(405, "method_not_allowed")(`the method ${method}`, { method, path: datasets }),
  ),
  ...overrides.map((name) =>
    line(404, "dataset_not_found")(
      `the header ${name}`,
      get(`${datasets}/${nobody}`, { headers: [[name, "OPTIONS"]] }),
    ),
  ),
  line(404, "route_not_found")(
    "a path in a header",
    get("/nowhere", {
      headers: [
        ["X-Original-URL", datasets],
        ["X-Rewrite-URL", datasets],
      ],
    }),
  ),
  ...keys.map(([name, request]) => line(401, "invalid_api_key")(`a key with ${name}`, request)),
  ...types.map(([name, request]) => line(415, "unsupported_media_type")(`a body called ${name}`, request)),
  ...filters.map(([name, path, status, code]) => line(status, code)(`a query with ${name}`, get(path))),
];
