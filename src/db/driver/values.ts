// Converts values between JavaScript and Postgres's text format, in both directions. Used by connection.ts and
// pool.ts.
import { types } from "pg";

type Parse = (text: string) => unknown;

/** Postgres timestamps may be `infinity`, which Date cannot represent. */
const toMs: Parse = (text) =>
  text === "infinity"
    ? Number.POSITIVE_INFINITY
    : text === "-infinity"
      ? Number.NEGATIVE_INFINITY
      : Date.parse(text);

// Types with a parser of our own. Postgres never changes the OIDs of its types. The schema uses no dates, intervals or
// times without time zone.
const ownTypes: readonly (readonly [oid: number, arrayOid: number, parse: Parse])[] = [
  // Every bigint in the schema stays below 2^53.
  [20, 1016, Number],
  [1700, 1231, Number],
  [1184, 1185, toMs],
];
const splitArray = types.getTypeParser(1009 as never) as (text: string) => (string | null)[];
const parsers = new Map<number, Parse>(
  ownTypes.flatMap(([oid, arrayOid, parse]) => [
    [oid, parse],
    [arrayOid, (text) => splitArray(text).map((item) => (item === null ? null : parse(item)))],
  ]),
);

/** Returns the parser for a type. */
export const parserOf = (oid: number): Parse => parsers.get(oid) ?? types.getTypeParser(oid as never);

/** Converts a parameter to Postgres's format. Arrays may hold primitive values, buffers and arrays. */
export function toParameter(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return toArray(value);
  return String(value);
}

/** Fast paths first: most long arrays hold plain text or numbers, which need no conversion per element. */
function toArray(values: readonly unknown[]): string {
  if (values.length > 0 && values.every(isPlainText)) return `{"${values.join('","')}"}`;
  if (values.every((value) => typeof value === "number")) return `{${values.join(",")}}`;
  return `{${values.map(toElement).join(",")}}`;
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return `"${isPlain(value) ? value : value.replace(/["\\]/g, "\\$&")}"`;
  if (Array.isArray(value)) return toArray(value);
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString("hex")}"`;
  return String(value);
}

/** Whether text needs no escapes, as almost always: this check costs a fraction of a replacement without a match. */
const isPlain = (text: string) => !text.includes('"') && !text.includes("\\");
const isPlainText = (value: unknown) => typeof value === "string" && isPlain(value);
