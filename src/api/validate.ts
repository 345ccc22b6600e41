// Validates the parts of a request. The faults of a 422 have the types and messages of pydantic, so that clients made
// for FastAPI understand them. Messages never contain values from the request, which may be secrets. Called by answer.ts
// and body/read.ts.
import { z } from "zod";
import {
  addFault,
  type Faults,
  listOf,
  type ValidationItem,
  validationFailed,
  valueError,
} from "../errors.ts";
import { addAltered } from "./lossless.ts";

export type Part = "body" | "path" | "query";

interface PartInput {
  readonly part: Part;
  readonly schema: z.ZodType | undefined;
  readonly value: unknown;
  /** The JSON text, if lossless.ts must check it. */
  readonly suspectJson?: string | undefined;
}

export interface PartResult {
  /** The parsed value; {} without a schema, undefined if there are faults. */
  readonly value?: unknown;
  readonly items: readonly ValidationItem[];
}

/** Returns the values of the parts. Throws validationFailed with `others` and all faults of all parts. */
export function valuesOf(results: readonly PartResult[], others: readonly ValidationItem[] = []): unknown[] {
  const items = [...others, ...results.flatMap((result) => result.items)];
  if (items.length > 0) throw validationFailed(items);
  return results.map((result) => result.value);
}

/** Validates one part. If the schema has a transform, it gets only values without faults. */
export function validatePart({ part, schema, value, suspectJson }: PartInput): PartResult {
  if (schema === undefined) return { value: {}, items: [] };
  const [form, transform] = schema instanceof z.ZodPipe ? [schema.in as z.ZodType, schema.out] : [schema];
  // Only one fault of a union is reported, but a document of 8 MiB can have a million. abortEarly stops at the first.
  const parsed = form.safeParse(value, { abortEarly: form.def.type === "union" } as object);
  const faults: Faults = { items: [], total: 0 };
  if (suspectJson !== undefined) addAltered(faults, form, suspectJson, [part]);
  if (!parsed.success)
    for (const issue of parsed.error.issues) addFault(faults, () => toItem(part, form, issue, value));
  // Checks only the parsed data: unknown members are ignored, whatever they contain.
  else if (!isReadable(parsed.data)) addUnreadable(faults, parsed.data, [part]);
  if (faults.total > 0) return { items: listOf(faults, part) };
  if (transform === undefined) return { value: parsed.data, items: [] };
  const made = (transform as z.ZodType).safeParse(parsed.data);
  return made.success
    ? { value: made.data, items: [] }
    : { items: made.error.issues.map((issue) => toItem(part, schema, issue, value)) };
}

/** Returns the faults of one value as a sentence. A member with many faults of one kind is named once. */
export function sentenceOf(items: readonly ValidationItem[]): string {
  const faults = items.map(
    ({ loc, msg }) => `${loc.find((step) => step !== "body")}: ${msg.replace(/^Value error, /, "")}`,
  );
  return [...new Set(faults)].join("; ");
}

/** Converts the texts of a query string to the numbers, booleans and lists that the schema expects. */
export function fromQuery(schema: z.ZodType, query: URLSearchParams): Record<string, unknown> {
  const shape = (schema as z.ZodObject).shape as Record<string, z.ZodType>;
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(shape)) {
    const texts = query.getAll(name);
    const last = texts.at(-1);
    if (last === undefined) continue;
    const type = unwrapped(member).def.type;
    if (type === "array") value[name] = texts;
    else if (type === "number") value[name] = numberForm(member).test(last) ? Number(last) : last;
    else if (type === "boolean") value[name] = last === "true" ? true : last === "false" ? false : last;
    else value[name] = last;
  }
  return value;
}

const numberForm = (schema: z.ZodType) =>
  isInt(unwrapped(schema)) ? /^-?\d+(\.\d+)?$/ : /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Returns the schema inside optional, default and nullable. */
function unwrapped(schema: z.ZodType): z.ZodType {
  const def = schema.def as { type: string; innerType?: z.ZodType };
  return def.innerType !== undefined && ["optional", "default", "nullable"].includes(def.type)
    ? unwrapped(def.innerType)
    : schema;
}

/** Postgres can store neither NUL nor unpaired surrogates. */
const isReadableText = (text: string) => !text.includes("\0") && text.isWellFormed();

/** A check without allocations, because bodies have thousands of values, and nearly all of them are valid. */
function isReadable(value: unknown): boolean {
  if (typeof value === "string") return isReadableText(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isReadable);
  for (const name in value)
    if (!isReadableText(name) || !isReadable((value as Record<string, unknown>)[name])) return false;
  return true;
}

