// The canvases of the editor: overview, ruler with waveform, spectrogram, lanes. They are drawn anew at most once per frame,
// when something that they show has changed, and only with what is visible. Called by the editor page.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { theme } from "../app/theme.ts";
import { trusted } from "../app/worker-url.ts";
import type { AudioSource } from "./audio-source.ts";
import type { Controller } from "./controller.ts";
import {
  type Context,
  type Item,
  laneHeight,
  type Palette,
  paintLanes,
  paintOverview,
  paintRuler,
  paintShades,
  paintWave,
  rulerHeight,
  type Scene,
  type Size,
} from "./paint.ts";
import { columnsOf, columnsOfSamples, type Peaks } from "./peaks.ts";
import { lengthOf, type Range } from "./range.ts";
import { visibleIn } from "./region.ts";
import type { Picture } from "./spectrogram.ts";
import workerUrl from "./spectrogram.worker.ts?worker&url";

export interface Canvases {
  readonly overview: HTMLCanvasElement;
  readonly wave: HTMLCanvasElement;
  readonly spectrogram: HTMLCanvasElement;
  readonly lanes: HTMLCanvasElement;
}

export interface WaveView {
  /** Why there is no spectrogram now; undefined: there is one. */
  readonly note: ReadonlySignal<string | undefined>;
  /** The highest frequency of the spectrogram. */
  readonly topHz: ReadonlySignal<number | undefined>;
  dispose(): void;
}

/** Longer parts are not fetched for a spectrogram. */
export const longestSpectrogramMs = 30_000;
/** Shorter parts have a waveform of samples, because the service's peaks are too coarse. */
const sampledMs = 12_000;
const typeColors = 8;

export function makeWaveView(
  canvases: Canvases,
  controller: Controller,
  peaks: Peaks | undefined,
  source: AudioSource,
): WaveView {
  const { document: labels, range, selected, suggestions, types, durationMs } = controller;
  const whole: Range = { fromMs: 0, toMs: durationMs };
  const note = signal<string | undefined>(undefined);
  const topHz = signal<number | undefined>(undefined);
  const size = signal(0);
  const samplesCame = signal(0);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const scheme = signal(0);
  const onScheme = () => scheme.value++;
  dark.addEventListener("change", onScheme);
  const observer = new ResizeObserver(() => size.value++);
  for (const canvas of Object.values(canvases)) observer.observe(canvas);

  let palette = paletteOf(canvases.wave);
  /** The waveform of the overview never changes but for its size and colours. */
  let overviewWave: { readonly key: string; readonly canvas: HTMLCanvasElement } | undefined;
  let picture: { readonly range: Range; readonly image: HTMLCanvasElement } | undefined;
  let frame = 0;
  let isDisposed = false;
  const wanted = new Set<() => void>();

  /** Draws in the next frame, however often something changes until then. */
  const soon = (draw: () => void) => {
    wanted.add(draw);
    if (frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      const draws = [...wanted];
      wanted.clear();
      for (const one of draws) one();
    });
  };

  const itemsIn = (part: Range): Item[] => {
    const faults = labels.autosave.faults.peek();
    const items = visibleIn(labels.autosave.regions.peek(), part.fromMs, part.toMs).map((region) => ({
      ...region,
      isSuggestion: false,
      isFaulty: faults.has(region.key),
    }));
    for (const { id, type, startMs, endMs } of suggestions.peek())
      if (endMs >= part.fromMs && startMs <= part.toMs)
        items.push({ ...noRegion, key: id, type, startMs, endMs, isSuggestion: true, isFaulty: false });
    return items;
  };
  const sceneOf = (part: Range): Scene => ({
    range: part,
    items: itemsIn(part),
    selected: selected.peek(),
    laneOf: new Map(types.peek().map((name, lane) => [name, lane])),
  });

  function drawWave(): void {
    const [context, { width, height }] = cleared(canvases.wave);
    const part = range.peek();
    paintRuler(context, part, width, palette);
    context.save();
    context.translate(0, rulerHeight);
    const below = { width, height: height - rulerHeight };
    paintShades(context, sceneOf(part), below, palette);
    const samples = lengthOf(part) <= sampledMs ? source.loaded(part) : undefined;
    const count = Math.max(1, Math.round(width));
    if (samples !== undefined) paintWave(context, columnsOfSamples(samples, part, count), below, palette.ink);
    else if (peaks !== undefined) paintWave(context, columnsOf(peaks, part, count), below, palette.ink);
    context.restore();
  }

  function drawLanes(): void {
    const [context, area] = cleared(canvases.lanes);
    paintLanes(context, sceneOf(range.peek()), area, palette);
  }

  function drawOverview(): void {
    const [context, area] = cleared(canvases.overview);
    if (peaks !== undefined) {
      const key = `${area.width} ${area.height} ${palette.faint}`;
      if (overviewWave?.key !== key) {
        const canvas = document.createElement("canvas");
        canvas.width = canvases.overview.width;
        canvas.height = canvases.overview.height;
        const ratio = canvas.width / area.width;
        const own = canvas.getContext("2d");
        own?.scale(ratio, ratio);
        if (own)
          paintWave(own, columnsOf(peaks, whole, Math.max(1, Math.round(area.width))), area, palette.faint);
        overviewWave = { key, canvas };
      }
      context.drawImage(overviewWave.canvas, 0, 0, area.width, area.height);
    }
    paintOverview(context, { ...sceneOf(whole), visible: range.peek() }, area, palette);
  }

  function drawSpectrogram(): void {
    const [context, { width, height }] = cleared(canvases.spectrogram);
    if (picture === undefined || note.peek() !== undefined) return;
    // The picture of the range before, until the one of this range is computed.
    const part = range.peek();
    const from = ((picture.range.fromMs - part.fromMs) / lengthOf(part)) * width;
    context.imageSmoothingEnabled = false;
    context.drawImage(picture.image, from, 0, (lengthOf(picture.range) / lengthOf(part)) * width, height);
  }

  const spectrogram = makeSpectrogramWorker((answer, part) => {
    if (isDisposed) return;
    const image = document.createElement("canvas");
    image.width = answer.width;
    image.height = answer.height;
    image.getContext("2d")?.putImageData(new ImageData(answer.pixels, answer.width, answer.height), 0, 0);
    picture = { range: part, image };
    soon(drawSpectrogram);
  });

  let loading: ReturnType<typeof setTimeout> | undefined;
  async function loadSamples(): Promise<void> {
    const part = range.peek();
    try {
      const samples = await source.load(part);
      // Another range is visible by now, and has its own note and picture.
      if (isDisposed || range.peek() !== part) return;
      note.value = samples === undefined ? source.why : undefined;
      topHz.value = samples === undefined ? undefined : samples.rate / 2;
      samplesCame.value++;
      const { clientWidth: width, clientHeight: height } = canvases.spectrogram;
      if (samples !== undefined && height > 0) spectrogram.ask(samples, part, Math.min(1600, width), height);
    } catch {
      if (!isDisposed && range.peek() === part)
        note.value = "The audio could not be loaded. Move or zoom to try again.";
    }
  }

  const stops = [
    effect(() => {
      theme.value;
      scheme.value;
      // After the colours of the document have changed.
      soon(() => {
        palette = paletteOf(canvases.wave);
        for (const draw of [drawWave, drawLanes, drawOverview]) draw();
      });
    }),
    effect(() => {
      subscribe(labels.autosave.regions, labels.autosave.faults, suggestions, selected, types, range, size);
      soon(drawLanes);
      soon(drawOverview);
      soon(drawWave);
    }),
    effect(() => {
      samplesCame.value;
      soon(drawWave);
    }),
    effect(() => {
      note.value;
      soon(drawSpectrogram);
    }),
    effect(() => {
      size.value;
      const part = range.value;
      soon(drawSpectrogram);
      clearTimeout(loading);
      if (lengthOf(part) > longestSpectrogramMs) note.value = "Zoom in to see the spectrogram";
      else loading = setTimeout(() => void loadSamples(), 120);
    }),
  ];

  return {
    note,
    topHz,
    dispose() {
      isDisposed = true;
      for (const stop of stops) stop();
      clearTimeout(loading);
      cancelAnimationFrame(frame);
      observer.disconnect();
      dark.removeEventListener("change", onScheme);
      spectrogram.dispose();
    },
  };
}

