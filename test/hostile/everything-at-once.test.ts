// Every operation of the description at once, on the same few resources, in random order: reads, writes and deletions
// that get in each other's way. None of them may fail the service, by a deadlock or otherwise. PLOSIVE_TEST_SEED repeats
// the choices of a run, though not their timing.
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
/** Ids by the name of their parameter, for resources that belong together; those that are made meanwhile come to them. */
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
  // The newest few: what is old is likely to be deleted.
  if (worlds.length > 3) worlds.shift();
}

function remember(known: Known, name: string, id: string): void {
  known[name] = [...(known[name] ?? []), id].slice(-3);
}

/** What an answer says about new resources. */
function learn(known: Known, path: string, answer: RawAnswer): void {
  if (answer.status !== 201 || !answer.text.startsWith("{")) return;
  const told = JSON.parse(answer.text);
  const first = told.items?.[0] ?? told;
  const noun =
    /(dataset|annotation-set|annotation|training-job|inference-job|api-key|webhook)s(?:\/bulk)?$/.exec(path);
  const name = noun?.[1]?.replace("-", "_").replace("api_key", "key");
  if (name !== undefined && typeof first.id === "string") remember(known, `${name}_id`, first.id);
  if (typeof first.audio_file_id === "string") remember(known, "audio_file_id", first.audio_file_id);
  if (typeof first.inference_file_id === "string") remember(known, "file_id", first.inference_file_id);
}

/** Whatever would end the test's own key or stay open for ever. */
const left = new Set(["/api/v1/events/stream"]);
const chosen = operations.filter(({ path }) => path.startsWith("/api/") && !left.has(path));

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

describe("every operation at once", () => {
  it("fails none of them", async () => {
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
        // With its dataset gone there is little left to try.
        if (operation.method === "DELETE" && operation.path.endsWith("{dataset_id}") && random() < 0.7)
          continue;
        const { path, answer } = await ask(operation, known, random);
        learn(known, operation.path, answer);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        if (answer.status >= 500) faults.push(`${operation.method} ${path}: ${answer.status} ${answer.text}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    console.info(`${sent} requests from seed ${seed}:`, statuses);
    expect(faults).toEqual([]);
    for (const status of [200, 201, 204, 404, 409])
      expect(statuses[status] ?? 0, `${status}`).toBeGreaterThan(requests / 300);
  }, 180_000);
});