function addUnreadable(faults: Faults, value: unknown, loc: (string | number)[]): void {
  const unreadable = () => valueError(loc, "text must not contain NUL characters or unpaired surrogates");
  if (typeof value === "string" && !isReadableText(value)) addFault(faults, unreadable);
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value))
    if (!isReadableText(name)) addFault(faults, unreadable);
    else addUnreadable(faults, member, [...loc, Array.isArray(value) ? Number(name) : name]);
}

const typeNames: Record<string, [type: string, msg: string]> = {
  string: ["string_type", "Input should be a valid string"],
  number: ["float_type", "Input should be a valid number"],
  int: ["int_type", "Input should be a valid integer"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  object: ["dict_type", "Input should be a valid dictionary"],
  record: ["dict_type", "Input should be a valid dictionary"],
};

const parsingNames: Record<string, [type: string, msg: string]> = {
  number: ["float_parsing", "Input should be a valid number, unable to parse string as a number"],
  int: ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"],
  boolean: ["bool_parsing", "Input should be a valid boolean, unable to interpret input"],
};

const formatNames: Record<string, [type: string, msg: string]> = {
  guid: ["uuid_parsing", "Input should be a valid UUID"],
  uuid: ["uuid_parsing", "Input should be a valid UUID"],
  datetime: ["datetime_parsing", "Input should be a valid datetime with an offset"],
};

function toItem(part: Part, schema: z.ZodType, issue: z.core.$ZodIssue, input: unknown): ValidationItem {
  const loc = [part, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))];
  // For a value that is not a number, zod reports "expected number" even if the schema wants an integer.
  const expectsInt = issue.code === "invalid_type" && isInt(schemaAt(schema, issue.path));
  const [type, msg] = nameOf(
    part,
    expectsInt ? { ...issue, expected: "int" } : issue,
    valueAt(input, issue.path),
  );
  return { loc, msg, type };
}

function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  const def = unwrapped(schema).def as { shape?: Record<string, z.ZodType>; element?: z.ZodType };
  const [step, ...rest] = path;
  if (step === undefined) return unwrapped(schema);
  const member = typeof step === "number" ? def.element : def.shape?.[String(step)];
  return member === undefined ? undefined : schemaAt(member, rest);
}

const isInt = (schema: z.ZodType | undefined) =>
  (schema?.def as { format?: string } | undefined)?.format === "safeint";

function nameOf(part: Part, issue: z.core.$ZodIssue, value: unknown): [type: string, msg: string] {
  switch (issue.code) {
    case "invalid_type": {
      if (value === undefined) return ["missing", "Field required"];
      const names = part === "query" && typeof value === "string" ? parsingNames : typeNames;
      return names[issue.expected] ?? ["value_error", "Input should be valid"];
    }
    case "too_small":
    case "too_big":
      return outOfRange(issue, value);
    case "invalid_format":
      return formatNames[issue.format] ?? pattern(issue.pattern);
    case "invalid_value":
      if (value === undefined) return ["missing", "Field required"];
      return ["enum", `Input should be ${oneOf(issue.values)}`];
    case "invalid_key":
      return issue.issues[0] === undefined
        ? ["value_error", "Keys should be valid"]
        : nameOf(part, issue.issues[0], "");
    case "custom":
      return ["value_error", `Value error, ${issue.message}`];
    default:
      return ["value_error", "Input should be valid"];
  }
}

function outOfRange(
  { code, origin, inclusive, ...bounds }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  value: unknown,
): [string, string] {
  const bound = "minimum" in bounds ? bounds.minimum : bounds.maximum;
  const [most, short, less] =
    code === "too_small" ? (["least", "short", "greater"] as const) : (["most", "long", "less"] as const);
  if (origin === "string")
    return [`string_too_${short}`, `String should have at ${most} ${plural(bound, "character")}`];
  if (origin === "array") {
    const items = `${plural(bound, "item")} after validation, not ${lengthOf(value)}`;
    return [`too_${short}`, `List should have at ${most} ${items}`];
  }
  return inclusive === false
    ? [`${less}_than`, `Input should be ${less} than ${bound}`]
    : [`${less}_than_equal`, `Input should be ${less} than or equal to ${bound}`];
}

const plural = (count: number | bigint, noun: string) => `${count} ${noun}${Number(count) === 1 ? "" : "s"}`;
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);
const pattern = (text: string | undefined): [string, string] => [
  "string_pattern_mismatch",
  `String should match pattern '${(text ?? "").replace(/^\/|\/[a-z]*$/g, "")}'`,
];

function oneOf(values: readonly z.core.util.Primitive[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  return quoted.length < 2
    ? quoted.join("")
    : `${quoted.slice(0, -1).join(", ")} or ${quoted[quoted.length - 1]}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}
