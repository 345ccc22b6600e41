// A job's custom resource with more fields than the service would set, created from its row in place of the service.
// Called by the operator's tests.
import type { Queries } from "../../src/db/job.ts";
import { markSubmitted, maybeOneSubmission } from "../../src/db/operator/outbox.ts";
import type { Kube } from "../../src/kube/client.ts";
import { type JobRef, resourceOf, resourceTypes } from "../../src/submit.ts";

export async function createResource(
  kube: Kube,
  namespace: string,
  db: Queries,
  { kind, id }: JobRef,
  spec: object,
): Promise<void> {
  const submission = await maybeOneSubmission(db, kind, id);
  if (submission === null) throw new Error(`there is no open ${kind} job ${id}`);
  // Marks the row as submitted, so that the sweep skips it.
  await markSubmitted(db, kind, id);
  const object = resourceOf(submission, id, namespace);
  Object.assign(object.spec, spec);
  await kube.create(resourceTypes[kind], object);
}
