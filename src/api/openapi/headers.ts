// Response and request headers. Each is described once, and operations refer to it. Called by openapi.ts, answers.ts
// and operation.ts.
import { longestTagList } from "../conditional.ts";
import type { Route } from "../route.ts";
import type { Json } from "./schema.ts";

const text = (maxLength: number, more: Json = {}) => ({ type: "string", maxLength, ...more });

/** Response headers by name. */
export const headers: Record<string, Json> = {
  "Access-Control-Allow-Origin": {
    description: "Only for web pages of the origins that the installation allows; never `*`",
    schema: text(2048, { format: "uri" }),
  },
  ETag: {
    description: "Changes whenever the resource changes; for If-None-Match and If-Match",
    schema: text(128, { pattern: '^"[!#-~]+"$' }),
    example: '"b7F0c1yq3Zk9vT2mX8aLwQ"',
  },
  "Idempotency-Replayed": {
    description:
      "`true`: an earlier request with the same Idempotency-Key created the resource; this request created nothing",
    schema: { type: "string", enum: ["true"] },
  },
  Location: {
    description: "Path of the new resource",
    required: true,
    schema: text(2048, { format: "uri-reference", pattern: "^/api/v1/" }),
    example: "/api/v1/datasets/0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11",
  },
  RateLimit: {
    description:
      'Remaining requests `r`, and seconds `t` until the full limit is available again (draft-ietf-httpapi-ratelimit-headers): `"default";r=597;t=12`. Every response to a valid key has it, together with the older headers RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset.',
    schema: text(256),
    example: '"default";r=597;t=12',
  },
  "RateLimit-Policy": {
    description:
      "The rate limits that apply: `q` requests in `w` seconds. Every response to a valid key has it.",
    schema: text(256),
    example: '"default";q=600;w=60',
  },
  "Retry-After": {
    description: "Seconds to wait before the next attempt; absent if waiting does not help (quotas)",
    schema: { type: "integer", format: "int32", minimum: 0, maximum: 86_400 },
    example: 2,
  },
  "X-Annotation-Set-ETag": {
    description: "ETag of the annotation set after this change, for If-Match of the next change",
    schema: text(128, { pattern: '^"[!#-~]+"$' }),
    example: '"set-2-17"',
  },
  "Content-Disposition": {
    description: "Tells browsers to save the response as a file, and the name of the file (RFC 6266)",
    schema: text(4096, { pattern: "^attachment; " }),
    example: `attachment; filename="takes v3.csv"; filename*=UTF-8''takes%20v3.csv`,
  },
  "X-Total-Count": {
    description: "Total number of items, independent of the page",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 240,
  },
  "X-Next-Cursor": {
    description: "Value of the parameter `cursor` for the next page; absent on the last page",
    schema: text(64),
    example: "1767225600000000.0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11",
  },
  "X-Request-Id": {
    description:
      "Identifies this request in the service's logs. It is the X-Request-Id of the request if that consists of 8 to 128 letters, digits, `.`, `_` and `-`, else a new id",
    required: true,
    schema: text(128, { pattern: "^[A-Za-z0-9._-]{8,128}$" }),
    example: "4f6a2c8e-5d8b-4e2f-9a35-0c7d7f0f3b1e",
  },
  "WWW-Authenticate": {
    description: "Authentication scheme: an API key in the header X-API-Key",
    schema: { type: "string", enum: ["APIKey"] },
  },
};

/** Returns references to the named response headers. */
export function headerRefs(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of every response. */
export const everyAnswer = ["Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy", "X-Request-Id"];

/** Request headers, except for the key. */
export const headerParameters: Record<string, Json> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored.",
    schema: text(255, { minLength: 1 }),
    example: "upload-take-17-first-try",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "Expected ETags: if the resource has none of them, nothing is changed and the response is 412",
    schema: text(longestTagList),
    example: "*",
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "Known ETags: if the resource still has one of them, the response is 304 without a body",
    schema: text(longestTagList),
    example: '"b7F0c1yq3Zk9vT2mX8aLwQ"',
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "Id of the last received event; the stream begins with the event after it",
    schema: text(15, { pattern: "^[0-9]*$" }),
    example: "1024",
  },
};

/** Returns references to the request headers that the operation accepts. */
export function headerParametersOf(route: Route): Json[] {
  return [
    ...(route.idempotent === undefined ? [] : ["IdempotencyKey"]),
    ...(route.guard === undefined ? [] : ["IfMatch"]),
    ...(route.conditional === undefined ? [] : ["IfNoneMatch"]),
    ...(route.resumable === undefined ? [] : ["LastEventId"]),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
