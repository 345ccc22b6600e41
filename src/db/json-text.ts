// Reads one page of a list as JSON text that Postgres builds, for lists that are requested often: the API does not parse
// and serialize each row (figures in docs/benchmarks.md). Called by training-job.ts.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { byCreation, type Db, type PageRequest } from "./page.ts";

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
