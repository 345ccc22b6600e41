// Draws the waveform and the lanes of detections on a canvas. Called by wave-view.tsx.
import type { Detection, Waveform } from "../../../../client/schema.ts";
import { colorOf, seriesToken } from "../../chart/paint.ts";
import { columnsOf, placeOf } from "../../listening/peaks.ts";

const waveHeight = 96;
const laneHeight = 14;
const gap = 6;

export const heightFor = (lanes: number) => waveHeight + gap + lanes * laneHeight;

export interface Picture {
  readonly peaks: Waveform | undefined;
  readonly types: readonly string[];
  readonly shown: readonly Detection[];
  readonly chosen: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

export function drawWave(canvas: HTMLCanvasElement, picture: Picture): void {
  const { peaks, types, shown, chosen, from, to, width } = picture;
  const height = heightFor(types.length);
  const ratio = window.devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  const host = canvas.parentElement;
  if (context === null || host === null) return;
  context.scale(ratio, ratio);
  const middle = waveHeight / 2;

  const focus = shown.find(({ id }) => id === chosen);
  if (focus !== undefined) {
    const left = placeOf(focus.start_ms, width, from, to);
    context.fillStyle = colorOf(host, "--accent-soft");
    context.fillRect(left - 1, 0, Math.max(3, placeOf(focus.end_ms, width, from, to) - left + 2), height);
  }
  context.fillStyle = colorOf(host, "--ink-3");
  if (peaks === undefined) context.fillRect(0, middle, width, 1);
  else
    for (const [x, { low, high }] of columnsOf(peaks, Math.floor(width), from, to).entries()) {
      const top = middle - high * middle;
      context.fillRect(x, top, 1, Math.max(1, middle - low * middle - top));
    }

  const lanes = new Map(types.map((type, n) => [type, { n, color: colorOf(host, seriesToken(n)) }]));
  context.fillStyle = colorOf(host, "--line");
  for (const { n } of lanes.values())
    context.fillRect(0, waveHeight + gap + n * laneHeight + laneHeight / 2, width, 1);
  for (const detection of shown) {
    const lane = lanes.get(detection.artifact_type);
    if (lane === undefined || detection.end_ms < from || detection.start_ms > to) continue;
    const left = placeOf(detection.start_ms, width, from, to);
    const length = Math.max(2, placeOf(detection.end_ms, width, from, to) - left);
    context.fillStyle = lane.color;
    const isChosen = detection.id === chosen;
    const thickness = isChosen ? laneHeight - 2 : laneHeight - 6;
    const top = waveHeight + gap + lane.n * laneHeight + (laneHeight - thickness) / 2;
    context.fillRect(left, top, length, thickness);
  }
}
