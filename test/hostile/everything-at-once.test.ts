// All operations of the OpenAPI description concurrently, on the same few resources and in random order: reads, writes
// and deletions in conflict with each other. None may cause a 5xx, from a deadlock or otherwise. PLOSIVE_TEST_SEED
// repeats the choices of a run, though not their timing.
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
import { rounds, seed } from "../support/trial.ts";
import { addReadyAudio, makeWorld } from "../support/world.ts";
import { nobody } from "./case.ts";
import { type RawAnswer, send } from "./send.ts";
import { randomOf } from "./sequence.ts";
import { example, type Operation, operations, withQuery } from "./table/description.ts";

const api = useApi();
const requests = rounds({ slice: 2_000, full: 12_000 });
const atOnce = 16;
let client: Client;
/**
 * Ids by the name of their parameter, for resources that belong together. Resources created during the run are added.
 */
type Known = Record<string, string[]>;
const worlds: Known[] = [];

beforeAll(async () => {
  client = await api.tenant();
  for (let i = 0; i < 3; i++) await addWorld();
});

async function addWorld(): Promise<void> {
  const world = await makeWorld(client, api.db);
  worlds.push({
    dataset_id: [world.datasetId],
    audio_file_id: [world.audioFileId, await addReadyAudio(api.db, client.tenantId, world.datasetId)],
    annotation_set_id: [world.annotationSetId],
    annotation_id: [world.annotationId],
    training_job_id: [world.trainingJobId],
    model_id: [world.modelId],
    inference_job_id: [world.inferenceJobId],
    file_id: [world.inferenceFileId],
    key_id: [world.keyId],
  });
  // Keeps only the newest, since older ones are probably deleted.
  if (worlds.length > 3) worlds.shift();
}

function remember(known: Known, name: string, id: string): void {
  known[name] = [...(known[name] ?? []), id].slice(-3);
}

/** Adds the ids of new resources in an answer. */
function rememberIds(known: Known, path: string, answer: RawAnswer): void {
  if (answer.status !== 201 || !answer.text.startsWith("{")) return;
  const created = JSON.parse(answer.text);
  const first = created.items?.[0] ?? created;
  const noun =
    /(dataset|annotation-set|annotation|training-job|inference-job|api-key|webhook)s(?:\/bulk)?$/.exec(path);
  const name = noun?.[1]?.replace("-", "_").replace("api_key", "key");
  if (name !== undefined && typeof first.id === "string") remember(known, `${name}_id`, first.id);
  if (typeof first.audio_file_id === "string") remember(known, "audio_file_id", first.audio_file_id);
  if (typeof first.inference_file_id === "string") remember(known, "file_id", first.inference_file_id);
}

/** Operations that would stay open forever. */
const excluded = new Set(["/api/v1/events/stream"]);
const chosen = operations.filter(({ path }) => path.startsWith("/api/") && !excluded.has(path));

function ask(
  operation: Operation,
  known: Known,
  random: () => number,
): Promise<{ path: string; answer: RawAnswer }> {
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const ids = known[name];
      if (ids === undefined) return name.endsWith("_id") ? nobody : whole;
      return ids[Math.floor(random() * ids.length)] ?? nobody;
    });
  const path = fill(withQuery(operation));
  const body = operation.body === undefined ? operation.sent?.body : JSON.stringify(example(operation.body));
  const headers: [string, string][] = [["X-API-Key", client.key]];
  if (body !== undefined)
    headers.push(["Content-Type", operation.sent?.headers[0]?.[1] ?? "application/json"]);
  return send(api.url, operation.method, path, headers, body === undefined ? undefined : fill(body)).then(
    (answer) => ({ path, answer }),
  );
}

describe("concurrent requests to every operation", () => {
  it("cause no server error", async () => {
    const random = randomOf(seed);
    const statuses: Record<string, number> = {};
    const faults: string[] = [];
    let sent = 0;
    const worker = async () => {
      while (sent < requests) {
        sent += 1;
        if (sent % 150 === 0) await addWorld();
        const operation = chosen[Math.floor(random() * chosen.length)]!;
        const known = worlds[Math.floor(random() * worlds.length)]!;
        // Without its dataset most requests would get 404, so most deletions of a dataset are skipped.
        if (operation.method === "DELETE" && operation.path.endsWith("{dataset_id}") && random() < 0.7)
          continue;
        const { path, answer } = await ask(operation, known, random);
        rememberIds(known, operation.path, answer);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        if (answer.status >= 500) faults.push(`${operation.method} ${path}: ${answer.status} ${answer.text}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    console.info(`${sent} requests from seed ${seed}:`, statuses);
    expect(faults).toEqual([]);
    for (const status of [200, 201, 204, 404, 409])
      expect(statuses[status] ?? 0, `${status}`).toBeGreaterThan(requests / 300);
  });
});
