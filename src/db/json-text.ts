// JSON made by Postgres: the text of an answer's items, for lists that are long or asked for often. It goes out as it
// comes: nothing here takes a row apart and writes it down again (docs/benchmarks.md has the figures). The members are
// those of the noun's view function, which a test compares.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db, PageRequest } from "./page.ts";

export interface Member {
  readonly value: FragmentSqlToken;
  /** Between quotes: for values in which no character needs an escape. */
  readonly isQuoted: boolean;
}

/** A UUID, or a word of ours: letters, digits, hyphens, underscores. Never null. */
export const word = (column: FragmentSqlToken): Member => ({ value: column, isQuoted: true });

/** Numbers and jsonb. Never null. */
export const bare = (column: FragmentSqlToken): Member => ({ value: column, isQuoted: false });

/** Any text, or null. */
export const text = (column: FragmentSqlToken): Member =>
  bare(sql.fragment`coalesce(to_json(${column}), 'null')`);

/** jsonb, or null. */
export const json = (column: FragmentSqlToken): Member => bare(sql.fragment`coalesce(${column}, 'null')`);

/** The quotes around it are part of the form: to put them there would cost as much as the digits. */
const isoForm = sql.literalValue(String.raw`\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\"`);

/** timestamptz, or null: RFC 3339 in UTC with milliseconds, cut as JavaScript's clock cuts them. */
export const time = (column: FragmentSqlToken): Member =>
  bare(sql.fragment`coalesce(to_char(${column} at time zone 'UTC', ${isoForm}), 'null')`);

/** An expression for the JSON object with these members in their order, as text. */
export function jsonObject(members: Readonly<Record<string, Member>>): FragmentSqlToken {
  const parts: FragmentSqlToken[] = [];
  let literal = "{";
  for (const [name, { value, isQuoted }] of Object.entries(members)) {
    const quote = isQuoted ? '"' : "";
    parts.push(sql.literalValue(`${literal}"${name}":${quote}`), value);
    literal = `${quote},`;
  }
  parts.push(sql.literalValue(`${literal.slice(0, -1)}}`));
  // One call: every `||` would copy what is there so far.
  return sql.fragment`concat(${sql.join(parts, sql.fragment`, `)})`;
}

export interface TextPage {
  /** The items, separated by commas. */
  readonly items: string;
  readonly total: number;
}

const textPage = z.object({ items: z.string(), total: z.number() });

/** One page of a list and its exact total in one statement, newest first. `from` is everything after FROM. */
export async function selectTextPage(
  db: Db,
  { item, columns, from, total = sql.fragment`select count(*) from ${from}` }: TextPageQuery,
  request: PageRequest,
): Promise<TextPage> {
  const offset = (request.page - 1) * request.page_size;
  return await db.one(sql.type(textPage)`
    select coalesce(string_agg(${item}, ','), '') as items, (${total}) as total
    from (
      select ${columns} from ${from} order by created_at desc, id desc limit ${request.page_size} offset ${offset}
    ) lines`);
}

interface TextPageQuery {
  readonly item: FragmentSqlToken;
  readonly columns: FragmentSqlToken;
  readonly from: FragmentSqlToken;
  /** Where the database keeps the total, a query that is cheaper than counting. */
  readonly total?: FragmentSqlToken;
}
