// Snaps a time to where the signal crosses zero, so that a cut there does not click. Pure.
import type { Samples } from "./peaks.ts";

/** Returns the nearest crossing within `withinMs`, or the time itself if there is none or the samples are not there. */
export function nearestCrossing({ data, rate, fromMs }: Samples, timeMs: number, withinMs = 10): number {
  const at = ((timeMs - fromMs) / 1000) * rate;
  const reach = (withinMs / 1000) * rate;
  const first = Math.max(0, Math.ceil(at - reach));
  const last = Math.min(data.length - 2, Math.floor(at + reach));
  let best: number | undefined;
  for (let i = first; i <= last; i++) {
    const [here = 0, next = 0] = [data[i], data[i + 1]];
    // Silence is zero everywhere, and no place in it is better than another.
    if (here === next || (here !== 0 && here < 0 === next < 0 && next !== 0)) continue;
    const place = i + here / (here - next);
    if (best === undefined || Math.abs(place - at) < Math.abs(best - at)) best = place;
  }
  return best === undefined ? timeMs : fromMs + (best / rate) * 1000;
}
