// Every page of the dashboard with something on it: a tenant with one of everything, and the addresses of its pages. Called by
// the tests that hold for all pages.
import type { Page } from "playwright-core";
import { sql } from "slonik";
import { type Client, execute, type TestApi } from "./api.ts";
import { type Judged, makeJudged } from "./judging.ts";
import { poll } from "./poll.ts";
import { addReadyAudio } from "./world.ts";

export interface EveryPage extends Judged {
  readonly draftId: string;
  readonly webhookId: string;
  /** Addresses of pages below /dashboard/, without those that have no resource. */
  readonly ofResources: readonly string[];
  readonly paths: readonly string[];
  /** The address of the editor, with a region, a suggestion and a recording. */
  readonly editor: string;
}

/** `text` takes the place of every name and message; names of types and what programs write keep theirs without it. */
export async function makeEveryPage(api: TestApi, client: Client, text?: string): Promise<EveryPage> {
  const judged = await makeJudged(api, client);
  const { datasetId, setId, recordingId, trainingId, models, jobs } = judged;
  const name = text ?? "A name that is long, as names are when people describe what is in them";
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const draftId: string = (await client.post(sets, { from_annotation_set_id: setId })).body.id;
  const region = { audio_file_id: recordingId, artifact_type: "click", start_ms: 1_500, end_ms: 1_550 };
  const extra_data = { [name.slice(0, 64)]: name };
  await client.post(`${sets}/${draftId}/annotations`, { ...region, annotator: name, extra_data });
  await client.patch(`/api/v1/datasets/${datasetId}`, {
    name,
    description: name,
    artifact_types: [{ name: "click", description: name }, { name: "hum" }],
  });
  await client.patch(`/api/v1/datasets/${datasetId}/audio/${recordingId}`, { filename: name });
  await client.post(`/api/v1/datasets/${datasetId}/audio/upload-url`, {
    filename: name,
    content_type: "audio/wav",
    size_bytes: 100,
    metadata: { [name.slice(0, 64)]: name },
  });
  await client.patch(`/api/v1/models/${models[0]}`, { name, description: name });
  await client.post("/api/v1/auth/api-keys", { name, scopes: ["read"], expires_at: "2099-01-01T00:00:00Z" });
  const hook = { url: "https://hooks.example.com/plosive", description: name };
  const webhookId: string = (await client.post("/api/v1/webhooks", hook)).body.id;
  await client.post(`/api/v1/webhooks/${webhookId}/test`);
  const waiting: string = (await client.post("/api/v1/inference-jobs", { model_id: models[0] })).body.id;
  await addReadyAudio(api.db, client.tenantId, datasetId, { status: "failed", embeddingStatus: "failed" });
  if (text !== undefined) await writeEverywhere(api, client, judged, draftId, text);
  const editor = `datasets/${datasetId}/sets/${draftId}/files/${recordingId}?job=${jobs[0]}`;
  const ofResources = [
    `datasets/${datasetId}`,
    `datasets/${datasetId}?tab=types`,
    `datasets/${datasetId}?tab=sets`,
    `datasets/${datasetId}/upload`,
    `datasets/${datasetId}/sets/${draftId}`,
    `datasets/${datasetId}/sets/${draftId}?tab=agreement&with=${setId}`,
    editor,
    `training/new?dataset=${datasetId}`,
    `training/${trainingId}`,
    `models/compare?a=${jobs[0]}&b=${jobs[1]}`,
    `models/${models[0]}`,
    `inference/${jobs[0]}`,
    `inference/${jobs[0]}?tab=files`,
    `inference/${jobs[0]}?tab=settings`,
    `inference/${jobs[0]}?tab=log`,
    `inference/${waiting}`,
    `settings/webhooks/${webhookId}`,
  ];
  const paths = [
    "",
    "datasets",
    "datasets?new=1",
    "training",
    "models",
    "inference",
    "inference/new",
    "inference/new?from=dataset",
    "settings/api-keys",
    "settings/api-keys?new=1",
    "settings/webhooks",
    "settings/webhooks?new=1",
    "settings/usage",
    "nowhere",
    ...ofResources,
  ];
  return { ...judged, draftId, webhookId, editor, ofResources, paths };
}

