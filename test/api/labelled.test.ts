// Datasets and audio files that have labels: their deletion, and the artifact types that cannot be removed.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, execute, useApi } from "../support/api.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});
const idOf = (path: string) => path.split("/").at(-1) ?? "";

/** A dataset with one file of more than five minutes, and a draft with one label: the paths, and the file's id. */
async function labelled(): Promise<{ dataset: string; set: string; file: string }> {
  const id = await makeDataset(client);
  const file = await addReadyAudio(api.db, client.tenantId, id, { durationMs: 400_000 });
  const dataset = `/api/v1/datasets/${id}`;
  const set = `${dataset}/annotation-sets/${(await client.post(`${dataset}/annotation-sets`)).body.id}`;
  const label = { audio_file_id: file, artifact_type: "click", start_ms: 1, end_ms: 2 };
  expect((await client.post(`${set}/annotations`, label)).status).toBe(201);
  return { dataset, set, file };
}

describe("a deletion", () => {
  it("of an audio file deletes its labels in drafts", async () => {
    const { dataset, file, set } = await labelled();
    expect((await client.delete(`${dataset}/audio/${file}`)).status).toBe(204);
    expect((await client.get(set)).body.annotations).toEqual([]);
  });

  it("of a dataset deletes published sets and is refused while the dataset has jobs", async () => {
    const { dataset, set } = await labelled();
    await client.post(`${set}/publish`);
    const [dataset_id, annotation_set_id] = [idOf(dataset), idOf(set)];
    const body = { dataset_id, annotation_set_id, config: { artifact_types: ["click"] } };
    const job = (await client.post("/api/v1/training-jobs", body)).body;
    expect((await client.delete(dataset)).body.code).toBe("dataset_in_use");
    await execute(api.db, sql.fragment`update training_jobs set status = 'cancelled' where id = ${job.id}`);
    expect((await client.delete(dataset)).status).toBe(204);
    expect((await client.get(set)).body.code).toBe("annotation_set_not_found");
    expect((await client.get(`/api/v1/training-jobs/${job.id}`)).body.dataset_id).toBe(dataset_id);
  });
});

describe("the artifact types of a dataset", () => {
  it("can grow, and can lose only types that no annotation uses", async () => {
    const { dataset: path } = await labelled();
    const types = (...names: string[]) => ({ artifact_types: names.map((name) => ({ name })) });
    expect((await client.patch(path, types("hum"))).body.code).toBe("artifact_type_in_use");
    expect((await client.patch(path, types("click", "pop"))).body.artifact_types).toMatchObject([
      { name: "click" },
      { name: "pop" },
    ]);
    expect((await client.patch(path, types("pop", "POP"))).body.detail).toMatchObject([
      { loc: ["body", "artifact_types"], type: "value_error" },
    ]);
    const described = (characters: number) => ({
      artifact_types: Array.from({ length: 64 }, (_, i) => ({
        name: i === 0 ? "click" : `t${i}`,
        // Of three bytes each.
        description: "音".repeat(characters),
      })),
    });
    expect((await client.patch(path, described(320))).status).toBe(200);
    expect((await client.patch(path, described(340))).body.detail).toMatchObject([
      { loc: ["body", "artifact_types"], type: "value_error", msg: expect.stringContaining("65536 bytes") },
    ]);
    expect((await client.patch(path, { description: null, name: "new" })).body).toMatchObject({
      name: "new",
      description: null,
    });
  });
});
