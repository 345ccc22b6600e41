// The columns of a drawn waveform, from the peaks that the service keeps. Pure.
import type { Waveform } from "../../../client/schema.ts";

export interface Column {
  /** -1 to 1. */
  readonly low: number;
  readonly high: number;
}

type Peaks = Pick<Waveform, "channels" | "sample_rate" | "samples_per_pixel" | "length" | "data">;

/** Milliseconds that the peaks cover. */
export const lengthMs = ({ length, samples_per_pixel, sample_rate }: Peaks) =>
  (length * samples_per_pixel * 1000) / sample_rate;

/** One column per pixel of `width`, for the part from `fromMs` to `toMs`; the loudest channel counts. */
export function columnsOf(peaks: Peaks, width: number, fromMs: number, toMs: number): readonly Column[] {
  const perMs = peaks.sample_rate / 1000 / peaks.samples_per_pixel;
  return Array.from({ length: width }, (_, x) => {
    const begin = Math.floor((fromMs + ((toMs - fromMs) * x) / width) * perMs);
    const end = Math.ceil((fromMs + ((toMs - fromMs) * (x + 1)) / width) * perMs);
    let [low, high] = [0, 0];
    for (let pixel = Math.max(0, begin); pixel < Math.min(peaks.length, Math.max(begin + 1, end)); pixel++)
      for (let channel = 0; channel < peaks.channels; channel++) {
        const at = (pixel * peaks.channels + channel) * 2;
        low = Math.min(low, peaks.data[at] ?? 0);
        high = Math.max(high, peaks.data[at + 1] ?? 0);
      }
    return { low: low / 128, high: high / 128 };
  });
}

/** A place in the picture as a time, and the other way round. */
export const timeAt = (x: number, width: number, fromMs: number, toMs: number) =>
  fromMs + (Math.min(width, Math.max(0, x)) / width) * (toMs - fromMs);

export const placeOf = (ms: number, width: number, fromMs: number, toMs: number) =>
  ((ms - fromMs) / (toMs - fromMs)) * width;

/** The stretch that is nearest to a time: the one that contains it, or else the one with the nearest edge. */
export function nearest<T extends { readonly start_ms: number; readonly end_ms: number }>(
  list: readonly T[],
  ms: number,
): T | undefined {
  const distance = ({ start_ms, end_ms }: T) => Math.max(start_ms - ms, ms - end_ms, 0);
  return list.reduce<T | undefined>(
    (best, item) => (best === undefined || distance(item) < distance(best) ? item : best),
    undefined,
  );
}

/** Where the picture is: all of the recording, or a part around a chosen time. */
export function windowOf(durationMs: number, zoom: number, centreMs: number): readonly [number, number] {
  const span = durationMs / zoom;
  const from = Math.min(Math.max(0, centreMs - span / 2), durationMs - span);
  return [from, from + span];
}
