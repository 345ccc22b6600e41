// Computes spectrograms outside of the page's thread. Called by spectrogram-view.ts.
import type { Samples } from "./peaks.ts";
import type { Range } from "./range.ts";
import { spectrogramOf } from "./spectrogram.ts";

export interface Request {
  readonly id: number;
  readonly samples: Samples;
  readonly range: Range;
  readonly width: number;
  readonly height: number;
}

self.onmessage = ({ data: { id, samples, range, width, height } }: MessageEvent<Request>) => {
  const picture = spectrogramOf(samples, range, width, height);
  self.postMessage({ id, picture }, { transfer: [picture.pixels.buffer] });
};
