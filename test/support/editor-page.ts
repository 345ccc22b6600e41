// Drafts with audio files, and the dashboard's editor on them in a browser. Called at the top of test files:
// `const { world, openEditor } = editorOf(useDashboard())`.
import type { Page } from "playwright-core";
import { sql } from "slonik";
import { audioKey } from "../../src/storage/keys.ts";
import { type Client, execute } from "./api.ts";
import { wav } from "./audio.ts";
import { newDataset, type TestDashboard } from "./dashboard-page.ts";
import { poll } from "./poll.ts";
import { addReadyAudio } from "./world.ts";

export interface Label {
  readonly artifact_type: string;
  readonly start_ms: number;
  readonly end_ms: number;
}

export function editorOf(dashboard: TestDashboard) {
  const { api } = dashboard;

  async function addAudio(
    client: Client,
    dataset: string,
    {
      filename,
      durationMs = 20_000,
      bytes = wav({ durationMs, sampleRateHz: 8_000 }),
      perSecond = 100,
    }: {
      filename: string;
      durationMs?: number;
      bytes?: Buffer;
      perSecond?: number;
    },
  ): Promise<string> {
    const peaksKey = `peaks/${client.tenantId}/${filename.length}-${durationMs}`;
    const id = await addReadyAudio(api.db, client.tenantId, dataset, { durationMs, peaksKey });
    await api.storage.write(audioKey(client.tenantId, id), bytes, "audio/wav");
    await api.storage.write(peaksKey, peaksOf(durationMs, perSecond));
    await execute(
      api.db,
      sql.fragment`update audio_files set filename = ${filename}, size_bytes = ${bytes.length} where id = ${id}`,
    );
    return id;
  }

  /** A dataset with a draft and files of 20 seconds. */
  async function world(filenames: readonly string[] = ["take-1.wav"]) {
    const client = await api.tenant();
    const dataset = await newDataset(client);
    const files: string[] = [];
    for (const filename of filenames) files.push(await addAudio(client, dataset, { filename }));
    const { id: set } = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`, {})).body;
    const labels = `/api/v1/datasets/${dataset}/annotation-sets/${set}/annotations`;
    const path = (file: string | undefined) => `datasets/${dataset}/sets/${set}/files/${file}`;
    const add = async (start_ms: number, over = {}) =>
      (
        await client.post(labels, {
          audio_file_id: files[0],
          artifact_type: "click",
          start_ms,
          end_ms: start_ms + 50,
          ...over,
        })
      ).body;
    const inApi = async () =>
      ((await client.get(`${labels}?audio_file_id=${files[0]}`)).body as Label[]).map(
        ({ artifact_type: type, start_ms, end_ms }) => `${type} ${start_ms}-${end_ms}`,
      );
    /** Waits until the service has exactly these labels. */
    const saved = (...wanted: readonly string[]) =>
      poll(`the labels ${wanted.join(", ")}`, async () => (await inApi()).join() === wanted.join(), 60_000);
    return { client, dataset, set, files, labels, path, add, inApi, saved };
  }

  /** Adds a file of two hours with 2,000 labels to the draft. Returns its id. */
  async function addLongFile(made: Awaited<ReturnType<typeof world>>): Promise<string> {
    const durationMs = 7_200_000;
    // 8 bits at 8 kHz: the header says so, and each second has 8,000 bytes.
    const bytes = Buffer.alloc(44 + durationMs * 8, 128);
    wav({ durationMs: 1, sampleRateHz: 8_000 }).copy(bytes, 0, 0, 44);
    bytes.writeUInt16LE(1, 32);
    bytes.writeUInt16LE(8, 34);
    bytes.writeUInt32LE(bytes.length - 44, 40);
    const file = { filename: "long.wav", durationMs, bytes, perSecond: 25 };
    const id = await addAudio(made.client, made.dataset, file);
    for (let n = 0; n < 2; n++)
      await made.client.post(`${made.labels}/bulk`, {
        annotations: Array.from({ length: 1_000 }, (_, i) => ({
          audio_file_id: id,
          artifact_type: i % 2 === 0 ? "click" : "hum",
          start_ms: (n * 1_000 + i) * 3_600,
          end_ms: (n * 1_000 + i) * 3_600 + 400,
        })),
      });
    return id;
  }

  async function openEditor(
    made: Awaited<ReturnType<typeof world>>,
    options: Parameters<typeof dashboard.open>[2] = {},
  ) {
    const watched = await dashboard.open(made.client, made.path(made.files[0]), options);
    await wave(watched.page).waitFor();
    await wave(watched.page).focus();
    return watched;
  }

  return { addLongFile, world, openEditor };
}

/** The peaks that the worker would have made: a hundred pairs a second, or 25 for a long file. */
const peaksOf = (durationMs: number, perSecond: number) => {
  const length = Math.floor((durationMs / 1000) * perSecond);
  const data = Array.from({ length: length * 2 }, (_, i) => (i % 2 === 0 ? -1 : 1) * (20 + ((i >> 1) % 90)));
  const rate = 8_000;
  return JSON.stringify({
    version: 2,
    channels: 1,
    sample_rate: rate,
    samples_per_pixel: rate / perSecond,
    bits: 8,
    length,
    data,
  });
};

/** Zooms in and out, moves along the file, selects, plays and stops, and scrolls the list of regions. */
export async function moveAbout(page: Page): Promise<void> {
  const zoom = 8;
  await press(page, "Escape", "f", ...Array(zoom).fill("+"), ...Array(10).fill("ArrowRight"));
  await press(page, ...Array(zoom).fill("-"), "l", "l", "j", "End", "Home", " ", " ");
  await page.getByRole("listbox").evaluate((list) => {
    list.scrollTop = 30_000;
  });
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

export const wave = (page: Page) => page.locator("[data-wave]");
export const saving = (page: Page, state: string) => page.locator(`[data-saving=${state}]`).waitFor();
export const press = async (page: Page, ...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
export const rows = (page: Page) => page.getByRole("listbox").getByRole("option");
export const words = (page: Page) => rows(page).locator(".visually-hidden").allInnerTexts();

/**
 * How long the page's thread worked on each task, in milliseconds, longest first. The time of the processor, because other
 * processes take it away from the browser on a busy machine.
 */
export function longestTasks(trace: Buffer): readonly number[] {
  const { traceEvents = [] } = JSON.parse(trace.toString()) as { traceEvents?: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(
      ({ name, pid, tid, tdur }) => name === "RunTask" && tdur !== undefined && threads.has(`${pid} ${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a);
}

/**
 * How long a task of the page may take, in milliseconds of the processor. `make bench-dashboard` holds the editor to 50 ms; two threads of one
 * slow core that other tests use too need up to twice that.
 */
export const longestTaskMs = 100;

/** Processor time of the page's handling of each event of this type, in ms. */
export function eventTimes(trace: Buffer, type: string): readonly number[] {
  const { traceEvents = [] } = JSON.parse(trace.toString()) as { traceEvents?: readonly TraceEvent[] };
  return traceEvents
    .filter(({ name, args }) => name === "EventDispatch" && args?.data?.type === type)
    .map(({ tdur = 0 }) => tdur / 1000);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string; readonly data?: { readonly type?: string } };
}
