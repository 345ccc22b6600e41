// One page of a list and its exact total in one statement. Used by the list functions of the noun files.
import { type CommonQueryMethods, type FragmentSqlToken, type QueryResultRow, sql } from "slonik";
import { z } from "zod";

export type Db = CommonQueryMethods;

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface PageRequest {
  readonly page: number;
  readonly page_size: number;
}

const anyRow = z.looseObject({ page_total: z.number() });

/**
 * Newest first: by created_at, then id, unless `order` says otherwise. `from` is everything after FROM, with its WHERE;
 * `columns` must have an `id`, which tells a row from the empty line that a page beyond the end consists of.
 */
export async function selectPage<S extends z.ZodType>(
  db: Db,
  row: S,
  query: { columns: FragmentSqlToken; from: FragmentSqlToken; order?: FragmentSqlToken },
  request: PageRequest,
): Promise<Page<z.infer<S>>> {
  const order = query.order ?? sql.fragment`created_at desc, id desc`;
  const offset = (request.page - 1) * request.page_size;
  const rows = await db.any(sql.type(anyRow)`
    with hits as (select count(*) as page_total from ${query.from}),
      lines as (
        select ${query.columns} from ${query.from} order by ${order} limit ${request.page_size} offset ${offset}
      )
    select hits.page_total, lines.* from hits left join lines on true order by ${order}`);
  const found = rows.filter((line) => (line as QueryResultRow).id !== null);
  return { items: found.map((line) => row.parse(line)), total: rows[0]?.page_total ?? 0 };
}

/** `%text%` for LIKE, with the wildcards in the text taken literally. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
