// A dataset whose files have unusual names, and sets of its labels, for the tests of exports and imports. Called by
// exports.test.ts and imports.test.ts.
import { beforeAll, expect } from "vitest";
import { unusualTexts } from "../exchange/marks.ts";
import type { Client, TestApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

export const csv = { "Content-Type": "text/csv" };
export const plain = { "Content-Type": "text/plain; charset=utf-8" };

export interface Label {
  audio_file_id: string;
  artifact_type: string;
  start_ms: number;
  end_ms: number;
  confidence?: number;
  extra_data?: object;
}

export interface NamedFile {
  readonly id: string;
  readonly filename: string;
}

export function useExchange(api: TestApi) {
  let client: Client;
  let datasetId: string;
  /** Ordered by id, as exports are. */
  let audio: NamedFile[];
  beforeAll(async () => {
    client = await api.tenant();
    datasetId = await makeDataset(client, ["click", "mouth noise"]);
    const ids: string[] = [];
    for (const _ of unusualTexts)
      ids.push(await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 10_000 }));
    audio = ids.sort().map((id, i) => ({ id, filename: unusualTexts[i]! }));
    for (const { id, filename } of audio)
      await client.patch(`/api/v1/datasets/${datasetId}/audio/${id}`, { filename });
  });

  const sets = () => `/api/v1/datasets/${datasetId}/annotation-sets`;
  const draft = async () => `${sets()}/${(await client.post(sets())).body.id}`;

  /** Two labels in each file: one is a point in time, the other exists twice. */
  const labels = (): Label[] =>
    audio.flatMap(({ id, filename }, i) => [
      {
        audio_file_id: id,
        artifact_type: "click",
        start_ms: i,
        end_ms: i,
        confidence: 0.25,
        extra_data: { filename },
      },
      { audio_file_id: id, artifact_type: "mouth noise", start_ms: 1_001 + i, end_ms: 9_999 },
      { audio_file_id: id, artifact_type: "mouth noise", start_ms: 1_001 + i, end_ms: 9_999 },
    ]);
  async function filled(): Promise<string> {
    const set = await draft();
    expect((await client.post(`${set}/annotations/bulk`, { annotations: labels() })).status).toBe(201);
    return set;
  }

  async function annotationsOf(set: string, ...left: string[]): Promise<object[]> {
    const { body } = await client.get(`${set}/annotations`);
    return body.map((annotation: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(annotation).filter(
          ([name]) => !["id", "annotation_set_id", "created_at", "updated_at", ...left].includes(name),
        ),
      ),
    );
  }

  const made = () => ({ client, datasetId, audio });
  return { made, sets, draft, labels, filled, annotationsOf };
}
