// Cases that follow from the OpenAPI description: each field of each body and each parameter with wrong types, values
// just outside its bounds, and text that the database cannot store. A new route is covered by its description.
import { type HostileCase, type Loc, nobody } from "../case.ts";
import { example, type Operation, operations, type Schema, single, withQuery } from "./description.ts";

interface Field {
  readonly path: Loc;
  readonly schema: Schema;
  readonly nullable: boolean;
}

/** Every member of the body that has one type, at any depth. */
function fieldsOf(schema: Schema, path: Loc = []): Field[] {
  const found = single(schema);
  if (found === undefined) return [];
  const own = path.length === 0 ? [] : [{ path, ...found }];
  const { properties, items } = found.schema;
  return [
    ...own,
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => fieldsOf(inner, [...path, name])),
    ...(items === undefined ? [] : fieldsOf(items, [...path, 0])),
  ];
}

/**
 * JSON text of the body with one field replaced by other JSON text, so that numbers can be ones that no serializer
 * writes.
 */
function bodyWith(operation: Operation, field: Field, json: string): string {
  const marker = "@@HERE@@";
  const put = (at: Schema, loc: Loc, name: string): unknown => {
    if (loc.length === 0) return marker;
    const step = loc[0]!;
    const inner = single(at)!.schema;
    if (typeof step === "number") return [put(inner.items!, loc.slice(1), name)];
    return { ...(example(inner) as object), [step]: put(inner.properties![step]!, loc.slice(1), step) };
  };
  return JSON.stringify(put(operation.body!, field.path, "")).replace(`"${marker}"`, () => json);
}

const wrongType: Readonly<Record<string, string>> = {
  string: "string_type",
  integer: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
};
const samples: Readonly<Record<string, string>> = {
  string: '"text"',
  number: "7",
  boolean: "true",
  array: "[]",
  object: "{}",
  null: "null",
};

type Variant = readonly [what: string, json: string, code: string];

function typesOf(field: Field): Variant[] {
  const { schema, nullable } = field;
  const type = schema.enum !== undefined || schema.const !== undefined ? "enum" : String(schema.type);
  const code = type === "enum" ? "enum" : wrongType[type];
  if (code === undefined) return [];
  const own = type === "enum" ? "string" : type === "integer" ? "number" : type;
  return Object.entries(samples)
    .filter(([name]) => name !== own && !(name === "null" && nullable))
    .map(([name, json]) => [`is ${name === "null" ? "null" : `of type ${name}`}`, json, code] as const);
}

function boundsOf({ schema: s }: Field): Variant[] {
  const variants: Variant[] = [];
  const isNumber = s.type === "integer" || s.type === "number";
  const step = s.type === "integer" ? 1 : 1e-6;
  if (isNumber) {
    const type = s.type === "integer" ? "int_type" : "float_type";
    variants.push(["is 1e400", "1e400", type], ["is -1e400", "-1e400", type]);
    if (s.minimum !== undefined)
      variants.push(["is just too small", String(s.minimum - step), "greater_than_equal"]);
    if (s.maximum !== undefined)
      variants.push(["is just too large", String(s.maximum + step), "less_than_equal"]);
    if (s.type === "integer")
      variants.push(["is 1.5", "1.5", "int_type"], ["is 1e-300", "1e-300", "int_type"]);
  }
  if (s.type === "string" && s.enum === undefined && s.format === undefined && s.pattern === undefined) {
    if ((s.minLength ?? 0) > 0) variants.push(["is empty", '""', "string_too_short"]);
    if (s.maxLength !== undefined)
      variants.push([
        "is one character too long",
        JSON.stringify("x".repeat(s.maxLength + 1)),
        "string_too_long",
      ]);
  }
  if (s.type === "array") {
    const item = JSON.stringify(example(s.items ?? {}));
    const list = (length: number) => `[${Array.from({ length }, () => item).join(",")}]`;
    if ((s.minItems ?? 0) > 0) variants.push(["is empty", "[]", "too_short"]);
    if (s.maxItems !== undefined) variants.push(["has one item too many", list(s.maxItems + 1), "too_long"]);
  }
  return variants;
}

/** Text that Postgres cannot store, and text that does not match the format. */
function textsOf({ schema: s }: Field): Variant[] {
  if (s.type !== "string") return [];
  const code = codeOfText(s);
  const invalid: Variant[] = [
    ["contains NUL", '"a\\u0000b"', code],
    ["contains an unpaired surrogate", '"a\\ud800b"', code],
  ];
  return code === "value_error" ? invalid : [...invalid, ["does not match its format", '"\\u202e!"', code]];
}

function codeOfText(s: Schema): string {
  if (s.enum !== undefined || s.const !== undefined) return "enum";
  if (s.format === "uuid") return "uuid_parsing";
  if (s.format === "date-time") return "datetime_parsing";
  if (s.pattern !== undefined) return "string_pattern_mismatch";
  return "value_error";
}

/** Every body field of every operation. */
export const fieldCases: readonly HostileCase[] = operations.flatMap((operation) =>
  operation.body === undefined
    ? []
    : fieldsOf(operation.body).flatMap((field) =>
        [...typesOf(field), ...boundsOf(field), ...textsOf(field)].map(([what, json, code]) => ({
          name: `${operation.method} ${operation.path}: ${field.path.join(".")} ${what}`,
          request: { method: operation.method, path: operation.path, body: bodyWith(operation, field, json) },
          status: 422,
          code,
          loc: ["body", ...field.path],
        })),
      ),
);

