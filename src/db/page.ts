// Reads one page of a list and its exact total in one statement. Used by the list functions of src/db.
import { type FragmentSqlToken, type QueryResultRow, sql } from "slonik";
import { z } from "zod";
import type { Db } from "./queries.ts";

export type { Db };

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface PageRequest {
  readonly page: number;
  readonly page_size: number;
  /** For lists that are ordered by creation: RFC 3339, from `created_after` to before `created_before`. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

/** Returns the condition of the request, which begins with `and` or is empty, and its order. */
export function byCreation({ created_after, created_before, order }: PageRequest) {
  // In seconds: Postgres does not parse the year 0000, which RFC 3339 allows.
  const seconds = (time: string) => sql.fragment`to_timestamp(${Date.parse(time) / 1_000}::double precision)`;
  const after =
    created_after === undefined ? sql.fragment`` : sql.fragment`and created_at >= ${seconds(created_after)}`;
  const before =
    created_before === undefined ? sql.fragment`` : sql.fragment`and created_at < ${seconds(created_before)}`;
  return {
    condition: sql.fragment`${after} ${before}`,
    isFiltered: created_after !== undefined || created_before !== undefined,
    order: order === "asc" ? sql.fragment`created_at, id` : sql.fragment`created_at desc, id desc`,
  };
}

/** Columns and their values: one, or a list of texts of which the column has one. Undefined: any value. */
type Filter = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Returns the condition that a row fits the filter and all further conditions that are given. */
export function fits(filter: Filter, ...more: readonly (FragmentSqlToken | undefined)[]): FragmentSqlToken {
  const conditions = Object.entries(filter).map(([name, value]) => {
    const column = sql.identifier([name]);
    if (value === undefined) return undefined;
    return typeof value === "object"
      ? sql.fragment`${column} = any(${sql.array([...value], "text")})`
      : sql.fragment`${column} = ${value}`;
  });
  const given = [...conditions, ...more].filter((condition) => condition !== undefined);
  return sql.fragment`${sql.join(given, sql.fragment` and `)}`;
}

/** Returns the condition that the text of a column contains `part`, whatever its case. */
export const contains = (column: FragmentSqlToken, part: string | undefined) =>
  part === undefined ? undefined : sql.fragment`${column} ilike ${`%${part.replace(/[\\%_]/g, "\\$&")}%`}`;

const anyRow = z.looseObject({ page_total: z.number() });

export interface PageQuery {
  readonly columns: FragmentSqlToken;
  /** Everything after FROM, with its WHERE. */
  readonly from: FragmentSqlToken;
  /** Default: as the request says, by created_at, then id. */
  readonly order?: FragmentSqlToken;
  /** Expensive columns, as a join to `lines`, so that they are computed only for the rows of the page. */
  readonly extra?: { readonly columns: FragmentSqlToken; readonly join: FragmentSqlToken };
}

/**
 * Returns one page and the total. `columns` must contain `id`: it is null in the single row that a page beyond the end
 * yields.
 */
export async function selectPage<S extends z.ZodType>(
  db: Db,
  row: S,
  { columns, from: all, order: given, extra }: PageQuery,
  request: PageRequest,
): Promise<Page<z.infer<S>>> {
  const creation = byCreation(request);
  const order = given ?? creation.order;
  const from = sql.fragment`${all} ${creation.condition}`;
  const offset = (request.page - 1) * request.page_size;
  const rows = await db.any(sql.type(anyRow)`
    with hits as (select count(*) as page_total from ${from}),
      lines as (select ${columns} from ${from} order by ${order} limit ${request.page_size} offset ${offset})
    select hits.page_total, lines.* ${extra === undefined ? sql.fragment`` : sql.fragment`, ${extra.columns}`}
    from hits left join lines on true ${extra?.join ?? sql.fragment``}
    order by ${order}`);
  const found = rows.filter((line) => (line as QueryResultRow).id !== null);
  return { items: found.map((line) => row.parse(line)), total: rows[0]?.page_total ?? 0 };
}
