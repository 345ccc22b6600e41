// Derives from the schema of a resource in REST the schema of its row, its columns and the JSON that Postgres builds, so
// that each field of a noun is written once (src/schemas). Used by the files of the nouns.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";

/** Times are strings in REST, and milliseconds since 1970 in a row. */
type Stored<T> = T extends z.ZodISODateTime
  ? z.ZodNumber
  : T extends z.ZodNullable<z.ZodISODateTime>
    ? z.ZodNullable<z.ZodNumber>
    : T;
type RowShape<S, O> = { [K in Exclude<keyof S, keyof O>]: Stored<S[K]> } & O;

/** Any JSON object, for columns whose content the row schema does not check again. */
export const anyObject = z.record(z.string(), z.unknown());

/**
 * Returns the schema of the resource's row. `own`: columns that the resource does not have, or that differ from its
 * members.
 */
export function rowOf<S extends z.ZodRawShape, O extends z.ZodRawShape = Record<never, never>>(
  resource: z.ZodObject<S>,
  own?: O,
) {
  const fields = Object.entries(resource.shape).map(([name, field]) => [name, stored(field as z.ZodType)]);
  return z.object({ ...Object.fromEntries(fields), ...own }) as unknown as z.ZodObject<RowShape<S, O>>;
}

/** The type of a column. Limits of length and patterns were checked before the value was stored. */
function stored(field: z.ZodType): z.ZodType {
  const { type, innerType, element, format } = definitionOf(field);
  if (type === "nullable") return stored(innerType as z.ZodType).nullable();
  if (type === "array") return z.array(stored(element as z.ZodType));
  if (type === "number" || format === "datetime") return z.number();
  return type === "string" ? z.string() : field;
}

const definitionOf = (field: z.ZodType) =>
  field.def as { type: string; innerType?: z.ZodType; element?: z.ZodType; format?: string };

/** Returns the columns of a row for SELECT and RETURNING. `computed`: expressions for columns that are not stored. */
export function columnsOf(
  row: z.ZodObject,
  computed: Readonly<Record<string, FragmentSqlToken>> = {},
): FragmentSqlToken {
  const columns = Object.keys(row.shape).map((name) => {
    const column = sql.identifier([name]);
    return computed[name] === undefined
      ? sql.fragment`${column}`
      : sql.fragment`${computed[name]} as ${column}`;
  });
  return sql.fragment`${sql.join(columns, sql.fragment`, `)}`;
}

/**
 * Returns an SQL expression for the JSON text of the resource. It equals the JSON of the resource's view function
 * (src/api/view.ts).
 */
export function jsonTextOf(resource: z.ZodObject): FragmentSqlToken {
  const parts: FragmentSqlToken[] = [];
  let literal = "{";
  for (const [name, field] of Object.entries(resource.shape)) {
    const { value, quote } = memberOf(sql.fragment`${sql.identifier([name])}`, field as z.ZodType);
    parts.push(sql.fragment`${sql.literalValue(`${literal}"${name}":${quote}`)}`, value);
    literal = `${quote},`;
  }
  parts.push(sql.fragment`${sql.literalValue(`${literal.slice(0, -1)}}`)}`);
  // One call of concat: each `||` would copy the text so far.
  return sql.fragment`concat(${sql.join(parts, sql.fragment`, `)})`;
}

/** The format includes the quotes: concatenating them would cost as much as formatting the digits. */
const isoFormat = sql.literalValue(String.raw`\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\"`);

function memberOf(column: FragmentSqlToken, field: z.ZodType): { value: FragmentSqlToken; quote: "" | '"' } {
  const { type, format, innerType } = definitionOf(field);
  if (innerType !== undefined) {
    const { value, quote } = memberOf(column, innerType);
    const isJson = quote === "" && definitionOf(innerType).type !== "number";
    return { value: sql.fragment`coalesce(${isJson ? value : toJson(column)}, 'null')`, quote: "" };
  }
  // RFC 3339 in UTC, truncated to milliseconds as JavaScript does.
  if (format === "datetime")
    return { value: sql.fragment`to_char(${column} at time zone 'UTC', ${isoFormat})`, quote: "" };
  // No character of a UUID or of an enum value needs an escape.
  if (type === "enum" || format === "guid") return { value: column, quote: '"' };
  return { value: type === "string" ? toJson(column) : column, quote: "" };
}

const toJson = (column: FragmentSqlToken) => sql.fragment`to_json(${column})`;
