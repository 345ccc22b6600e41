// Answers the annotation with which a person asks for a retry of an ended job: like the API, the operator adds the row of a new
// job, which the outbox submits. The new row's id follows from the request, so that a crash between any two lines is
// harmless. Called by reconcile.ts.
import { requireActiveTenant } from "../../src/db/adoption.ts";
import { derivedId } from "../../src/db/driver/id.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { AppError } from "../../src/errors.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { jobIdOf, resourceName } from "../../src/schemas/job-kind.ts";
import { type JobStatus, maxRetryRequest, retryRequest } from "../../src/schemas/job-resource.ts";
import type { JobResource } from "./adapter.ts";
import { describe } from "./adopt.ts";
import { setConditions } from "./conditions.ts";
import { hasEnded } from "./decide.ts";
import type { Engine } from "./engine.ts";

type Answer = Pick<Condition, "status" | "reason" | "message">;

/** The request that the status does not answer yet, cut to the length that the status can hold. */
export function retryAskedOf({ metadata, status }: JobResource): string | undefined {
  // The API server would store half of a surrogate pair as another character.
  const asked = metadata.annotations?.[retryRequest]?.slice(0, maxRetryRequest).toWellFormed();
  return asked === status?.lastHandledRetryAt ? undefined : asked;
}

/** Returns the status with the answer. Each request is answered once; a refused one is not tried again. */
export async function answerRetry(engine: Engine, cr: JobResource, asked: string): Promise<JobStatus> {
  const answer = await retry(engine, cr, asked);
  const { status, reason, message } = answer;
  engine.log.info({ name: cr.metadata.name, asked }, message);
  engine.emitEvent(cr, status === "True" ? "Normal" : "Warning", reason, message);
  const update = { type: "Retried", ...answer } as const;
  const conditions = setConditions({ cr, now: engine.now() }, cr.status?.conditions ?? [], [update]);
  return { ...cr.status, lastHandledRetryAt: asked, conditions };
}

async function retry({ db, adapter }: Engine, cr: JobResource, asked: string): Promise<Answer> {
  if (!hasEnded(cr)) return refused("The job has not ended (job_not_finished).");
  if (adapter.retry === undefined)
    return refused(
      "Embedding jobs are not retried: run plosive-admin embeddings renew to embed failed files again.",
    );
  const id = jobIdOf(adapter.kind, cr.metadata);
  const newId = derivedId(`${id} ${asked}`);
  try {
    await requireActiveTenant(db, cr.spec.tenantId);
    // A killed operator may have added the row.
    if ((await maybeOneJob(db, adapter.kind, newId)) === null) await adapter.retry(cr, id, newId);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return refused(describe(error));
  }
  const message = `The job was created again as ${resourceName(adapter.kind, newId)}.`;
  return { status: "True", reason: "RetryCreated", message };
}

const refused = (message: string): Answer => ({ status: "False", reason: "RetryRefused", message });
