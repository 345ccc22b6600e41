// How values cross the wire between Postgres and us, both ways as text. Used by statement.ts.
import { types } from "pg";

type Parse = (text: string) => unknown;

/** `infinity` is a moment that Postgres knows and JavaScript does not. */
const toMs: Parse = (text) =>
  text === "infinity"
    ? Number.POSITIVE_INFINITY
    : text === "-infinity"
      ? Number.NEGATIVE_INFINITY
      : Date.parse(text);

// Postgres never changes the numbers of its types. Dates, intervals and times without zone are not used.
const one: readonly (readonly [oid: number, arrayOid: number, parse: Parse])[] = [
  // Every bigint of ours stays below 2^53.
  [20, 1016, Number],
  [1700, 1231, Number],
  [1184, 1185, toMs],
];
const splitArray = types.getTypeParser(1009 as never) as (text: string) => (string | null)[];
const parsers = new Map<number, Parse>(
  one.flatMap(([oid, arrayOid, parse]) => [
    [oid, parse],
    [arrayOid, (text) => splitArray(text).map((item) => (item === null ? null : parse(item)))],
  ]),
);

/** How text of this type becomes a value; undefined where it stays the text that it is. */
export function parserOf(oid: number): Parse | undefined {
  // text, varchar, uuid
  if (oid === 25 || oid === 1043 || oid === 2950) return undefined;
  return parsers.get(oid) ?? (types.getTypeParser(oid as never) as Parse);
}

/** A parameter as Postgres reads it. Arrays are of primitive values. */
export function toParameter(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return toArray(value);
  return String(value);
}

/** Long ones are nearly all of plain words or of numbers, and need no text for each element. */
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

/** Nearly all are: to look costs a fraction of a replacement that replaces nothing. */
const isPlain = (text: string) => !text.includes('"') && !text.includes("\\");
const isPlainText = (value: unknown) => typeof value === "string" && isPlain(value);
