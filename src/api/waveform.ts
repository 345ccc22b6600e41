// Reduces the resolution of a stored waveform by merging adjacent pairs of minimum and maximum. Called by
// routes/audio-content.ts.
import type { z } from "zod";
import type { waveform } from "../schemas/audio-file.ts";

type Waveform = z.infer<typeof waveform>;

/**
 * Returns the waveform with at least `samplesPerPixel` samples per pixel: a multiple of the stored resolution, never
 * finer.
 */
export function coarser(stored: Waveform, samplesPerPixel: number): Waveform {
  const factor = Math.max(1, Math.ceil(samplesPerPixel / stored.samples_per_pixel));
  if (factor === 1) return stored;
  const { channels } = stored;
  const length = Math.ceil(stored.length / factor);
  const data: number[] = [];
  for (let pixel = 0; pixel < length; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      let min = 127;
      let max = -128;
      for (let i = pixel * factor; i < Math.min((pixel + 1) * factor, stored.length); i++) {
        const at = (i * channels + channel) * 2;
        min = Math.min(min, stored.data[at] ?? 0);
        max = Math.max(max, stored.data[at + 1] ?? 0);
      }
      data.push(min, max);
    }
  }
  return { ...stored, samples_per_pixel: stored.samples_per_pixel * factor, length, data };
}
