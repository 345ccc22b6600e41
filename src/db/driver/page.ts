// Reads one page of a list and its exact total in one statement. Used by the list functions of src/db.
import { type FragmentSqlToken, type QueryResultRow, sql } from "slonik";
import { z } from "zod";
import { inSlices } from "../../slices.ts";
import type { Db } from "./queries.ts";

export type { Db };

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly hasMore: boolean;
  /** Where the next page begins; null after the last one, and in lists without cursors. */
  readonly next: string | null;
}

export interface PageRequest {
  readonly page: number;
  readonly page_size: number;
  /** For lists that are ordered by creation: RFC 3339, from `created_after` to before `created_before`. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** `next` of the page before, instead of the number of the page. */
  readonly cursor?: string | undefined;
}

/**
 * Returns what a list by creation needs in SQL: the condition of the period and the one for the rows after the cursor, which
 * begin with `and` or are empty, the order, the number of rows to read (one more than the page has), and a row's position.
 */
export function byCreation({ created_after, created_before, order, cursor, ...request }: PageRequest) {
  // In seconds: Postgres does not parse the year 0000, which RFC 3339 allows.
  const seconds = (time: string) => sql.fragment`to_timestamp(${Date.parse(time) / 1_000}::double precision)`;
  const after =
    created_after === undefined ? sql.fragment`` : sql.fragment`and created_at >= ${seconds(created_after)}`;
  const before =
    created_before === undefined ? sql.fragment`` : sql.fragment`and created_at < ${seconds(created_before)}`;
  const [micros = "", id = ""] = cursor?.split(".") ?? [];
  const last = sql.fragment`('epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond', ${id}::uuid)`;
  const isBeyond = order === "asc" ? sql.fragment`>` : sql.fragment`<`;
  const offset = cursor === undefined ? (request.page - 1) * request.page_size : 0;
  return {
    condition: sql.fragment`${after} ${before}`,
    isFiltered: created_after !== undefined || created_before !== undefined,
    rest: cursor === undefined ? sql.fragment`` : sql.fragment`and (created_at, id) ${isBeyond} ${last}`,
    order: order === "asc" ? sql.fragment`created_at, id` : sql.fragment`created_at desc, id desc`,
    limit: sql.fragment`limit ${request.page_size + 1} offset ${offset}`,
    // In microseconds, as Postgres stores it: several rows may have the same millisecond.
    position:
      order === undefined
        ? sql.fragment`null::text`
        : sql.fragment`(extract(epoch from created_at) * 1000000)::bigint || '.' || id`,
  };
}

/** What a list by the query parameters `Q` takes: for callers that need only some of them, the others are optional. */
export type ListRequest<Q extends z.ZodType> = PageRequest & Omit<z.infer<Q>, keyof PageRequest>;

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

/**
 * Returns the condition that a row has this id, or one of these, and belongs to `place`. `is true` leaves Postgres only the ids to
 * find the rows by. With many tenants it expects a row of any dataset or set, and would rather read all rows of this one.
 */
export const withId = (ids: string | readonly string[], place: Filter): FragmentSqlToken =>
  sql.fragment`id = ${typeof ids === "string" ? ids : sql.fragment`any(${sql.array([...ids], "uuid")})`}
    and (${fits(place)}) is true`;

/**
 * Until the transaction ends, plans read tables by an index wherever there is one. A connection keeps the plan of a statement, and in a
 * table that was empty when the plan was made, a look-up for each of many values would read the whole table each time.
 */
export async function useIndexes(tx: Db): Promise<void> {
  await tx.query(sql.fragment`select set_config('enable_seqscan', 'off', true)`);
}

const counted = z.object({ count: z.number() });

/** Counts the rows of `from`: a table with its WHERE. */
export const countRows = (db: Pick<Db, "oneFirst">, from: FragmentSqlToken) =>
  db.oneFirst(sql.type(counted)`select count(*) as count from ${from}`);

/** Returns the condition that the text of a column contains `part`, whatever its case. */
export const contains = (column: FragmentSqlToken, part: string | undefined) =>
  part === undefined ? undefined : sql.fragment`${column} ilike ${`%${part.replace(/[\\%_]/g, "\\$&")}%`}`;

