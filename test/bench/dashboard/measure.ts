// Times the dashboard in Chromium beside its limits: the first paint, opening a file of two hours with 2,000 regions, the
// longest task while somebody moves about in it, and memory while it is opened and closed fifty times. Writes
// docs/benchmarks/dashboard.md and fails when a limit is missed.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { heading, useDashboard } from "../../support/dashboard-page.ts";
import { editorOf, longestTasks, moveAbout, wave } from "../../support/editor-page.ts";
import { type BarePage, openBarePage } from "./bare-page.ts";

const limits = { paintMs: 1_000, openMs: 2_000, taskMs: 50, growth: 0.1 };
const repetitions = 10;
const cycles = 50;

const dashboard = useDashboard();
const { api } = dashboard;
const { addLongFile, world } = editorOf(dashboard);

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const most = (values: readonly number[]) => Math.max(...values);

it("measures the dashboard", async () => {
  const made = await world();
  const file = await addLongFile(made);
  const { page } = await dashboard.open(made.client, `datasets/${made.dataset}/sets/${made.set}`);
  const storageState = await page.context().storageState();
  const fresh = async (path: string) => {
    const { page: other } = await dashboard.browser.page({ locale: "en-GB", storageState });
    await other.goto(`${api.url}/dashboard/${path}`);
    return other;
  };

  const signIn: number[] = [];
  const overview: number[] = [];
  const open: number[] = [];
  const tasks: number[] = [];
  for (let n = 0; n < repetitions; n++) {
    const { page: stranger } = await dashboard.browser.page();
    await stranger.goto(`${api.url}/dashboard/`);
    signIn.push(await firstPaintMs(stranger));
    await stranger.context().close();

    const first = await fresh("");
    await heading(first, "Overview").waitFor();
    overview.push(await firstPaintMs(first));
    await first.context().close();

    const editor = await fresh(made.path(file));
    await isOpen(editor);
    open.push(Number(await editor.evaluate("performance.now()")));
    await wave(editor).focus();
    const browser = editor.context().browser();
    await browser?.startTracing(editor, {
      categories: ["disabled-by-default-devtools.timeline", "toplevel"],
    });
    await moveAbout(editor);
    const durations = longestTasks((await browser?.stopTracing()) ?? Buffer.from("{}"));
    expect(durations.length).toBeGreaterThan(20);
    tasks.push(durations[0] ?? Number.NaN);
    await editor.context().close();
  }

  const set = `${api.url}/dashboard/datasets/${made.dataset}/sets/${made.set}`;
  const bare = await openBarePage(set, storageState.cookies);
  const memory: Memory[] = [];
  // The first ones fill caches.
  for (let n = 10; n <= cycles; n += 10) {
    await bare.evaluate(openAndClose(10));
    memory.push({ cycle: n, ...(await memoryOf(bare)) });
  }
  await bare.close();

  const [first, last] = [memory[0], memory.at(-1)];
  const growth = (member: "heapMib" | "processMib") => (last?.[member] ?? 0) / (first?.[member] ?? 0) - 1;
  const figures = [
    ["First contentful paint of the sign-in page, ms", signIn, limits.paintMs],
    ["First contentful paint of the overview, ms", overview, limits.paintMs],
    ["A file of two hours with 2,000 regions: until waveform and list are there, ms", open, limits.openMs],
    ["Longest task while zooming, moving, playing and scrolling in it, ms", tasks, limits.taskMs],
  ] as const;
  writeFileSync("docs/benchmarks/dashboard.md", table(figures, memory, growth));
  for (const [name, values, limit] of figures) expect(most(values), name).toBeLessThanOrEqual(limit);
  for (const member of ["heapMib", "processMib"] as const)
    expect(growth(member), member).toBeLessThanOrEqual(limits.growth);
});

const isOpen = async (page: Page) => {
  await wave(page).waitFor();
  await page.getByRole("listbox", { name: "2,000 regions of the file" }).waitFor();
  await page.evaluate(`new Promise((done) => {
    const canvas = document.querySelector("[data-wave] canvas");
    const isPainted = () => canvas.width > 0 && canvas.getContext("2d")
      .getImageData(0, canvas.height / 2, canvas.width, 1).data.some((value) => value > 0);
    const look = () => isPainted() ? done() : requestAnimationFrame(look);
    look();
  })`);
};

const firstPaintMs = async (page: Page) =>
  Number(
    await page.evaluate(`new Promise((done) => new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") done(startTime);
    }).observe({ type: "paint", buffered: true }))`),
  );

interface Memory {
  readonly cycle: number;
  readonly heapMib: number;
  readonly nodes: number;
  readonly listeners: number;
  /** Proportional set size of the page's process. */
  readonly processMib: number;
}

/** Opens the editor from the page of the set and goes back, so many times. */
const openAndClose = (times: number) => `(async () => {
  const found = async (selector, text) => {
    for (;;) {
      const element = [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(text));
      if (element !== undefined) return element;
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  for (let n = 0; n < ${times}; n++) {
    (await found("main a", "long.wav")).click();
    await found("[role=listbox] [role=option]", "click");
    // The spectrogram begins after 120 ms.
    await new Promise((done) => setTimeout(done, 300));
    history.back();
  }
  await found("main a", "long.wav");
})()`;

async function memoryOf(page: BarePage): Promise<Omit<Memory, "cycle">> {
  await page.send("Performance.enable");
  for (let n = 0; n < 3; n++) await page.send("HeapProfiler.collectGarbage");
  const metrics = (await page.send("Performance.getMetrics")).metrics as { name: string; value: number }[];
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return {
    heapMib: of("JSHeapUsedSize") / 2 ** 20,
    nodes: of("Nodes"),
    listeners: of("JSEventListeners"),
    processMib: most((await page.renderers()).map(pssMib)),
  };
}

const pssMib = (pid: number) =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;

const table = (
  figures: readonly (readonly [string, readonly number[], number])[],
  memory: readonly Memory[],
  growth: (member: "heapMib" | "processMib") => number,
) => `# The dashboard in Chromium

Written by \`make bench-dashboard\`, which fails when a limit is missed. Each figure is from ${repetitions} visits of chromium-headless-shell with an empty
cache, with API, Postgres, object store and browser on one machine: ${cpus()[0]?.model}, ${availableParallelism()} cores. Tasks are
measured in processor time.

| | median | most | limit |
|---|---|---|---|
${figures.map(([name, values, limit]) => `| ${name} | ${median(values).toFixed(0)} | ${most(values).toFixed(0)} | ${limit} |`).join("\n")}

The same file opened and closed in one page, after collecting garbage. Memory may grow by at most ${limits.growth * 100} % between the
tenth and the fiftieth time: the heap grew by ${(growth("heapMib") * 100).toFixed(1)} %, the process by ${(growth("processMib") * 100).toFixed(1)} %.

| times | JavaScript heap MiB | DOM nodes | event listeners | process MiB |
|---|---|---|---|---|
${memory.map(({ cycle, heapMib, nodes, listeners, processMib }) => `| ${cycle} | ${heapMib.toFixed(1)} | ${nodes} | ${listeners} | ${processMib.toFixed(0)} |`).join("\n")}
`;
