// The waveform of an audio file: the peaks that the worker measured, read in a thread.
import { beforeAll, describe, expect, it } from "vitest";
import readWaveform from "../../src/api/waveform.ts";
import { type Client, useApi } from "../support/api.ts";
import { peaksText } from "../support/peaks.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

/** The processor time that the main thread takes for `work`, in microseconds. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** The least of five, because garbage collections fall into some of them. */
async function leastCpuOf(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 5; n++) times.push(await cpuOf(work));
  return Math.min(...times);
}

describe("a waveform", () => {
  it("is the one that the worker measured, coarser on request, and answers 404 before that", async () => {
    const dataset = await makeDataset(client);
    const key = `peaks/${client.tenantId}/x.json`;
    await api.storage.write(key, peaksText([-1, 2, -3, 4, -128, 127]));
    const file = await addReadyAudio(api.db, client.tenantId, dataset, { peaksKey: key });
    const path = `/api/v1/datasets/${dataset}/audio/${file}/waveform`;
    expect((await client.get(path)).body.data).toEqual([-1, 2, -3, 4, -128, 127]);
    expect((await client.get(`${path}?samples_per_pixel=512`)).body).toMatchObject({
      samples_per_pixel: 512,
      length: 2,
      data: [-3, 4, -128, 127],
    });
    const other = await addReadyAudio(api.db, client.tenantId, dataset);
    const early = await client.get(`/api/v1/datasets/${dataset}/audio/${other}/waveform`);
    expect(early.body.code).toBe("audio_not_ready");
    await api.storage.remove(key);
    expect((await client.get(path)).body.code).toBe("audio_not_ready");
  });

  it("of a long file is read in a thread and not in the event loop", async () => {
    const dataset = await makeDataset(client);
    const key = `peaks/${client.tenantId}/long.json`;
    const data = Array.from({ length: 480_000 }, (_, i) => (i % 100) - 50);
    const text = peaksText(data);
    await api.storage.write(key, text);
    const file = await addReadyAudio(api.db, client.tenantId, dataset, { peaksKey: key });
    const url = `${api.url}/api/v1/datasets/${dataset}/audio/${file}/waveform`;
    const get = async () => {
      const answer = await fetch(url, { headers: { "X-API-Key": client.key } });
      expect(answer.status).toBe(200);
      expect((await answer.arrayBuffer()).byteLength).toBe(text.length);
    };
    const read = () => readWaveform({ bytes: Buffer.from(text), samplesPerPixel: undefined });
    // The least of several: a collection of garbage, or code that is not compiled yet, counts too.
    expect(await leastCpuOf(get)).toBeLessThan((await leastCpuOf(read)) / 2);
    // The second one waits for the first.
    await Promise.all([get(), get()]);
  });
});
