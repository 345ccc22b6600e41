// The invariants of every job in a chaos run: at most one Kubernetes Job, one final status that stays, and its results
// in the tables once. Called by run.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { resourceName } from "../../src/schemas/job-kind.ts";
import { detectionsPerFile, type PlannedJob } from "./plan.ts";

export interface Judge {
  /** Report an observed state of the row, the custom resource or a Kubernetes Job. */
  sawRow(id: string, status: string): void;
  sawResource(name: string, phase: string | undefined): void;
  sawJob(resource: string, uid: string): void;
  /** Whether both the row and the custom resource have a final status. */
  isOver(job: PlannedJob): boolean;
  /** Checks the tables of a finished job. */
  check(pool: DatabasePool, job: PlannedJob): Promise<void>;
  /** Descriptions of all violations. */
  faults(): readonly string[];
}

const ends = new Set(["completed", "failed", "cancelled"]);
const phases: Readonly<Record<string, string>> = {
  Succeeded: "completed",
  Failed: "failed",
  Cancelled: "cancelled",
};

export function makeJudge(): Judge {
  const rows = new Map<string, string>();
  const resources = new Map<string, string>();
  const jobs = new Map<string, Set<string>>();
  const faults = new Set<string>();
  const kept = (what: string, key: string, seen: Map<string, string>, now: string) => {
    const before = seen.get(key);
    if (before !== undefined && before !== now) faults.add(`${what} ${key} went from ${before} to ${now}`);
    if (ends.has(now) && before === undefined) seen.set(key, now);
  };
  return {
    sawRow: (id, status) => kept("row", id, rows, status),
    sawResource: (name, phase = "none") => kept("resource", name, resources, phases[phase] ?? phase),
    sawJob(resource, uid) {
      const seen = jobs.get(resource) ?? new Set();
      jobs.set(resource, seen.add(uid));
      if (seen.size > 1) faults.add(`${resource} had ${seen.size} Kubernetes Jobs`);
    },
    isOver: (job) => rows.has(job.id) && resources.has(job.name),
    async check(pool, job) {
      const is = (what: string, found: unknown, wanted: unknown) => {
        if (found !== wanted) faults.add(`${job.kind} ${job.id}: ${what} is ${found}, not ${wanted}`);
      };
      is("the row", rows.get(job.id), job.end);
      is("the resource", resources.get(job.name), job.end);
      const jobsSeen = jobs.get(job.name)?.size ?? 0;
      if (job.end !== "cancelled") is("the number of Jobs", jobsSeen, 1);
      const done = job.end === "completed";
      const table = sql.identifier([`${job.kind}_jobs`]);
      const found = await pool.one(sql.type(z.record(z.string(), z.unknown()))`
        select status,
          (select count(*)::int from result_ingests where run_id like ${`${resourceName(job.kind, job.id)}-%`}) as results,
          (select count(*)::int from detections where inference_job_id = ${job.id}) as detections,
          (select count(*)::int from models where training_job_id = ${job.id}) as models,
          (select count(*)::int from audio_files where embedding_job_id = ${job.id} and status = 'ready') as embedded,
          (select count(*)::int from job_events where job_id = ${job.id} and type = 'status'
            and data->>'status' in ('completed', 'failed', 'cancelled')) as ends
        from ${table} where id = ${job.id}`);
      is("the row after the observation", found.status, job.end);
      is("the number of results", found.results, done ? job.shards : 0);
      const files = done ? job.files.length : 0;
      is(
        "the number of detections",
        found.detections,
        job.kind === "inference" ? files * detectionsPerFile : 0,
      );
      is("the number of models", found.models, done && job.kind === "training" ? 1 : 0);
      is("the number of embedded files", found.embedded, job.kind === "embedding" ? files : 0);
      is("the number of final statuses in its events", found.ends, 1);
    },
    faults: () => [...faults],
  };
}
