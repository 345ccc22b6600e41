// Fills the account before schemathesis starts: several resources of each type, in all relevant states, so that
// requests with existing ids do not end with 404. Called by service.ts.
import { randomBytes } from "node:crypto";
import { hashApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";
import { insertApiKey } from "../../src/db/api-key.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { addDetections, addTrainingJob, makeWorld } from "../../test/support/world.ts";

export interface Seed {
  readonly apiKey: string;
  /** The key that the whole run uses. The API would allow its revocation, which would end the run. */
  readonly ownKeyId: string;
  /** Groups of ids that belong together, by the name of their parameter. */
  readonly worlds: readonly Readonly<Record<string, readonly string[]>>[];
  /** How many of the first worlds must not be deleted; hooks.py redirects their DELETE requests. */
  readonly lastingWorlds: number;
}

const worldCount = 6;
const lastingWorlds = 2;

/** Creates the account and its worlds; `receiver` is the URL of the webhooks. */
export async function seed(pool: DatabasePool, url: string, receiver: string): Promise<Seed> {
  const tenantId = await insertTenant(pool, "contract");
  const apiKey = makeApiKey(randomBytes);
  await insertApiKey(pool, tenantId, {
    name: "contract",
    prefix: prefixOf(apiKey),
    hash: hashApiKey(apiKey),
    expiresAt: null,
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { "X-API-Key": apiKey, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return { body: await answer.json() };
  };
  const post = (path: string, body?: unknown) => call("POST", path, body);
  const [own] = (await call("GET", "/api/v1/auth/api-keys")).body as { id: string }[];

  const worlds: Record<string, string[]>[] = [];
  for (let n = 0; n < worldCount; n++) {
    const one = await makeWorld({ tenantId, post }, pool);
    const { datasetId, annotationSetId, inferenceJobId, inferenceFileId } = one;
    const training = (status: string) => addTrainingJob(pool, tenantId, datasetId, annotationSetId, status);
    await addDetections(pool, tenantId, inferenceJobId, inferenceFileId, 5);
    const webhook = (await post("/api/v1/webhooks", { url: receiver })).body as { id: string };
    const delivery = (await post(`/api/v1/webhooks/${webhook.id}/test`)).body as { id: string };
    if (n % 2 === 0) await post(`/api/v1/datasets/${datasetId}/annotation-sets/${annotationSetId}/publish`);
    worlds.push({
      dataset_id: [datasetId],
      audio_file_id: [one.audioFileId],
      annotation_set_id: [annotationSetId],
      annotation_id: [one.annotationId],
      training_job_id: [one.trainingJobId, await training("queued"), await training("failed")],
      model_id: [one.modelId],
      inference_job_id: [inferenceJobId],
      file_id: [inferenceFileId],
      key_id: [one.keyId],
      webhook_id: [webhook.id],
      delivery_id: [delivery.id],
    });
  }
  return { apiKey, ownKeyId: own?.id ?? "", worlds, lastingWorlds };
}
