// A job's row, and its custom resource with more fields than the service would set, created in place of the service.
// Called by the operator's tests.

import type { Db } from "../../src/db/driver/page.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { markSubmitted, maybeOneSubmission } from "../../src/db/operator/outbox.ts";
import type { Kube } from "../../src/kube/client.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import { resourceOf, resourceTypes } from "../../src/submit.ts";

export async function createResource<Row extends { id: string }>(
  kube: Kube,
  namespace: string,
  db: DatabasePool,
  kind: JobKind,
  insert: (tx: Db) => Promise<Row>,
  spec: object,
): Promise<Row> {
  // Row and mark in one transaction, so that the operator's sweep leaves the row to the test on a busy machine too.
  const { row, submission } = await db.transaction(async (tx) => {
    const row = await insert(tx);
    const submission = await maybeOneSubmission(tx, defaultInstallation, kind, row.id);
    await markSubmitted(tx, kind, row.id);
    return { row, submission };
  });
  if (submission === null) throw new Error(`there is no open ${kind} job ${row.id}`);
  const object = resourceOf(submission, row.id, namespace);
  Object.assign(object.spec, spec);
  await kube.create(resourceTypes[kind], object);
  return row;
}
