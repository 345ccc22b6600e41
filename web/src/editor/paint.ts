// Draws waveforms, rulers, lanes and the overview on canvases. It knows no state: its arguments say what to draw.
import type { Columns } from "./peaks.ts";
import { lengthOf, marksOf, type Range } from "./range.ts";
import type { Region } from "./region.ts";
import { clockOf } from "./times.ts";

export const laneHeight = 24;
export const rulerHeight = 20;

/** Colours of the theme, as canvases need them. */
export interface Palette {
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly bad: string;
  readonly sunken: string;
  readonly types: readonly string[];
}

export type Context = CanvasRenderingContext2D;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const xOf = (range: Range, width: number, ms: number) =>
  ((ms - range.fromMs) / lengthOf(range)) * width;

export const colorOf = ({ types }: Palette, lane: number): string =>
  types[lane % Math.max(1, types.length)] ?? "currentcolor";

export function paintWave(context: Context, columns: Columns, { width, height }: Size, color: string): void {
  const middle = height / 2;
  const scale = middle * 0.94;
  const count = columns.length / 2;
  const step = width / count;
  context.fillStyle = color;
  context.beginPath();
  for (let x = 0; x < count; x++) {
    const [low = 0, high = 0] = [columns[x * 2], columns[x * 2 + 1]];
    const top = middle - high * scale;
    context.rect(x * step, top, step, Math.max(1, (high - low) * scale));
  }
  context.fill();
}

export function paintRuler(context: Context, range: Range, width: number, palette: Palette): void {
  const { times, digits } = marksOf(range, width);
  context.fillStyle = palette.faint;
  context.strokeStyle = palette.line;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.beginPath();
  for (const at of times) {
    const x = Math.round(xOf(range, width, at)) + 0.5;
    context.moveTo(x, rulerHeight - 6);
    context.lineTo(x, rulerHeight);
    context.fillText(clockOf(at, digits), x + 4, rulerHeight / 2);
  }
  context.stroke();
}

export interface Item extends Pick<Region, "key" | "type" | "startMs" | "endMs"> {
  readonly isSuggestion: boolean;
  readonly isFaulty: boolean;
}

export interface Scene {
  readonly range: Range;
  readonly items: readonly Item[];
  readonly selected: string | undefined;
  readonly laneOf: ReadonlyMap<string, number>;
}

/** The regions as shades behind a waveform; the selected one with its edges. */
export function paintShades(context: Context, scene: Scene, { width, height }: Size, palette: Palette): void {
  const { range, items, selected, laneOf } = scene;
  for (const item of items) {
    const isSelected = item.key === selected;
    if (item.isSuggestion && !isSelected) continue;
    const from = xOf(range, width, item.startMs);
    const to = Math.max(from + 1, xOf(range, width, item.endMs));
    context.fillStyle = colorOf(palette, laneOf.get(item.type) ?? 0);
    context.globalAlpha = isSelected ? 0.26 : 0.12;
    context.fillRect(from, 0, to - from, height);
  }
  context.globalAlpha = 1;
}

export function paintLanes(context: Context, scene: Scene, { width, height }: Size, palette: Palette): void {
  const { range, items, selected, laneOf } = scene;
  context.strokeStyle = palette.line;
  context.beginPath();
  for (let y = laneHeight; y < height; y += laneHeight) {
    context.moveTo(0, y - 0.5);
    context.lineTo(width, y - 0.5);
  }
  context.stroke();
  for (const item of items) {
    const lane = laneOf.get(item.type) ?? 0;
    const from = xOf(range, width, item.startMs);
    const length = Math.max(3, xOf(range, width, item.endMs) - from);
    const top = lane * laneHeight + 4;
    const isSelected = item.key === selected;
    context.fillStyle = colorOf(palette, lane);
    if (item.isSuggestion) {
      context.globalAlpha = 0.28;
      context.fillRect(from, top, length, laneHeight - 8);
      context.globalAlpha = 1;
      context.setLineDash([3, 2]);
      context.strokeStyle = colorOf(palette, lane);
      context.lineWidth = 1;
      context.strokeRect(from + 0.5, top + 0.5, Math.max(2, length - 1), laneHeight - 9);
      context.setLineDash([]);
    } else context.fillRect(from, top, length, laneHeight - 8);
    if (!isSelected && !item.isFaulty) continue;
    context.strokeStyle = item.isFaulty ? palette.bad : palette.ink;
    context.lineWidth = 2;
    context.strokeRect(from - 1, top - 2, length + 2, laneHeight - 4);
    context.lineWidth = 1;
  }
}

/** The whole file: where labels are, and what is visible. */
export function paintOverview(
  context: Context,
  scene: Scene & { readonly visible: Range },
  { width, height }: Size,
  palette: Palette,
): void {
  const { range, items, laneOf, visible } = scene;
  for (const item of items) {
    if (item.isSuggestion) continue;
    const from = xOf(range, width, item.startMs);
    context.fillStyle = colorOf(palette, laneOf.get(item.type) ?? 0);
    context.fillRect(from, height - 6, Math.max(1.5, xOf(range, width, item.endMs) - from), 5);
  }
  const from = xOf(range, width, visible.fromMs);
  const to = Math.max(from + 4, xOf(range, width, visible.toMs));
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.16;
  context.fillRect(from, 0, to - from, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(2, to - from - 2), height - 2);
  context.lineWidth = 1;
}