/** What the API refuses or only the operator writes: rows of an older version could hold it. */
async function writeEverywhere(
  { db }: TestApi,
  { tenantId }: Client,
  { datasetId, trainingId, models, jobs }: Judged,
  draftId: string,
  text: string,
): Promise<void> {
  const types = sql.jsonb([{ name: text, description: text }, { name: "click" }, { name: "hum" }]);
  const config = sql.jsonb({ artifact_types: [text], thresholds: Object.fromEntries([[text, 0.5]]) });
  const figures = { precision: 0.5, recall: 0.5, f1: 0.5, threshold: 0.5, support: 3 };
  const metrics = sql.jsonb({
    overall: figures,
    per_type: Object.fromEntries([
      [text, figures],
      ["click", figures],
    ]),
    confusion: Object.fromEntries([
      [
        text,
        Object.fromEntries([
          [text, 1],
          ["none", 2],
        ]),
      ],
      ["click", { click: 4 }],
    ]),
  });
  const counts = sql.jsonb(
    Object.fromEntries([
      [text, 3],
      ["click", 1],
    ]),
  );
  const rows = [
    sql.fragment`update tenants set name = ${text} where id = ${tenantId}`,
    sql.fragment`update datasets set artifact_types = ${types} where id = ${datasetId}`,
    sql.fragment`update audio_files set codec = left(${text}, 20),
      error_message = case when status = 'failed' then ${text} end where tenant_id = ${tenantId}`,
    sql.fragment`update annotations set artifact_type = ${text} where annotation_set_id = ${draftId} and artifact_type = 'click'`,
    sql.fragment`update annotation_sets set annotations_by_type = ${counts} where id = ${draftId}`,
    sql.fragment`update models set artifact_types = array[${text}, 'click'], eval_metrics = ${metrics} where id = ${models[0]}`,
    sql.fragment`update training_jobs set dataset_name = ${text}, config = ${config}, status = 'failed',
      status_message = ${text}, error_message = ${text} where id = ${trainingId}`,
    sql.fragment`insert into training_metrics (training_job_id, tenant_id, name, step, value)
      values (${trainingId}, ${tenantId}, ${text}, 1, 0.5)`,
    sql.fragment`update inference_jobs set config = ${config}, status_message = ${text}, error_message = ${text}
      where tenant_id = ${tenantId}`,
    sql.fragment`update inference_files set filename = ${text}, error_message = ${text} where tenant_id = ${tenantId}`,
    sql.fragment`update detections set artifact_type = ${text} where tenant_id = ${tenantId} and artifact_type = 'click'`,
    ...(["training", "inference"] as const).map(
      (kind) => sql.fragment`
        insert into job_events (tenant_id, job_kind, job_id, level, type, message, data)
        values (${tenantId}, ${kind}, ${kind === "training" ? trainingId : jobs[0]}, 'warning', 'message', ${text},
          ${sql.jsonb({ text })})`,
    ),
    sql.fragment`update webhook_deliveries set type = ${text} where tenant_id = ${tenantId}`,
  ];
  for (const row of rows) await execute(db, row);
}

/**
 * Opens the page as the back button does: a load of the whole dashboard would take longer. Three frames later, the new page has
 * replaced the old one, and its effects have opened its dialog and moved the focus.
 */
export async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", location.pathname.replace(/[/]dashboard[/].*/, "/dashboard/") + ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent("popstate"));
    const frame = () => new Promise(requestAnimationFrame);
    frame().then(frame).then(frame)`,
  );
  await poll(
    `the page ${path}`,
    async () =>
      (await page.locator("main [aria-busy=true]").count()) === 0 &&
      (await page.locator("main h1, main h2").count()) > 0,
    60_000,
  );
}
