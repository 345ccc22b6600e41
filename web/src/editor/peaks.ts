// The waveform in columns of pixels, from the peaks of the service or from samples. Pure.
import { lengthOf, type Range } from "./range.ts";

export interface Peaks {
  /** Minimum and maximum in turn, -128 to 127. */
  readonly data: Int8Array;
  readonly msPerPair: number;
}

/** The layout that the service has: interleaved by channel. Channels are joined. */
export function peaksOf(waveform: {
  readonly data: readonly number[];
  readonly channels: number;
  readonly sample_rate: number;
  readonly samples_per_pixel: number;
  readonly length: number;
}): Peaks {
  const { data: given, channels, sample_rate: rate, samples_per_pixel: samples, length } = waveform;
  const msPerPair = (samples / rate) * 1000;
  if (channels === 1) return { data: Int8Array.from(given), msPerPair };
  const data = new Int8Array(length * 2);
  for (let pair = 0; pair < length; pair++) {
    let [low, high] = [127, -128];
    for (let channel = 0; channel < channels; channel++) {
      low = Math.min(low, given[(pair * channels + channel) * 2] ?? 0);
      high = Math.max(high, given[(pair * channels + channel) * 2 + 1] ?? 0);
    }
    data[pair * 2] = low;
    data[pair * 2 + 1] = high;
  }
  return { data, msPerPair };
}

/** Minimum and maximum of each column in turn, -1 to 1. */
export type Columns = Float32Array;

export function columnsOf({ data, msPerPair }: Peaks, range: Range, count: number): Columns {
  const columns = new Float32Array(count * 2);
  const pairs = data.length / 2;
  const perColumn = lengthOf(range) / count / msPerPair;
  const first = range.fromMs / msPerPair;
  for (let x = 0; x < count; x++) {
    const from = Math.floor(first + x * perColumn);
    const to = Math.max(from + 1, Math.floor(first + (x + 1) * perColumn));
    let [low, high] = [127, -128];
    for (let pair = Math.max(0, from); pair < Math.min(pairs, to); pair++) {
      low = Math.min(low, data[pair * 2] ?? 0);
      high = Math.max(high, data[pair * 2 + 1] ?? 0);
    }
    if (low > high) continue;
    columns[x * 2] = low / 128;
    columns[x * 2 + 1] = high / 128;
  }
  return columns;
}

/** Samples of a part of a recording. */
export interface Samples {
  readonly data: Float32Array;
  readonly rate: number;
  readonly fromMs: number;
}

export function columnsOfSamples({ data, rate, fromMs }: Samples, range: Range, count: number): Columns {
  const columns = new Float32Array(count * 2);
  const perColumn = ((lengthOf(range) / 1000) * rate) / count;
  const first = ((range.fromMs - fromMs) / 1000) * rate;
  for (let x = 0; x < count; x++) {
    const from = Math.floor(first + x * perColumn);
    // One sample more, so that neighbouring columns meet.
    const to = Math.max(from + 1, Math.floor(first + (x + 1) * perColumn)) + 1;
    let [low, high] = [2, -2];
    for (let i = Math.max(0, from); i < Math.min(data.length, to); i++) {
      const value = data[i] ?? 0;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low > high) continue;
    columns[x * 2] = low;
    columns[x * 2 + 1] = high;
  }
  return columns;
}
