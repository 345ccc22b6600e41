// The waveform of a file with the detections in lanes, one per type. The list beside it is its twin for keys and for
// people who do not see it.
import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Detection, InferenceFile, Waveform } from "../../../../client/schema.ts";
import { ApiError, api, body } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { onColors } from "../../chart/paint.ts";
import { IconButton } from "../../components/button.tsx";
import { exactly } from "../../listening/filter.ts";
import { lengthMs, nearest, placeOf, timeAt, windowOf } from "../../listening/peaks.ts";
import { positionMs } from "../../listening/player.ts";
import { drawWave, heightFor } from "./draw-wave.ts";

/** Null: there are no peaks, or not any more. */
async function load({ dataset_id, audio_file_id }: InferenceFile): Promise<Waveform | null> {
  if (dataset_id === null || audio_file_id === null) return null;
  return await body(
    api.GET("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/waveform", {
      params: { path: { dataset_id, audio_file_id } },
    }),
  ).catch((error: unknown) => {
    if (error instanceof ApiError && [404, 409].includes(error.status)) return null;
    throw error;
  });
}

const mostZoom = 64;

export function WaveView({
  file,
  types,
  shown,
  chosen,
  onChoose,
}: {
  file: InferenceFile;
  types: readonly string[];
  shown: readonly Detection[];
  chosen: string | undefined;
  onChoose: (detection: Detection) => void;
}) {
  const peaks = useResource(`waveform/${file.audio_file_id ?? file.id}`, () => load(file)).data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [colors, setColors] = useState(0);
  const ends = shown.reduce((most, { end_ms }) => Math.max(most, end_ms), 1);
  const durationMs = Math.max(1, file.duration_ms ?? (peaks ? lengthMs(peaks) : ends));
  const focus = shown.find(({ id }) => id === chosen);
  const [from, to] = windowOf(
    durationMs,
    zoom,
    focus === undefined ? durationMs / 2 : (focus.start_ms + focus.end_ms) / 2,
  );
  const height = heightFor(types.length);
  useEffect(() => {
    const box = canvas.current?.parentElement;
    if (!box) return;
    const sizes = new ResizeObserver(() => setWidth(box.clientWidth));
    sizes.observe(box);
    const stop = onColors(() => setColors((n) => n + 1));
    return () => {
      sizes.disconnect();
      stop();
    };
  }, []);
  useEffect(() => {
    if (canvas.current !== null && width > 0)
      drawWave(canvas.current, { peaks: peaks ?? undefined, types, shown, chosen, from, to, width });
  }, [peaks, types.join("\n"), shown, chosen, from, to, width, colors]);
  // The line of the present place moves without drawing the rest anew.
  useEffect(
    () =>
      effect(() => {
        const ms = positionMs.value;
        const line = head.current;
        if (line === null) return;
        const isSeen = ms !== undefined && ms >= from && ms <= to;
        line.hidden = !isSeen;
        if (isSeen) line.style.transform = `translateX(${placeOf(ms, width, from, to)}px)`;
      }),
    [from, to, width],
  );
  return (
    <figure class="wave-view">
      <div class="wave-box">
        <canvas
          ref={canvas}
          height={height}
          role="img"
          aria-label={`Waveform of ${file.filename} with ${plural(shown.length, "detection")}; the list below has each of them`}
          onClick={(event) => {
            const hit = nearest(shown, timeAt(event.offsetX, width, from, to));
            if (hit !== undefined) onChoose(hit);
          }}
        />
        <div ref={head} class="wave-head" hidden />
      </div>
      <figcaption class="row apart tiny muted">
        <span class="number">{exactly(Math.round(from))}</span>
        <span class="row">
          {peaks === null && "There is no waveform of this file. "}
          <IconButton
            isSmall
            icon="minus"
            label="Zoom out"
            disabled={zoom === 1}
            onClick={() => setZoom(zoom / 2)}
          />
          <span class="number">{zoom}×</span>
          <IconButton
            isSmall
            icon="plus"
            label="Zoom in on the chosen detection"
            disabled={zoom === mostZoom}
            onClick={() => setZoom(zoom * 2)}
          />
        </span>
        <span class="number">{exactly(Math.round(to))}</span>
      </figcaption>
    </figure>
  );
}
