// The OpenAPI description for the tests of this folder: its operations, and a valid example of each request. Called by
// fields.ts and by tests that call every operation.
import { makeOpenApi } from "../../../src/api/openapi.ts";
import { routes } from "../../../src/api/routes/index.ts";

export interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly additionalProperties?: unknown;
  readonly default?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The schema of a JSON body. */
  readonly body?: Schema;
  /** A body that the operation accepts: JSON, or text of its content type. */
  readonly sent?: { readonly body: string; readonly headers: readonly (readonly [string, string])[] };
  readonly statuses: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the description is an untyped JSON document.
const document = JSON.parse(JSON.stringify(makeOpenApi(routes))) as any;

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  Object.entries(item as Record<string, any>).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    parameters: (operation.parameters ?? []).map(resolved),
    body: operation.requestBody?.content["application/json"]?.schema,
    ...sentOf(operation.requestBody?.content),
    statuses: Object.keys(operation.responses),
  })),
);

// biome-ignore lint/suspicious/noExplicitAny: as above.
function sentOf(content: Record<string, any> | undefined): Pick<Operation, "sent"> {
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  if (type === undefined) return {};
  const body =
    type !== "application/json"
      ? String(media.example)
      : JSON.stringify(single(media.schema) === undefined ? [] : example(media.schema));
  return { sent: { body, headers: [["Content-Type", type]] } };
}

/** The path with its required query parameters. */
export function withQuery(
  { path, parameters }: Pick<Operation, "path" | "parameters">,
  ...more: string[]
): string {
  const named = new Set(more.map((pair) => pair.split("=")[0]));
  const needed = parameters
    .filter((parameter) => parameter.in === "query" && parameter.required && !named.has(parameter.name))
    .map((parameter) => `${parameter.name}=${example(parameter.schema, parameter.name)}`);
  const query = [...needed, ...more].join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** Resolves a reference to its schema. */
export function resolved<T extends { readonly $ref?: string }>(value: T): T {
  if (value.$ref === undefined) return value;
  const found = value.$ref
    .split("/")
    .slice(1)
    .reduce((node, step) => node[step], document);
  return resolved({ ...found, ...{ ...value, $ref: undefined } });
}

/** The schema without its null, and whether it is nullable. Undefined for other alternatives. */
export function single(schema: Schema): { schema: Schema; nullable: boolean } | undefined {
  const plain = resolved(schema);
  if (plain.anyOf !== undefined) {
    const others = plain.anyOf.filter((option) => option.type !== "null");
    const inner = others.length === 1 ? single(others[0]!) : undefined;
    return inner && { schema: inner.schema, nullable: inner.nullable || others.length < plain.anyOf.length };
  }
  if (Array.isArray(plain.type)) {
    const others = plain.type.filter((type) => type !== "null");
    if (others.length !== 1) return undefined;
    return { schema: { ...plain, type: others[0] }, nullable: others.length < plain.type.length };
  }
  return { schema: plain as Schema, nullable: false };
}

/** A valid value of the schema; ids are those of the test data. */
export function example(schema: Schema, name = ""): unknown {
  const found = single(schema);
  if (found === undefined) return {};
  const s = found.schema;
  if (s.const !== undefined) return s.const;
  if (s.enum !== undefined) return s.enum[0];
  switch (s.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(s.properties ?? {})
          .filter(([member]) => s.required?.includes(member))
          .map(([member, inner]) => [member, example(inner, member)]),
      );
    case "array":
      return Array.from({ length: Math.max(1, s.minItems ?? 0) }, () =>
        example(s.items ?? {}, name.replace(/s$/, "")),
      );
    case "integer":
    case "number":
      return s.minimum ?? (s.exclusiveMinimum === undefined ? 1 : s.exclusiveMinimum + 1);
    case "boolean":
      return true;
    default:
      return text(s, name);
  }
}

function text(s: Schema, name: string): string {
  // Only requests in bulk have bare ids.
  if (name === "id") return "{annotation_id}";
  if (s.format === "uuid" || name.endsWith("_id")) return `{${name.replace(/^from_/, "")}}`;
  if (s.format === "date-time") return "2099-01-01T00:00:00Z";
  if (s.format === "uri" || name === "url") return "https://example.com/hook";
  if (s.pattern?.includes("0-9a-f]{64}")) return "a".repeat(64);
  return "click".padEnd(s.minLength ?? 0, "x").slice(0, s.maxLength);
}
