// Adoption: creates the row of a custom resource that a person applied with kubectl. One transaction runs the checks of
// an API request and adds the row. The row's id is the resource's uid, so adoption is idempotent and a crash between
// any two lines is harmless. Called by gather.ts when a resource has no row.
import { isQueuedForPurge, requireActiveTenant } from "../../src/db/adoption.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import type { AppliedResource } from "../../src/db/quota.ts";
import { AppError } from "../../src/errors.ts";
import { parseResourceName } from "../../src/schemas/job-kind.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";

/** Why a custom resource has no row; reported in its condition Accepted. */
export type Refusal = { reason: "RowMissing" | "PreconditionFailed" | "QuotaExceeded"; message: string };

/** Adds the row, or returns why it cannot. Rejects when the database is unreachable; the call may be repeated. */
export async function adopt(
  db: DatabasePool,
  adapter: Pick<JobAdapter, "kind" | "adopt">,
  cr: JobResource,
): Promise<Refusal | undefined> {
  const resource = { uid: cr.metadata.uid ?? "", name: cr.metadata.name };
  const missing = await missingRowMessage(db, adapter.kind, cr, resource);
  if (missing !== undefined) return { reason: "RowMissing", message: missing };
  try {
    await requireActiveTenant(db, cr.spec.tenantId);
    await adapter.adopt(cr, resource);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) {
      // Another process has added the row.
      if (await maybeOneJob(db, adapter.kind, resource.uid)) return undefined;
      throw error;
    }
    const reason = error.code === "quota_exceeded" ? "QuotaExceeded" : "PreconditionFailed";
    return { reason, message: describe(error) };
  }
}

const lost =
  "The job was accepted, but the database no longer has a row for it. The database may have been restored from an " +
  "older backup. The job continues only if the row comes back; otherwise cancel or delete this resource.";
const reserved =
  "Names of this form are reserved for jobs created through the REST API, and the database has no such job. Apply the " +
  "resource under another name to create a new job.";

const deleted = "The job was deleted. The operator deletes this resource too.";

/**
 * Returns why the resource must not be adopted; undefined when adoption may go ahead. A row that existed before is
 * never created again: the new row would claim the files, results and history of the old one. A RowMissing message
 * stays until the row comes back, whatever else changes.
 */
async function missingRowMessage(
  db: DatabasePool,
  kind: JobAdapter["kind"],
  { metadata, status }: JobResource,
  resource: AppliedResource,
): Promise<string | undefined> {
  const accepted = conditionOf(status?.conditions, "Accepted");
  if (accepted?.reason === "RowMissing") return accepted.message;
  if (await isQueuedForPurge(db, kind, resource)) return deleted;
  if (status?.runId !== undefined || accepted?.status === "True") return lost;
  return parseResourceName(metadata.name)?.kind === kind ? reserved : undefined;
}

/** Lists all errors, each with the code that the REST API would return. */
export function describe(error: AppError): string {
  const faults = error.items?.map(({ loc, msg }) => {
    const field = ["spec", ...loc.slice(1)].join(".");
    return `${field}: ${msg.replace(/^Value error, /, "")} (${error.code})`;
  });
  const failed = (error.errors ?? [error]).map(({ code, message }) => `${message} (${code})`);
  return `${(faults ?? failed).join("; ")}.`.slice(0, 1000);
}
