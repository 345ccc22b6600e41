// What an import reads of the labels that a set has already.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { documents } from "../../src/api/body/documents.ts";
import { importLabels } from "../../src/api/exchange/import.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertDataset, insertEmbeddedAudio, insertTenant } from "../support/rows.ts";

const database = useDatabase();
const none = sql.type(z.object({}));

it("the labels of one file and start are read once, however many the import adds there", async () => {
  const tenantId = await insertTenant(database.pool);
  const datasetId = await insertDataset(database.pool, tenantId);
  const file = await insertEmbeddedAudio(database.pool, tenantId, datasetId);
  const place = { tenantId, datasetId, setId: randomUUID() };
  const present = 4_000;
  await database.pool.query(none`
    insert into annotation_sets (id, tenant_id, dataset_id, version) values (${place.setId}, ${tenantId}, ${datasetId}, 1)`);
  await database.pool.query(none`
    insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
    select gen_random_uuid(), ${tenantId}, ${datasetId}, ${place.setId}, ${file}, 'click', 5, 5 + n
    from generate_series(1, ${present}::int) n`);
  const lines = Array.from({ length: 2_000 }, (_, i) => `${file},click,5,${present - 994 + i}`);
  const document = documents.csv.parse(["audio_file_id,artifact_type,start_ms,end_ms", ...lines].join("\n"));
  const quota = { perSet: 0, perTenant: 0, sets: 0 };
  await database.apiPool.asTenant(tenantId).transaction(async (tx) => {
    // The statistics of this transaction alone.
    const read = () =>
      tx.oneFirst(sql.type(z.object({ rows: z.number() }))`
        select (seq_tup_read + idx_tup_fetch)::bigint as rows from pg_stat_xact_user_tables where relname = 'annotations'`);
    const before = await read();
    const report = await importLabels(tx, place, document, { dryRun: false, createTypes: false, quota });
    expect(report).toMatchObject({ imported: 1_000, skipped: 1_000, errors: [] });
    const rows = (await read()) - before;
    expect(rows).toBeGreaterThanOrEqual(present);
    expect(rows).toBeLessThan(1.1 * present);
  });
});
