// The parts of the demo that need no cluster, on the real API and object store.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadAll } from "../../../tools/demo/upload.ts";
import { makeUser, type User } from "../../../tools/demo/user.ts";
import { useApi } from "../../support/api.ts";
import { wav } from "../../support/audio.ts";

const api = useApi();
const folder = mkdtempSync(join(tmpdir(), "plosive-demo-client-"));
const names = ["a.wav", "b.wav", "c.wav", "d.wav", "e.wav"];
let user: User;

beforeAll(async () => {
  user = makeUser({ baseUrl: api.url, apiKey: (await api.tenant()).key });
  names.forEach((name, i) => {
    writeFileSync(join(folder, name), wav({ durationMs: 2_000 + i * 100 }));
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the demo uploads several files at once, labels them in bulk, publishes, and is refused a training job with the reason", async () => {
  const dataset = await user.createDataset("demo", ["click", "hum"]);
  const seen: number[] = [];
  const uploads = await uploadAll(
    names.map((name) => join(folder, name)),
    (file) => user.upload(dataset.id, file),
    (files) => seen.push(files),
    3,
  );
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(uploads.map((file) => file.filename)).toEqual(names);
  const listed = await user.listAudio(dataset.id);
  expect(new Set(listed.map((file) => file.id))).toEqual(new Set(uploads.map((file) => file.id)));
  expect(listed.map((file) => file.status)).toEqual(names.map(() => "processing"));

  const set = await user.createAnnotationSet(dataset.id);
  const labels = uploads.map((file) => ({
    audio_file_id: file.id,
    artifact_type: "click",
    start_ms: 100,
    end_ms: 110,
  }));
  expect(await user.addAnnotations(dataset.id, set.id, labels)).toMatchObject({ total: 5 });
  const published = await user.publish(dataset.id, set.id);
  expect(published).toMatchObject({
    status: "published",
    total_annotations: 5,
    total_positive_duration_ms: 50,
    annotations_by_type: { click: 5 },
  });

  const refused = user.createTrainingJob(dataset.id, set.id, { artifact_types: ["click"] });
  await expect(refused).rejects.toMatchObject({ status: 409 });
  await expect(refused).rejects.toThrow(/embeddings/);
});

test("the demo stops at the first file that the service refuses and names it", async () => {
  const dataset = await user.createDataset("demo", ["click"]);
  writeFileSync(join(folder, "not-audio.wav"), "this is no WAV file".repeat(100));
  const uploading = uploadAll(
    [join(folder, "not-audio.wav")],
    (file) => user.upload(dataset.id, file),
    () => {},
  );
  await expect(uploading).rejects.toMatchObject({ cause: { status: 409 } });
  await expect(uploading).rejects.toThrow(/not-audio\.wav/);
});
