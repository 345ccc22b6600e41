// Every place of an operation where a request can carry an id of another tenant, from the OpenAPI description: each id
// in the path, the query and the body, alone and all at once. Called by test/api/isolation.test.ts.
import type { Json } from "../../src/api/openapi/schema.ts";
import type { Ids } from "./isolation.ts";

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly pathIds: readonly string[];
  readonly queryIds: readonly string[];
  /** A place of an id in the body: names of members, and 0 for the first element of a list. */
  readonly bodyIds: readonly (readonly (string | number)[])[];
  /** Content type of the body; undefined if there is none. */
  readonly contentType: string | undefined;
  /** Example of the description, without ids. Undefined if there is no JSON body. */
  readonly example: unknown;
}

export interface Request {
  readonly path: string;
  readonly body?: unknown;
}

/**
 * One variant of a request: `request(ids)` uses the foreign ids at the named place and the caller's own everywhere
 * else.
 */
export interface Way {
  readonly name: string;
  /** Names of the foreign ids. */
  readonly foreign: readonly string[];
  readonly part: "path" | "query" | "body";
  request(own: Ids, foreign: Ids): Request;
}

const methods = ["get", "post", "put", "patch", "delete"];

/** Every operation that requires a key. */
export function operationsOf(description: Json): Operation[] {
  const paths = description.paths as Record<string, Record<string, Json>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    methods
      .filter(
        (method) =>
          item[method] !== undefined && (item[method].security as unknown[] | undefined)?.length !== 0,
      )
      .map((method) => operationOf(description, method, path, item[method]!)),
  );
}

function operationOf(description: Json, method: string, path: string, operation: Json): Operation {
  const parameters = (operation.parameters ?? []) as { in?: string; name?: string }[];
  const content = (operation.requestBody as Json | undefined)?.content as Record<string, Json> | undefined;
  const json = content?.["application/json"];
  const bodyIds = json === undefined ? [] : idsIn(description, json.schema as Json, [], []);
  return {
    id: String(operation.operationId),
    method: method.toUpperCase(),
    path,
    pathIds: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    queryIds: parameters.filter((p) => p.in === "query" && isId(p.name ?? "")).map((p) => p.name!),
    bodyIds,
    contentType: Object.keys(content ?? {})[0],
    example: json?.example,
  };
}

const isId = (name: string) => /_ids?$/.test(name) || name === "id";

function idsIn(
  description: Json,
  schema: Json,
  at: readonly (string | number)[],
  seen: readonly string[],
): (readonly (string | number)[])[] {
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").at(-1) : undefined;
  if (name !== undefined) {
    if (seen.includes(name)) return [];
    const { schemas } = description.components as { schemas: Record<string, Json> };
    return idsIn(description, schemas[name] ?? {}, at, [...seen, name]);
  }
  const own = at.at(-1);
  if (typeof own === "string" && isId(own) && own.endsWith("_id")) return [at];
  if (typeof own === "number" && typeof at.at(-2) === "string" && String(at.at(-2)).endsWith("_ids"))
    return [at];
  const into = (part: unknown, ...step: (string | number)[]) =>
    typeof part === "object" && part !== null ? idsIn(description, part as Json, [...at, ...step], seen) : [];
  const alternatives = ["anyOf", "oneOf", "allOf"].flatMap((word) => (schema[word] ?? []) as unknown[]);
  return [
    ...Object.entries((schema.properties ?? {}) as Json).flatMap(([member, part]) => into(part, member)),
    ...into(schema.items, 0),
    ...alternatives.flatMap((part) => into(part)),
  ];
}

/** The id that a place of the body refers to: `audio_file_ids` contains an `audio_file_id`. */
const nounOf = (at: readonly (string | number)[]) =>
  String(at.filter((step) => typeof step === "string").at(-1)).replace(/_ids$/, "_id");

/** Query parameters with the caller's own ids: `{ audio_file_id: "..." }`. */
export type Query = Readonly<Record<string, string>>;

/** All variants of an operation with foreign ids. `base` is its body with the caller's own ids. */
export function waysOf(
  operation: Operation,
  base: (own: Ids) => unknown,
  queryOf: (own: Ids) => Query = () => ({}),
): Way[] {
  const { method, pathIds, queryIds, bodyIds } = operation;
  const pathOf = (own: Ids, idOf: (name: string) => string, query: Query = {}) => {
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => idOf(name));
    const text = new URLSearchParams({ ...queryOf(own), ...query }).toString();
    return text === "" ? path : `${path}?${text}`;
  };
  const inPath = (name: string, foreign: readonly string[]): Way => ({
    name: `${method} ${operation.path} with ${name}`,
    foreign,
    part: "path",
    request: (own, others) => ({
      // If no id of the path is the caller's, the other parameters belong to the foreign tenant too.
      path: pathOf(foreign.length === pathIds.length ? others : own, (id) =>
        need(foreign.includes(id) ? others : own, id),
      ),
      body: base(own),
    }),
  });
  return [
    ...pathIds.map((name) => inPath(`{${name}}`, [name])),
    ...(pathIds.length > 1 ? [inPath("all ids of the path", pathIds)] : []),
    ...queryIds.map(
      (name): Way => ({
        name: `${method} ${operation.path} with ?${name}`,
        foreign: [name],
        part: "query",
        request: (own, others) => ({
          path: pathOf(own, (id) => need(own, id), { [name]: need(others, name) }),
          body: base(own),
        }),
      }),
    ),
    ...bodyIds.map(
      (at): Way => ({
        name: `${method} ${operation.path} with body.${at.join(".")}`,
        foreign: [nounOf(at)],
        part: "body",
        request: (own, others) => ({
          path: pathOf(own, (id) => need(own, id)),
          body: placed(base(own), at, need(others, nounOf(at))),
        }),
      }),
    ),
  ];
}

/** A route with ids that the test data lack must fail here instead of being skipped. */
export function need(ids: Ids, name: string): string {
  const id = ids[name];
  if (id === undefined)
    throw new Error(`the test data of the tenants (test/support/isolation.ts) have no ${name}`);
  return id;
}

/** A copy of the body with the value at the place; missing members on the way are created. */
function placed(body: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") {
    const [first, ...others] = Array.isArray(body) ? body : [];
    return [placed(first, rest, value), ...others];
  }
  const object = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  return { ...object, [step]: placed(object[step], rest, value) };
}

/** The description's example with the caller's own id at every place of an id. */
export function exampleFor(operation: Operation, own: Ids): unknown {
  return operation.bodyIds.reduce<unknown>(
    (body, at) => (has(body, at) ? placed(body, at, need(own, nounOf(at))) : body),
    operation.example,
  );
}

const has = (body: unknown, at: readonly (string | number)[]): boolean =>
  at.length === 0 ||
  (typeof body === "object" && body !== null && at[0]! in body && has((body as Json)[at[0]!], at.slice(1)));
