// A dataset of a tenant of its own for each test, drafts on it that are too large for a request, and the background work on
// them. Called at the top of test files: `const stage = useBackgroundWork(api)`.
import { sql } from "slonik";
import { beforeEach } from "vitest";
import { z } from "zod";
import { doBackgroundWork } from "../../src/db/operator/background-work.ts";
import { type Client, execute, type TestApi } from "./api.ts";
import { addReadyAudio, countRows, makeDataset } from "./world.ts";

/** Rows that one request does not copy or delete. */
export const large = 12_000;

export function useBackgroundWork(api: TestApi) {
  // Filled before each test: test files destructure the result at their top.
  const client = {} as Client;
  let dataset = "";
  const sets = () => `/api/v1/datasets/${dataset}/annotation-sets`;
  beforeEach(async () => {
    // What another test left is not what this one works on.
    while (await work());
    Object.assign(client, await api.tenant());
    dataset = await makeDataset(client, ["click"]);
  });

  /** Does one piece, and returns its kind. */
  const work = () => doBackgroundWork(api.operatorPool);

  /** Does all pieces, and returns how many there were. */
  async function workAll(): Promise<number> {
    let pieces = 0;
    while (await work()) pieces++;
    return pieces;
  }

  async function addLabels(set: string, labels: number): Promise<string> {
    const audio = await addReadyAudio(api.db, client.tenantId, dataset, { durationMs: 3_600_000 });
    await execute(
      api.db,
      sql.fragment`
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms)
        select gen_random_uuid(), ${client.tenantId}, ${dataset}, ${set}, ${audio}, 'click', n % 1000, n % 1000 + 50
        from generate_series(1, ${labels}::int) n`,
    );
    return audio;
  }

  /** A draft with as many labels, all of one file. */
  async function setOf(labels: number): Promise<{ id: string; audio: string }> {
    const { id } = (await client.post(sets())).body;
    return { id, audio: await addLabels(id, labels) };
  }

  const labelsOf = (set: string) =>
    api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from annotations where annotation_set_id = ${set}`);

  const rowsOf = (table: string) => countRows(api.db, table, client.tenantId);

  /** Adds audio files to the dataset, and reviewed files of the set. */
  const addFiles = (set: string, files: number) =>
    execute(
      api.db,
      sql.fragment`
        with added as (
          insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, upload_expires_at)
          select gen_random_uuid(), ${client.tenantId}, ${dataset}, n || '.wav', 'audio/wav', 10, now() + interval '1 day'
          from generate_series(1, ${files}::int) n returning id
        )
        insert into reviewed_files (tenant_id, dataset_id, annotation_set_id, audio_file_id)
        select ${client.tenantId}, ${dataset}, ${set}, id from added`,
    );

  return {
    client,
    get dataset() {
      return dataset;
    },
    /** The path of the dataset's sets. */
    get sets() {
      return sets();
    },
    work,
    workAll,
    setOf,
    labelsOf,
    rowsOf,
    addFiles,
  };
}
