// Headers of answers and requests, each described once; operations refer to them. Called by openapi.ts, answers.ts and
// operation.ts.
import { longestTagList } from "../conditional.ts";
import type { Route } from "../route.ts";
import type { Json } from "./schema.ts";

const text = (maxLength: number, more: Json = {}) => ({ type: "string", maxLength, ...more });

/** Named as they are sent. */
export const headers: Record<string, Json> = {
  "Access-Control-Allow-Origin": {
    description:
      "Only to pages of the origins that the installation allows, and only where it allows any; never `*`",
    schema: text(2048, { format: "uri" }),
  },
  ETag: {
    description: "Changes with every change of the resource; for If-None-Match and If-Match",
    schema: text(128, { pattern: '^"[!#-~]+"$' }),
    example: '"b7F0c1yq3Zk9vT2mX8aLwQ"',
  },
  "Idempotency-Replayed": {
    description: "`true`: an earlier request with the same Idempotency-Key made this; nothing was made now",
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
      'What is left of the limit, and the seconds until it is whole again (draft-ietf-httpapi-ratelimit-headers): `"default";r=597;t=12`. Sent with every answer to a valid key, together with RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, the older form of the same.',
    schema: text(256),
    example: '"default";r=597;t=12',
  },
  "RateLimit-Policy": {
    description: "The limits that apply: requests `q` in `w` seconds. Sent with every answer to a valid key.",
    schema: text(256),
    example: '"default";q=600;w=60',
  },
  "Retry-After": {
    description: "Seconds after which trying again makes sense; absent where waiting does not help (quotas)",
    schema: { type: "integer", format: "int32", minimum: 0, maximum: 86_400 },
    example: 2,
  },
  "X-Annotation-Set-ETag": {
    description:
      "ETag of the annotation set after this change: for the next change with If-Match, without reading the set again",
    schema: text(128, { pattern: '^"[!#-~]+"$' }),
    example: '"set-1-17"',
  },
  "Content-Disposition": {
    description: "Says that the answer is a file, and how it is called (RFC 6266)",
    schema: text(4096, { pattern: "^attachment; " }),
    example: `attachment; filename="takes v3.csv"; filename*=UTF-8''takes%20v3.csv`,
  },
  "X-Total-Count": {
    description: "How many there are in all, whatever page was asked for",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 240,
  },
  "X-Request-Id": {
    description:
      "Names this request in the service's logs: the request's own X-Request-Id if it is 8 to 128 letters, digits, `.`, `_` and `-`, else a new one",
    required: true,
    schema: text(128, { pattern: "^[A-Za-z0-9._-]{8,128}$" }),
    example: "4f6a2c8e-5d8b-4e2f-9a35-0c7d7f0f3b1e",
  },
  "WWW-Authenticate": {
    description: "The scheme of the key: the header X-API-Key",
    schema: { type: "string", enum: ["APIKey"] },
  },
};

/** References to the headers of an answer. */
export function headerRefs(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** On every answer. */
export const everyAnswer = ["Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy", "X-Request-Id"];

/** Request headers beside the key. */
export const headerParameters: Record<string, Json> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered.",
    schema: text(255, { minLength: 1 }),
    example: "upload-take-17-first-try",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so",
    schema: text(longestTagList),
    example: "*",
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "ETags that you have: if one of them is still the resource's, the answer is 304 without a body",
    schema: text(longestTagList),
    example: '"b7F0c1yq3Zk9vT2mX8aLwQ"',
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The id of the last event that you have: the stream begins with the one after it",
    schema: text(15, { pattern: "^[0-9]*$" }),
    example: "1024",
  },
};

/** Those that this operation takes. */
export function headerParametersOf(route: Route): Json[] {
  return [
    ...(route.idempotent === undefined ? [] : ["IdempotencyKey"]),
    ...(route.guard === undefined ? [] : ["IfMatch"]),
    ...(route.conditional === undefined ? [] : ["IfNoneMatch"]),
    ...(route.resumable === undefined ? [] : ["LastEventId"]),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
