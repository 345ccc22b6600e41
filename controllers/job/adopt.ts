// A custom resource that somebody made with kubectl gets its row: the same checks as a request to the API, in one
// transaction that also adds the row. Its id is the resource's uid, so that doing it twice is impossible and a crash
// between any two lines is harmless. Called by reconcile.ts when a resource has no row.
import { isQueuedForPurge, requireActiveTenant } from "../../src/db/adoption.ts";
import { type Database, maybeOneJob } from "../../src/db/job.ts";
import type { AppliedResource } from "../../src/db/quota.ts";
import { AppError } from "../../src/errors.ts";
import { parseResourceName } from "../../src/schemas/job-kind.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";

/** Why a custom resource has no row, for its condition Accepted. */
export type Refusal = { reason: "RowMissing" | "PreconditionFailed" | "QuotaExceeded"; message: string };

/** Adds the row, or says why not. Rejects when the database is away: it may be repeated. */
export async function adopt(
  db: Database,
  adapter: Pick<JobAdapter, "kind" | "adopt">,
  cr: JobResource,
): Promise<Refusal | undefined> {
  const resource = { uid: cr.metadata.uid ?? "", name: cr.metadata.name };
  const missing = await whyMissing(db, adapter.kind, cr, resource);
  if (missing !== undefined) return { reason: "RowMissing", message: missing };
  try {
    await requireActiveTenant(db, cr.spec.tenantId);
    await adapter.adopt(cr, resource);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) {
      // Another process was faster.
      if (await maybeOneJob(db, adapter.kind, resource.uid)) return undefined;
      throw error;
    }
    const reason = error.code === "quota_exceeded" ? "QuotaExceeded" : "PreconditionFailed";
    return { reason, message: sentencesOf(error) };
  }
}

const lost =
  "The job was accepted, but it is no longer in the service's records: the database may have been restored from an " +
  "earlier state. The job goes on only if its record comes back; else cancel or delete this resource.";
const reserved =
  "Names of this form belong to jobs made through the REST API, and the service's records have no such job. Give the " +
  "resource any other name to have a job made for it.";

const deleted = "The job was deleted; this resource is about to be, too.";

/**
 * A row that should be there must not be made anew: its files, results and history would be somebody else's. What was
 * said once is said until the record comes back, whatever else changes meanwhile.
 */
async function whyMissing(
  db: Database,
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

/** All that is wrong, each with the code that the REST API would answer. */
function sentencesOf(error: AppError): string {
  const faults = error.items?.map(({ loc, msg }) => {
    const field = ["spec", ...loc.slice(1)].join(".");
    return `${field}: ${msg.replace(/^Value error, /, "")} (${error.code})`;
  });
  const failed = (error.errors ?? [error]).map(({ code, message }) => `${message} (${code})`);
  return `${(faults ?? failed).join("; ")}.`.slice(0, 1000);
}
