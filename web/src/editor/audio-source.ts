// Samples of parts of an audio file. WAV files are fetched in blocks, so only what is looked at is loaded; other formats
// are decoded as a whole by the browser, if they are short enough. Called by the views of the editor.
import { api, body } from "../app/api.ts";
import type { Samples } from "./peaks.ts";
import type { Range } from "./range.ts";
import type { Place } from "./steps.ts";
import { byteRangeOf, samplesOf, type WavFormat, wavFormatOf } from "./wav.ts";

export interface AudioSource {
  /** The signed address for players; it is valid for minutes. */
  url(): Promise<string>;
  /** Samples that cover the range; undefined: the browser cannot have them, and `why` says so. */
  load(range: Range): Promise<Samples | undefined>;
  /** The same, if they are there already. */
  loaded(range: Range): Samples | undefined;
  readonly why: string | undefined;
}

const blockMs = 5_000;
const mostBlocks = 40;
/** Longer or larger files are not decoded as a whole: it takes the memory of the page. */
const decodableMs = 15 * 60_000;
const decodableBytes = 40_000_000;
/** Enough for a spectrogram of a voice, and a third of the memory. */
const decodedRate = 24_000;
const headerBytes = 65_536;
/** The player asks for the same address without an Origin, and the cached response would lack the header that allows us to read it. */
const uncached: RequestInit = { cache: "no-store" };

export function makeAudioSource(
  place: Pick<Place, "datasetId" | "fileId">,
  { sizeBytes, durationMs }: { readonly sizeBytes: number; readonly durationMs: number },
): AudioSource {
  let signed: { url: string; expiresAt: number } | undefined;
  let kind: Promise<WavFormat | Samples | undefined> | undefined;
  let known: WavFormat | Samples | undefined;
  let why: string | undefined;
  const blocks = new Map<number, Samples>();
  const pending = new Map<number, Promise<Samples>>();

  async function url(): Promise<string> {
    if (signed === undefined || signed.expiresAt - Date.now() < 60_000) {
      const download = await body(
        api.GET("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/download", {
          params: { path: { dataset_id: place.datasetId, audio_file_id: place.fileId } },
        }),
      );
      signed = { url: download.url, expiresAt: Date.parse(download.expires_at) };
    }
    return signed.url;
  }

  async function bytes(first: number, last: number): Promise<ArrayBuffer> {
    const response = await fetch(await url(), { ...uncached, headers: { Range: `bytes=${first}-${last}` } });
    if (response.status === 206) return await response.arrayBuffer();
    // The whole file would come.
    await response.body?.cancel();
    throw new Error(`the object store answered ${response.status} to a request for a part of the file`);
  }

  async function open(): Promise<WavFormat | Samples | undefined> {
    const head = await bytes(0, Math.min(headerBytes, sizeBytes) - 1);
    const wav = wavFormatOf(head, sizeBytes);
    if (wav !== undefined) return wav;
    if (durationMs > decodableMs || sizeBytes > decodableBytes) {
      why =
        "The browser decodes files as a whole up to 15 minutes and 40 MB, except for WAV files that it can read in parts";
      return undefined;
    }
    const response = await fetch(await url(), uncached);
    if (!response.ok) throw new Error(`the object store answered ${response.status}`);
    const context = new OfflineAudioContext(1, 1, decodedRate);
    const decoded = await context.decodeAudioData(await response.arrayBuffer());
    return { data: mono(decoded), rate: decoded.sampleRate, fromMs: 0 };
  }

  /** The blocks that were wanted last stay. */
  function remember(block: number, samples: Samples): Samples {
    blocks.delete(block);
    blocks.set(block, samples);
    const oldest = blocks.keys().next().value;
    if (blocks.size > mostBlocks && oldest !== undefined) blocks.delete(oldest);
    return samples;
  }

  async function loadBlock(wav: WavFormat, block: number): Promise<Samples> {
    const part = byteRangeOf(wav, block * blockMs, (block + 1) * blockMs);
    const data = part === undefined ? new Float32Array() : samplesOf(await bytes(part.first, part.last), wav);
    return remember(block, { data, rate: wav.rate, fromMs: part?.fromMs ?? block * blockMs });
  }

  function loaded(range: Range): Samples | undefined {
    if (known === undefined || "data" in known) return known;
    const parts: Samples[] = [];
    for (const block of blocksOf(range)) {
      const part = blocks.get(block);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return joined(parts, known.rate);
  }

  return {
    url,
    loaded,
    get why() {
      return why;
    },
    async load(range) {
      try {
        kind ??= open();
        known = await kind;
        if (known === undefined || "data" in known) return known;
        const wav = known;
        // Joined from the answers: those for other ranges may push blocks of this one out meanwhile.
        const parts = await Promise.all(
          blocksOf(range).map((block) => {
            const there = blocks.get(block);
            if (there !== undefined) return remember(block, there);
            const waiting = pending.get(block) ?? loadBlock(wav, block).finally(() => pending.delete(block));
            pending.set(block, waiting);
            return waiting;
          }),
        );
        return joined(parts, wav.rate);
      } catch (error) {
        // The next range tries again, with a new address.
        signed = undefined;
        if (known === undefined) kind = undefined;
        throw error;
      }
    },
  };
}

function blocksOf({ fromMs, toMs }: Range): number[] {
  const first = Math.max(0, Math.floor(fromMs / blockMs));
  const last = Math.max(first, Math.ceil(toMs / blockMs) - 1);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function joined(parts: readonly Samples[], rate: number): Samples {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const data = new Float32Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  return { data, rate, fromMs: first?.fromMs ?? 0 };
}

function mono(buffer: AudioBuffer): Float32Array {
  const sum = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel++) {
    const data = buffer.getChannelData(channel);
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (data[i] ?? 0) / buffer.numberOfChannels;
  }
  return sum;
}