/** Returns the rows in the order of `ids`; throws `missing()` when one of them is absent. */
export function inOrder<T extends { readonly id: string }>(
  rows: readonly T[],
  ids: readonly string[],
  missing: () => Error,
): readonly T[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const found = byId.get(id.toLowerCase());
    if (found === undefined) throw missing();
    return found;
  });
}

/**
 * Yields all rows of a list in batches; `read` returns at most `size` rows after the given one. Each batch is one short
 * statement: memory use is constant, and a slow reader holds no connection or transaction.
 */
export async function* inBatches<T>(
  size: number,
  read: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let last: T | undefined; ; ) {
    const batch = await read(last);
    if (batch.length > 0) yield batch;
    if (batch.length < size) return;
    last = batch.at(-1);
  }
}

const anyRow = z.looseObject({ page_total: z.number(), page_position: z.string().nullable() });

export interface PageQuery {
  readonly columns: FragmentSqlToken;
  /** Everything after FROM, with its WHERE. */
  readonly from: FragmentSqlToken;
  /** Default: as the request says, by created_at, then id. */
  readonly order?: FragmentSqlToken;
  /** With `order`, for cursors: a row's position as text, and the condition for the rows after the request's cursor. */
  readonly position?: FragmentSqlToken;
  readonly after?: FragmentSqlToken | undefined;
  /**
   * A query for the number of all rows in `from` that the database maintains, cheaper than counting. Without a row, because what the
   * list belongs to has just been deleted, the number is 0.
   */
  readonly total?: FragmentSqlToken | undefined;
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
  { columns, from: all, total: known, extra, ...given }: PageQuery,
  request: PageRequest,
): Promise<Page<z.infer<S>>> {
  const creation = byCreation(request);
  const { condition, isFiltered, limit } = creation;
  const { order, position, rest } =
    given.order === undefined
      ? creation
      : {
          order: given.order,
          position: given.position ?? sql.fragment`null::text`,
          rest: given.after === undefined ? sql.fragment`` : sql.fragment`and ${given.after}`,
        };
  const from = sql.fragment`${all} ${condition}`;
  const total = isFiltered || known === undefined ? sql.fragment`select count(*) from ${from}` : known;
  const rows = await db.any(sql.type(anyRow)`
    with hits as (select coalesce((${total}), 0) as page_total),
      lines as (
        select ${columns}, ${position} as page_position from ${from} ${rest} order by ${order} ${limit})
    select hits.page_total, lines.* ${extra === undefined ? sql.fragment`` : sql.fragment`, ${extra.columns}`}
    from hits left join lines on true ${extra?.join ?? sql.fragment``}
    order by ${order}`);
  const found = rows.filter((line) => (line as QueryResultRow).id !== null);
  const lines = found.slice(0, request.page_size);
  const hasMore = found.length > lines.length;
  const next = lines.at(-1)?.page_position ?? null;
  return {
    items: await inSlices(lines, (line) => row.parse(line)),
    total: rows[0]?.page_total ?? 0,
    hasMore,
    next: hasMore ? next : null,
  };
}

const textPage = z.object({
  /** The items, separated by commas. */
  items: z.string(),
  total: z.number(),
  hasMore: z.boolean(),
  /** As in Page. */
  next: z.string().nullable(),
});
export type TextPage = z.infer<typeof textPage>;

/**
 * As selectPage, but the items are JSON text that Postgres builds, for lists that are requested often: the API does not
 * parse and serialize each row (figures in docs/benchmarks.md).
 */
export async function selectTextPage(
  db: Db,
  item: FragmentSqlToken,
  { columns, from: all, total: known }: Pick<PageQuery, "columns" | "from" | "total">,
  request: PageRequest,
): Promise<TextPage> {
  const { condition, isFiltered, rest, order, limit, position } = byCreation(request);
  const size = request.page_size;
  const from = sql.fragment`${all} ${condition}`;
  const total = isFiltered || known === undefined ? sql.fragment`select count(*) from ${from}` : known;
  return await db.one(sql.type(textPage)`
    select coalesce(string_agg(${item}, ',') filter (where n <= ${size}), '') as items, coalesce((${total}), 0) as total,
      count(*) > ${size} as "hasMore",
      case when count(*) > ${size} then max(page_position) filter (where n = ${size}) end as next
    from (
      select *, row_number() over () as n from (
        select ${columns}, ${position} as page_position from ${from} ${rest} order by ${order} ${limit}
      ) found
    ) lines`);
}
