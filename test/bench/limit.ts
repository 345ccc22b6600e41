// The database alone: pgbench sends the statements of each endpoint as fast as it can, over as many connections. This
// is the upper bound for every server in front of this database. Called by main.ts.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { World } from "./world.ts";

const run = promisify(execFile);

export interface Limit {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * The minimal statements that both servers need: no row-level security, no rate limits, no extra round trips of a
 * transaction.
 */
export function statements(world: World, drafts: readonly string[], bulk: string) {
  const { tenantId, datasetId, setId } = world;
  const lines = (JSON.parse(bulk) as { annotations: Record<string, unknown>[] }).annotations;
  const key = `\\\\x${world.keyHash}`;
  const auth = `select k.id, k.tenant_id, t.suspended_at from api_keys k join tenants t on t.id = k.tenant_id
    where k.key_hash = '${key}' and k.revoked_at is null;`;
  const column = (name: string, otherwise: unknown, type: string) =>
    `${quoted(`{${lines.map((line) => element(line[name] ?? otherwise)).join(",")}}`)}::${type}[]`;
  return {
    list: [
      `${auth}
      select id, tenant_id, dataset_id, annotation_set_id, config, status, status_message, progress_percent, metrics,
        error_message, platform_job_name, created_at, queued_at, started_at, completed_at
      from training_jobs where tenant_id = '${tenantId}' order by created_at desc, id desc limit 20;
      select count(*) from training_jobs where tenant_id = '${tenantId}';`,
    ],
    set: [
      `${auth}
      select id, version, status, total_annotations, total_positive_duration_ms, annotations_by_type, created_at, published_at
      from annotation_sets where tenant_id = '${tenantId}' and id = '${setId}';
      select id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data, created_at
      from annotations where tenant_id = '${tenantId}' and annotation_set_id = '${setId}'
      order by audio_file_id, start_ms, id;`,
    ],
    bulk: drafts.map(
      (draft) => `${auth}
      begin;
      select status from annotation_sets where tenant_id = '${tenantId}' and id = '${draft}' for no key update;
      select artifact_types from datasets where tenant_id = '${tenantId}' and id = '${datasetId}' for share;
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
        end_ms, confidence, extra_data)
      select gen_random_uuid(), '${tenantId}', '${datasetId}', '${draft}', audio_file_id, artifact_type, start_ms,
        end_ms, confidence, extra_data
      from unnest(${column("audio_file_id", "", "uuid")}, ${column("artifact_type", "", "text")},
        ${column("start_ms", 0, "int8")}, ${column("end_ms", 0, "int8")}, ${column("confidence", 1, "float8")},
        ${column("extra_data", {}, "jsonb")}) as line (audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data);
      commit;`,
    ),
  };
}

/** One script for each connection, in turn. */
export async function limitOf(
  databaseUrl: string,
  scripts: readonly string[],
  options: { connections: number; seconds: number },
): Promise<Limit> {
  const dir = mkdtempSync("/tmp/plosive-pgbench-");
  const files = scripts.map((script, i) => {
    const file = join(dir, `${i}.sql`);
    writeFileSync(file, script);
    return file;
  });
  const { stdout } = await run(
    "pgbench",
    [
      "--no-vacuum",
      "--protocol=simple",
      `--client=${options.connections}`,
      `--time=${options.seconds}`,
      "--log",
      "--log-prefix=times",
      ...files.map((file) => `--file=${file}`),
      databaseUrl,
    ],
    { cwd: dir, maxBuffer: 1e8 },
  );
  const times = readdirSync(dir)
    .filter((name) => name.startsWith("times"))
    .flatMap((name) => readFileSync(join(dir, name), "utf8").trim().split("\n"))
    .map((line) => Number(line.split(" ")[2]) / 1_000)
    .sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: Number(/tps = ([\d.]+)/.exec(stdout)?.[1] ?? 0), p50: at(0.5), p99: at(0.99) };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const element = (value: unknown) => {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
};
