// Sends cases of the table to the API and checks whether each gets its documented refusal. Called by the tests of this
// folder.
import type { Client } from "../support/api.ts";
import type { World } from "../support/world.ts";
import { type HostileCase, nobody } from "./case.ts";
import { type RawAnswer, send } from "./send.ts";

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly world: World;
  readonly webhookId?: string;
}

/** Creates the webhook that the test data lack, with an address that no test calls. */
export async function makeWebhook(client: Client): Promise<string> {
  return (await client.post("/api/v1/webhooks", { url: "https://hooks.example.com/plosive" })).body.id;
}

/** Replaces names in braces by the ids of the test data. */
export function filled(text: string, { world, webhookId = nobody, key }: Target): string {
  const names: Record<string, string> = {
    dataset_id: world.datasetId,
    audio_file_id: world.audioFileId,
    annotation_set_id: world.annotationSetId,
    annotation_id: world.annotationId,
    training_job_id: world.trainingJobId,
    model_id: world.modelId,
    inference_job_id: world.inferenceJobId,
    file_id: world.inferenceFileId,
    key_id: world.keyId,
    webhook_id: webhookId,
    key,
    nobody,
  };
  return text.replace(
    /\{(\w+)\}/g,
    (whole, name: string) => names[name] ?? (name.endsWith("_id") ? nobody : whole),
  );
}

export async function play(hostile: HostileCase, target: Target): Promise<RawAnswer> {
  const { method, path, headers = [], body, key } = hostile.request;
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const usual: [string, string][] = [];
  if (key !== false && !given.has("x-api-key")) usual.push(["X-API-Key", target.key]);
  if (body !== undefined && !given.has("content-type")) usual.push(["Content-Type", "application/json"]);
  const bytes = typeof body === "string" ? filled(body, target) : body;
  const sent = headers.map(([name, value]) => [name, filled(value, target)] as const);
  return await send(target.url, method, filled(path, target), [...usual, ...sent], bytes);
}

/** Describes the difference to the documented answer; undefined if there is none. */
export function fault(hostile: HostileCase, answer: RawAnswer): string | undefined {
  const actual = `${hostile.name}: answered ${answer.status} ${answer.text.slice(0, 400)}`;
  if (answer.status !== hostile.status) return `${actual}; expected ${hostile.status} ${hostile.code}`;
  const shape = faultOfShape(answer, hostile.request.method);
  if (shape !== undefined) return `${actual}; ${shape}`;
  if (hostile.request.method === "HEAD") return undefined;
  const body = JSON.parse(answer.text);
  if (hostile.status !== 422)
    return hostile.code === "" || body.code === hostile.code
      ? undefined
      : `${actual}; expected the code ${hostile.code}`;
  const wanted = hostile.loc === undefined ? undefined : JSON.stringify(hostile.loc);
  const found = body.detail.some(
    (item: { loc: unknown; type: string }) =>
      (hostile.code === "" || item.type === hostile.code) &&
      (wanted === undefined || JSON.stringify(item.loc) === wanted),
  );
  return found ? undefined : `${actual}; expected ${hostile.code} at ${wanted}`;
}

/** A refusal is JSON of one of two shapes, has a request id, and reveals nothing about the implementation. */
function faultOfShape(answer: RawAnswer, method: string): string | undefined {
  if (answer.headers["x-request-id"] === undefined) return "it has no X-Request-Id";
  if (answer.headers["content-type"] !== "application/json; charset=utf-8")
    return "its content type is not JSON";
  if (method === "HEAD") return undefined;
  if (/node_modules|\.ts:\d|postgres|slonik|constraint|select /i.test(answer.text))
    return "it reveals the implementation";
  const body = JSON.parse(answer.text);
  if (answer.status === 422) {
    const items: unknown = body.detail;
    const fine =
      Array.isArray(items) &&
      items.length > 0 &&
      items.every(
        (item) =>
          Array.isArray(item.loc) &&
          ["body", "path", "query", "header"].includes(item.loc[0]) &&
          typeof item.msg === "string" &&
          typeof item.type === "string" &&
          Object.keys(item).length === 3,
      );
    return fine && Object.keys(body).length === 1 ? undefined : "it is not the body of a 422";
  }
  const fine =
    typeof body.detail === "string" &&
    typeof body.code === "string" &&
    Object.keys(body).every((member) => ["detail", "code", "errors"].includes(member));
  return fine ? undefined : "it is not the body of an error";
}
