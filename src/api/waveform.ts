// Reads a stored waveform and reduces its resolution, in a worker thread: the 480,000 numbers of a long file would block
// the event loop for 100 ms. Made by app.ts, called by routes/audio-content.ts; the thread runs the same file.
import { Piscina } from "piscina";
import type { z } from "zod";
import { waveform } from "../schemas/audio-file.ts";
import { etagOf } from "./conditional.ts";
import type { ReadWaveform } from "./route.ts";

type Waveform = z.infer<typeof waveform>;

export function makeReadWaveform(): ReadWaveform {
  const threads = new Piscina({
    filename: import.meta.filename,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 10_000,
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  });
  return (task) => threads.run(task);
}

/** Runs in the thread. */
export default function readWaveform({
  bytes,
  samplesPerPixel,
}: Parameters<ReadWaveform>[0]): Awaited<ReturnType<ReadWaveform>> {
  // Untrusted input: a worker computed it from a file that a client uploaded.
  const stored = waveform.parse(JSON.parse(new TextDecoder().decode(bytes)));
  const body = JSON.stringify(coarser(stored, samplesPerPixel ?? stored.samples_per_pixel));
  return { body, etag: etagOf(body) };
}

/**
 * Returns the waveform with at least `samplesPerPixel` samples per pixel: a multiple of the stored resolution, never
 * finer.
 */
function coarser(stored: Waveform, samplesPerPixel: number): Waveform {
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