/** Every body as a whole. */
export const bodyCases: readonly HostileCase[] = operations.flatMap((operation) => {
  if (operation.sent === undefined) return [];
  const { method, body: schema, sent } = operation;
  const line = (name: string, body: string | Buffer, status: number, code: string, type?: string) => ({
    name: `${method} ${operation.path}: the body ${name}`,
    request: {
      method,
      path: withQuery(operation),
      body,
      headers: type === undefined ? sent.headers : ([["Content-Type", type]] as const),
    },
    status,
    code,
    ...(status === 422 ? { loc: ["body"] } : {}),
  });
  const noUtf8 = Buffer.concat([Buffer.from(sent.body), Buffer.from([0xff])]);
  const always = [
    line("is called an image", sent.body, 415, "unsupported_media_type", "image/png"),
    line("is no UTF-8", noUtf8, 400, "invalid_request"),
  ];
  if (schema === undefined) return always;
  const json = [
    ...always,
    line("is cut off", sent.body.slice(0, -1), 400, "invalid_request"),
    line("has something behind it", `${sent.body}{}`, 400, "invalid_request"),
    line("is called text/plain", sent.body, 415, "unsupported_media_type", "text/plain"),
  ];
  const one = single(schema);
  if (one === undefined)
    return [
      ...json,
      line("is text", '"text"', 422, "value_error"),
      line("is null", "null", 422, "value_error"),
    ];
  return [
    ...json,
    line("is a list", "[]", 422, "dict_type"),
    line("is null", "null", 422, "dict_type"),
    line("is text", '"text"', 422, "dict_type"),
  ];
});

function parameterVariants(s: Schema): Variant[] {
  if (s.enum !== undefined) return [["is none of the words", "nonsense%00", "enum"]];
  const bounds: Variant[] = [];
  if (s.minimum !== undefined && s.minimum > -9e15)
    bounds.push([
      "is just too small",
      String(s.minimum - (s.type === "integer" ? 1 : 0.001)),
      "greater_than_equal",
    ]);
  if (s.maximum !== undefined)
    bounds.push([
      "is just too large",
      String(s.maximum + (s.type === "integer" ? 1 : 0.001)),
      "less_than_equal",
    ]);
  switch (s.type) {
    case "integer":
      return [
        ...bounds,
        ["is text", "one", "int_parsing"],
        ["is empty", "", "int_parsing"],
        ["is 1.5", "1.5", "int_type"],
        ["is NUL", "%00", "int_parsing"],
        ["is in hexadecimal", "0x10", "int_parsing"],
        ["is SQL", "1%20or%201=1", "int_parsing"],
        ["is huge", "9".repeat(400), "int_type"],
      ];
    case "number":
      return [
        ...bounds,
        ["is text", "one", "float_parsing"],
        ["is NaN", "NaN", "float_parsing"],
        ["is Infinity", "Infinity", "float_parsing"],
        ["is 1e999", "1e999", "float_type"],
      ];
    case "boolean":
      return [["is yes", "yes", "bool_parsing"]];
    case "array":
      return s.items === undefined ? [] : parameterVariants(single(s.items)?.schema ?? {});
    default:
      if (s.format === "uuid")
        return [
          ["is a number", "1", "uuid_parsing"],
          ["is SQL", "'%20or%201=1--", "uuid_parsing"],
          ["is NUL", "%00", "uuid_parsing"],
        ];
      return [
        ["contains NUL", "a%00b", codeOfText(s)],
        ...(s.maxLength === undefined
          ? []
          : ([["is one character too long", "x".repeat(s.maxLength + 1), codeOfLength(s)]] as const)),
      ];
  }
}

/** A pattern limits the length, too. */
const codeOfLength = (s: Schema) =>
  s.format === undefined && s.pattern !== undefined ? "string_pattern_mismatch" : "string_too_long";

/** Every parameter of every operation, in path and query. */
export const parameterCases: readonly HostileCase[] = operations.flatMap((operation) =>
  operation.parameters
    .filter((parameter) => parameter.in !== "header")
    .flatMap((parameter) => {
      const { method, path, sent } = operation;
      const found = single(parameter.schema);
      if (found === undefined) return [];
      const isList = found.schema.type === "array";
      return parameterVariants(found.schema)
        .filter(([, value]) => parameter.in === "query" || value !== "")
        .map(([what, value, code]) => ({
          name: `${method} ${path}: ${parameter.in} ${parameter.name} ${what}`,
          request: {
            method,
            ...sent,
            path:
              parameter.in === "query"
                ? withQuery(operation, `${parameter.name}=${value}`)
                : withQuery(operation).replace(`{${parameter.name}}`, value),
          },
          status: 422,
          code,
          loc: [parameter.in, parameter.name, ...(isList ? [0] : [])],
        }));
    }),
);

/** Unknown ids in every place of every path. */
export const unknownIdCases: readonly HostileCase[] = operations.flatMap((operation) =>
  operation.parameters
    .filter((parameter) => parameter.in === "path" && parameter.schema.format === "uuid")
    .map(({ name }) => ({
      name: `${operation.method} ${operation.path}: unknown ${name}`,
      request: {
        method: operation.method,
        ...operation.sent,
        path: withQuery(operation).replace(`{${name}}`, nobody),
      },
      status: 404,
      code: "",
    })),
);
