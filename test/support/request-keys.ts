// A tenant with one of every resource, whose rows are counted, for tests of the Idempotency-Key. Called at the top of test
// files: `const { client, world } = useRequestKeys(api)`.
import { sql } from "slonik";
import { beforeAll } from "vitest";
import { z } from "zod";
import type { Client, TestApi } from "./api.ts";
import { makeWorld, type World } from "./world.ts";

export const withKey = (key: string) => ({ "Idempotency-Key": key });

export function useRequestKeys(api: TestApi) {
  // Filled before the first test: test files destructure the result at their top.
  const client = {} as Client;
  const world = {} as World;
  let publishedSetId = "";
  beforeAll(async () => {
    Object.assign(client, await api.tenant());
    Object.assign(world, await makeWorld(client, api.db));
    const sets = `/api/v1/datasets/${world.datasetId}/annotation-sets`;
    const from = { from_annotation_set_id: world.annotationSetId };
    publishedSetId = (await client.post(sets, from)).body.id;
    await client.post(`${sets}/${publishedSetId}/publish`);
  });

  /** Counts the tenant's rows in all tables except the table of the keys themselves. */
  async function countRows(): Promise<number> {
    const tables = await api.db.anyFirst(sql.type(z.object({ table_name: z.string() }))`
      select table_name from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id'
        and table_name not in ('idempotency_keys', 'rate_limits')`);
    const counts = tables.map(
      (table) =>
        sql.fragment`(select count(*) from ${sql.identifier([table])} where tenant_id = ${client.tenantId})`,
    );
    return await api.db.oneFirst(sql.type(z.object({ sum: z.number() }))`
      select ${sql.join(counts, sql.fragment` + `)} as sum`);
  }

  return {
    client,
    world,
    countRows,
    /** The body of a training on the published set. */
    trainingJob: () => ({
      dataset_id: world.datasetId,
      annotation_set_id: publishedSetId,
      config: { artifact_types: ["click"] },
    }),
  };
}
