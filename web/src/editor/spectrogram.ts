// Computes a spectrogram as an image: a fast Fourier transform per column, loudness as colour. Pure; runs in
// spectrogram.worker.ts.
import type { Samples } from "./peaks.ts";
import { lengthOf, type Range } from "./range.ts";

/** In-place radix-2 transform; lengths are powers of two. */
export function fft(re: Float32Array, im: Float32Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    [re[i], re[j]] = [re[j] ?? 0, re[i] ?? 0];
    [im[i], im[j]] = [im[j] ?? 0, im[i] ?? 0];
  }
  for (let length = 2; length <= n; length <<= 1) {
    const half = length >> 1;
    const angle = (-2 * Math.PI) / length;
    for (let k = 0; k < half; k++) {
      const [c, s] = [Math.cos(angle * k), Math.sin(angle * k)];
      for (let i = k; i < n; i += length) {
        const j = i + half;
        const [a = 0, b = 0, x = 0, y = 0] = [re[i], im[i], re[j], im[j]];
        const [tr, ti] = [x * c - y * s, x * s + y * c];
        re[j] = a - tr;
        im[j] = b - ti;
        re[i] = a + tr;
        im[i] = b + ti;
      }
    }
  }
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row from the highest frequency down. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
}

/** Quieter than this is the darkest colour. */
const floorDb = -90;

/** The window is long when much is visible, and short when little is, so that clicks stay narrow. */
export function windowLength(range: Range, rate: number): number {
  const wanted = Math.min(0.032, Math.max(0.004, lengthOf(range) / 1000 / 60)) * rate;
  return Math.min(4096, Math.max(64, 2 ** Math.round(Math.log2(wanted))));
}

export function spectrogramOf(samples: Samples, range: Range, width: number, height: number): Picture {
  const { data, rate, fromMs } = samples;
  const size = windowLength(range, rate);
  const half = size / 2;
  const hann = Float32Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
  const [re, im] = [new Float32Array(size), new Float32Array(size)];
  const pixels = new Uint8ClampedArray(width * height * 4);
  const first = ((range.fromMs - fromMs) / 1000) * rate;
  const perColumn = ((lengthOf(range) / 1000) * rate) / width;
  const db = new Float32Array(half);
  for (let x = 0; x < width; x++) {
    const from = Math.round(first + (x + 0.5) * perColumn - half);
    for (let i = 0; i < size; i++) re[i] = (data[from + i] ?? 0) * (hann[i] ?? 0);
    im.fill(0);
    fft(re, im);
    for (let bin = 0; bin < half; bin++) {
      const [a = 0, b = 0] = [re[bin], im[bin]];
      // The window halves the amplitude, and half of it is in the negative frequencies.
      db[bin] = 10 * Math.log10((a * a + b * b) / ((size / 4) * (size / 4)) + 1e-12);
    }
    for (let y = 0; y < height; y++) {
      // A pixel shows the loudest of its bins, so that no thin line is lost.
      const low = Math.floor(((height - 1 - y) / height) * half);
      const high = Math.max(low + 1, Math.floor(((height - y) / height) * half));
      let loudest = floorDb;
      for (let bin = low; bin < high; bin++) loudest = Math.max(loudest, db[bin] ?? floorDb);
      paint(pixels, (y * width + x) * 4, 1 - loudest / floorDb);
    }
  }
  return { width, height, pixels };
}

/** From night blue over petrol to warm white; lightness grows with loudness, so it can be read without colours. */
const stops = [
  [16, 18, 24],
  [18, 52, 74],
  [16, 110, 124],
  [104, 178, 136],
  [238, 206, 120],
  [255, 250, 238],
] as const;

function paint(pixels: Uint8ClampedArray, at: number, loudness: number): void {
  const place = Math.min(1, Math.max(0, loudness)) * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(place));
  const [a, b] = [stops[below] ?? stops[0], stops[below + 1] ?? stops[0]];
  const share = place - below;
  pixels[at] = a[0] + (b[0] - a[0]) * share;
  pixels[at + 1] = a[1] + (b[1] - a[1]) * share;
  pixels[at + 2] = a[2] + (b[2] - a[2]) * share;
  pixels[at + 3] = 255;
}
