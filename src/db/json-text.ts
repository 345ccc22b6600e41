// Lets Postgres build the JSON text of a response's items, for lists that are long or requested often. The API sends
// the text unchanged: it does not parse and serialize each row (figures in docs/benchmarks.md). The members must equal
// those of the resource's view function; a test compares them. Called by annotation-text.ts and training-job.ts.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { byCreation, type Db, type PageRequest } from "./page.ts";

export interface Member {
  readonly value: FragmentSqlToken;
  /** Whether to put quotes around the value; only for values in which no character needs an escape. */
  readonly isQuoted: boolean;
}

/** A UUID or an enum value: letters, digits, hyphens, underscores. Must not be null. */
export const quoted = (column: FragmentSqlToken): Member => ({ value: column, isQuoted: true });

/** A number or jsonb, without quotes. Must not be null. */
export const unquoted = (column: FragmentSqlToken): Member => ({ value: column, isQuoted: false });

/** Any text or null. */
export const text = (column: FragmentSqlToken): Member =>
  unquoted(sql.fragment`coalesce(to_json(${column}), 'null')`);

/** jsonb or null. */
export const json = (column: FragmentSqlToken): Member => unquoted(sql.fragment`coalesce(${column}, 'null')`);

/** The format includes the quotes: concatenating them would cost as much as formatting the digits. */
const isoFormat = sql.literalValue(String.raw`\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\"`);

/** timestamptz or null: RFC 3339 in UTC, truncated to milliseconds as JavaScript does. */
export const time = (column: FragmentSqlToken): Member =>
  unquoted(sql.fragment`coalesce(to_char(${column} at time zone 'UTC', ${isoFormat}), 'null')`);

/** Returns an SQL expression for a JSON object with these members in this order, as text. */
export function jsonObject(members: Readonly<Record<string, Member>>): FragmentSqlToken {
  const parts: FragmentSqlToken[] = [];
  let literal = "{";
  for (const [name, { value, isQuoted }] of Object.entries(members)) {
    const quote = isQuoted ? '"' : "";
    parts.push(sql.literalValue(`${literal}"${name}":${quote}`), value);
    literal = `${quote},`;
  }
  parts.push(sql.literalValue(`${literal.slice(0, -1)}}`));
  // One call of concat: each `||` would copy the text so far.
  return sql.fragment`concat(${sql.join(parts, sql.fragment`, `)})`;
}

export interface TextPage {
  /** The items, separated by commas. */
  readonly items: string;
  readonly total: number;
}

const textPage = z.object({ items: z.string(), total: z.number() });

/** Returns one page of a list and its exact total in one statement. `from` is everything after FROM, with its WHERE. */
export async function selectTextPage(
  db: Db,
  { item, columns, from: all, total: known }: TextPageQuery,
  request: PageRequest,
): Promise<TextPage> {
  const { condition, isFiltered, order } = byCreation(request);
  const from = sql.fragment`${all} ${condition}`;
  const total = isFiltered || known === undefined ? sql.fragment`select count(*) from ${from}` : known;
  const offset = (request.page - 1) * request.page_size;
  return await db.one(sql.type(textPage)`
    select coalesce(string_agg(${item}, ','), '') as items, (${total}) as total
    from (
      select ${columns} from ${from} order by ${order} limit ${request.page_size} offset ${offset}
    ) lines`);
}

interface TextPageQuery {
  readonly item: FragmentSqlToken;
  readonly columns: FragmentSqlToken;
  readonly from: FragmentSqlToken;
  /** A query for the number of all rows in `from` that the database maintains, cheaper than counting. */
  readonly total?: FragmentSqlToken;
}
