// Drafts of a dataset with three audio files of ten seconds, of a tenant of its own. Called at the top of test files:
// `const { client, draft } = useDrafts(api)`.
import { beforeAll, expect } from "vitest";
import type { Client, TestApi } from "./api.ts";
import { addReadyAudio, makeDataset } from "./world.ts";

export function useDrafts(api: TestApi) {
  // Filled before the first test: test files destructure the result at their top.
  const client = {} as Client;
  const audio: string[] = [];
  let datasetId = "";
  beforeAll(async () => {
    Object.assign(client, await api.tenant());
    datasetId = await makeDataset(client);
    for (let i = 0; i < 3; i++)
      audio.push(await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 10_000 }));
    audio.sort();
  });
  const sets = () => `/api/v1/datasets/${datasetId}/annotation-sets`;
  return {
    client,
    /** The ids of the files, in order. */
    audio,
    get datasetId() {
      return datasetId;
    },
    sets,
    /** Creates a draft and returns its path. */
    async draft(): Promise<string> {
      const answer = await client.post(sets());
      expect(answer.headers.get("location")).toBe(`${sets()}/${answer.body.id}`);
      return `${sets()}/${answer.body.id}`;
    },
    /** The body of an annotation of the first file. */
    label: (start_ms: number, end_ms: number, more: object = {}) => ({
      audio_file_id: audio[0],
      artifact_type: "click",
      start_ms,
      end_ms,
      ...more,
    }),
  };
}
