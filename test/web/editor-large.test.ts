// The editor with a file of two hours and 2,000 regions. It measures with Chromium's tracing.
import { expect, it } from "vitest";
import { wav } from "../support/audio.ts";
import { useDashboard } from "../support/dashboard-page.ts";
import { editorOf, longestTasks, press, rows, wave } from "../support/editor-page.ts";

const dashboard = useDashboard();
const { addAudio, world } = editorOf(dashboard);

it("a file of two hours with 2,000 regions opens and moves without long tasks", async () => {
  const made = await world();
  const durationMs = 7_200_000;
  // 8 bits at 8 kHz: the header says so, and each second has 8,000 bytes.
  const bytes = Buffer.alloc(44 + durationMs * 8, 128);
  wav({ durationMs: 1, sampleRateHz: 8_000 }).copy(bytes, 0, 0, 44);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  const file = await addAudio(made.client, made.dataset, {
    filename: "long.wav",
    durationMs,
    bytes,
    perSecond: 25,
  });
  for (let n = 0; n < 2; n++)
    await made.client.post(`${made.labels}/bulk`, {
      annotations: Array.from({ length: 1_000 }, (_, i) => ({
        audio_file_id: file,
        artifact_type: i % 2 === 0 ? "click" : "hum",
        start_ms: (n * 1_000 + i) * 3_600,
        end_ms: (n * 1_000 + i) * 3_600 + 400,
      })),
    });
  const { page } = await dashboard.open(made.client, made.path(file));
  await page.getByRole("listbox", { name: "2,000 regions of the file" }).waitFor();
  await wave(page).focus();
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "toplevel"] });
  await press(
    page,
    "Escape",
    "f",
    ...Array(8).fill("+"),
    ...Array(10).fill("ArrowRight"),
    ...Array(8).fill("-"),
  );
  await press(page, "l", "l", "j", "End", "Home", " ");
  await page.getByRole("listbox").evaluate((list) => {
    list.scrollTop = 30_000;
  });
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const longest = longestTasks((await browser?.stopTracing()) ?? Buffer.from("{}"));
  expect(longest.length).toBeGreaterThan(20);
  expect(longest[0]).toBeLessThan(50);
  expect(await rows(page).count()).toBeLessThan(60);
  await page.close();
});
