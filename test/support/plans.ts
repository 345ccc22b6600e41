// The plans that Postgres makes for queries, and what is wrong with them. Used by test/db/plans.test.ts.
import { type QuerySqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db } from "../../src/db/driver/page.ts";

export interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Parent Relationship"?: string;
  readonly Plans?: readonly Plan[];
}

/** Records the plan of each query before it runs: the one without regard to parameters, which the API uses. */
export function recording(db: Db, plans: Plan[]): Db {
  const explain = async (query: QuerySqlToken) => {
    const text = query.sql.replaceAll("$slonik_", "$");
    const nulls = query.values.map(() => "null").join(", ");
    const raw = (statement: string) => ({ ...sql.unsafe``, sql: statement, values: [] }) as never;
    await db.transaction(async (tx) => {
      // Some tables have few rows here. What has an index uses it now.
      await tx.query(raw("set local enable_seqscan = off"));
      await tx.query(raw("set local plan_cache_mode = force_generic_plan"));
      await tx.query(raw(`prepare recorded as ${text}`));
      const row = await tx.one(
        raw(`explain (format json) execute recorded${nulls === "" ? "" : `(${nulls})`}`),
      );
      await tx.query(raw("deallocate recorded"));
      for (const { Plan: plan } of z
        .array(z.object({ Plan: z.custom<Plan>() }))
        .parse(Object.values(row as object)[0]))
        plans.push(plan);
    });
  };
  return new Proxy(db, {
    get: (target, name: keyof Db) =>
      name === "transaction" || name === "asTenant"
        ? target[name]
        : name === "expecting"
          ? () => recording(target, plans)
          : async (query: QuerySqlToken) => {
              await explain(query);
              return await (target[name] as (query: QuerySqlToken) => Promise<unknown>)(query);
            },
  });
}

/** Returns the tables that the plan reads without an index, or sorts before a limit. */
export function faultsOf(plan: Plan, isSorted = false): string[] {
  const type = plan["Node Type"];
  const table = plan["Relation Name"];
  const sorted = type === "Sort" || (isSorted && !returnsFewRows(plan));
  const faults = (plan.Plans ?? []).flatMap((child) => {
    // The inner side of a nested loop is looked up for each row of the outer side.
    const isLookUp = type === "Nested Loop" && child["Parent Relationship"] === "Inner";
    return faultsOf(child, sorted && !isLookUp);
  });
  if (type.includes("Index") && plan["Index Cond"] === undefined)
    return [...faults, `reads all of ${table ?? plan["Index Name"]}`];
  if (table === undefined) return faults;
  if (type === "Seq Scan") faults.push(`reads all of ${table}`);
  else if (sorted) faults.push(`sorts ${table}`);
  return faults;
}

/** A limit, a count, or a sub-query. */
const returnsFewRows = (plan: Plan) =>
  ["Limit", "Aggregate"].includes(plan["Node Type"]) ||
  ["InitPlan", "SubPlan"].includes(plan["Parent Relationship"] ?? "");

export const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