const noRegion = { confidence: 1, annotator: null, extraData: {} };

const subscribe = (...signals: readonly { readonly value: unknown }[]) => {
  for (const { value } of signals) void value;
};

/** The canvas in the size that it has on the page, empty, with the units of CSS. */
function cleared(canvas: HTMLCanvasElement): [Context, Size] {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser has no canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, { width, height }];
}

export const lanesHeight = (count: number) => Math.max(1, count) * laneHeight;

/** Canvases need colours, and the tokens are pairs of light and dark: an element resolves them. */
function paletteOf(near: HTMLElement): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  near.parentElement?.append(probe);
  const color = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    ink: color("--ink-2"),
    faint: color("--ink-3"),
    line: color("--line-strong"),
    accent: color("--accent"),
    bad: color("--bad"),
    sunken: color("--sunken"),
    types: Array.from({ length: typeColors }, (_, i) => color(`--type-${i}`)),
  };
  probe.remove();
  return palette;
}

function makeSpectrogramWorker(done: (picture: Picture, range: Range) => void) {
  let worker: Worker | undefined;
  let nextId = 0;
  let asked: Range | undefined;
  return {
    ask(
      samples: NonNullable<ReturnType<AudioSource["loaded"]>>,
      range: Range,
      width: number,
      height: number,
    ) {
      worker ??= new Worker(trusted(workerUrl), { type: "module" });
      worker.onmessage = ({ data }: MessageEvent<{ id: number; picture: Picture }>) => {
        // Older pictures come too late.
        if (data.id === nextId && asked !== undefined) done(data.picture, asked);
      };
      asked = range;
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      worker.postMessage({
        id: ++nextId,
        samples,
        range,
        width: Math.max(1, Math.round(width)),
        height: Math.max(1, Math.round(height * ratio)),
      });
    },
    dispose: () => worker?.terminate(),
  };
}
