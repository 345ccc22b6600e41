// Reads one page of a list as JSON text that Postgres builds, for lists that are requested often: the API does not parse
// and serialize each row (figures in docs/benchmarks.md). Called by training-job.ts.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { byCreation, type Db, type PageRequest } from "./page.ts";

const textPage = z.object({
  /** The items, separated by commas. */
  items: z.string(),
  total: z.number(),
  hasMore: z.boolean(),
  /** As in Page. */
  next: z.string().nullable(),
});
export type TextPage = z.infer<typeof textPage>;

/** Returns one page of a list and its exact total in one statement. `from` is everything after FROM, with its WHERE. */
export async function selectTextPage(
  db: Db,
  { item, columns, from: all, total: known }: TextPageQuery,
  request: PageRequest,
): Promise<TextPage> {
  const { condition, isFiltered, rest, order, limit, position } = byCreation(request);
  const size = request.page_size;
  const from = sql.fragment`${all} ${condition}`;
  const total = isFiltered || known === undefined ? sql.fragment`select count(*) from ${from}` : known;
  return await db.one(sql.type(textPage)`
    select coalesce(string_agg(${item}, ',') filter (where n <= ${size}), '') as items, (${total}) as total,
      count(*) > ${size} as "hasMore",
      case when count(*) > ${size} then max(page_position) filter (where n = ${size}) end as next
    from (
      select *, row_number() over () as n from (
        select ${columns}, ${position} as page_position from ${from} ${rest} order by ${order} ${limit}
      ) found
    ) lines`);
}

interface TextPageQuery {
  readonly item: FragmentSqlToken;
  readonly columns: FragmentSqlToken;
  readonly from: FragmentSqlToken;
  /** A query for the number of all rows in `from` that the database maintains, cheaper than counting. */
  readonly total?: FragmentSqlToken;
}
