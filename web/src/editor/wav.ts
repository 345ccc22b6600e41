// Reads parts of WAV files: where the samples of a time are, and what they say. Pure; files come from anywhere, so nothing
// is assumed of them. Used by audio-source.ts.

export interface WavFormat {
  readonly rate: number;
  readonly channels: number;
  readonly kind: "pcm8" | "pcm16" | "pcm24" | "pcm32" | "float32";
  readonly bytesPerFrame: number;
  readonly dataFrom: number;
  readonly dataBytes: number;
}

/** Reads the first bytes of a file; undefined: no WAV, or a kind that is not read in parts. */
export function wavFormatOf(bytes: ArrayBuffer, fileBytes: number): WavFormat | undefined {
  const view = new DataView(bytes);
  const tag = (at: number) =>
    at + 4 <= view.byteLength
      ? String.fromCharCode(
          view.getUint8(at),
          view.getUint8(at + 1),
          view.getUint8(at + 2),
          view.getUint8(at + 3),
        )
      : "";
  if ((tag(0) !== "RIFF" && tag(0) !== "RF64") || tag(8) !== "WAVE") return undefined;
  let format: Omit<WavFormat, "dataFrom" | "dataBytes"> | undefined;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const size = view.getUint32(at + 4, true);
    if (tag(at) === "fmt " && at + 24 <= view.byteLength) format = formatOf(view, at + 8, size);
    if (tag(at) === "data") {
      if (format === undefined) return undefined;
      const dataFrom = at + 8;
      const rest = Math.max(0, fileBytes - dataFrom);
      // Recorders that were interrupted leave 0 or the largest number; RF64 has its length elsewhere.
      const dataBytes = size === 0 || size > rest ? rest : size;
      return { ...format, dataFrom, dataBytes };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function formatOf(
  view: DataView,
  at: number,
  size: number,
): Omit<WavFormat, "dataFrom" | "dataBytes"> | undefined {
  let code = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bytesPerFrame = view.getUint16(at + 12, true);
  const bits = view.getUint16(at + 14, true);
  // WAVE_FORMAT_EXTENSIBLE has the code in its extension.
  if (code === 0xfffe && size >= 40 && at + 26 <= view.byteLength) code = view.getUint16(at + 24, true);
  const kinds = { 8: "pcm8", 16: "pcm16", 24: "pcm24", 32: "pcm32" } as const;
  const kind: WavFormat["kind"] | undefined =
    code === 1 ? kinds[bits as 8] : code === 3 && bits === 32 ? "float32" : undefined;
  const isPlausible =
    channels > 0 &&
    channels <= 64 &&
    rate >= 1_000 &&
    rate <= 768_000 &&
    bytesPerFrame === (channels * bits) / 8;
  return kind === undefined || !isPlausible ? undefined : { rate, channels, kind, bytesPerFrame };
}

/** First and last byte of a part, as the header Range has them, and the time at which it begins. */
export function byteRangeOf(
  { rate, bytesPerFrame, dataFrom, dataBytes }: WavFormat,
  fromMs: number,
  toMs: number,
): { first: number; last: number; fromMs: number } | undefined {
  const frames = Math.floor(dataBytes / bytesPerFrame);
  const from = Math.max(0, Math.floor((fromMs / 1000) * rate));
  const to = Math.min(frames, Math.ceil((toMs / 1000) * rate));
  if (from >= to) return undefined;
  return {
    first: dataFrom + from * bytesPerFrame,
    last: dataFrom + to * bytesPerFrame - 1,
    fromMs: (from / rate) * 1000,
  };
}

/** The mean of the channels, -1 to 1. */
export function samplesOf(bytes: ArrayBuffer, { kind, channels, bytesPerFrame }: WavFormat): Float32Array {
  const view = new DataView(bytes);
  const frames = Math.floor(bytes.byteLength / bytesPerFrame);
  const width = bytesPerFrame / channels;
  const read = readers[kind];
  const samples = new Float32Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(view, frame * bytesPerFrame + channel * width);
    samples[frame] = sum / channels;
  }
  return samples;
}

const readers: Record<WavFormat["kind"], (view: DataView, at: number) => number> = {
  pcm8: (view, at) => (view.getUint8(at) - 128) / 128,
  pcm16: (view, at) => view.getInt16(at, true) / 32_768,
  pcm24: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 8_388_608,
  pcm32: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  float32: (view, at) => view.getFloat32(at, true),
};
