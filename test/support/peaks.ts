// The peaks of a recording as the worker writes them into the object store. Called by the tests of waveforms.

/** `data`: the least and the greatest sample of each 256 samples, of 8 bits. */
export const peaksText = (data: readonly number[]): string =>
  JSON.stringify({
    version: 2,
    channels: 1,
    sample_rate: 16_000,
    samples_per_pixel: 256,
    bits: 8,
    length: data.length / 2,
    data,
  });
