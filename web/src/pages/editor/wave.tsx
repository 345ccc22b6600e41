// The pictures of the file with what lies over them: playhead, handles of the selected region, names of the lanes. Dragging
// has twins for the keyboard: the keys of the editor, the arrow keys of the handles, the fields of the region.
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AudioSource } from "../../editor/audio-source.ts";
import { type Controller, scrolled } from "../../editor/controller.ts";
import { laneHeight } from "../../editor/paint.ts";
import type { Peaks } from "../../editor/peaks.ts";
import { following, lengthOf, moved, zoomed } from "../../editor/range.ts";
import { regionAt } from "../../editor/region.ts";
import { clockOf, handleText } from "../../editor/times.ts";
import { lanesHeight, makeWaveView, type WaveView } from "../../editor/wave-view.ts";

/** A pointer that moves less has clicked. */
const clickPx = 4;

export function Wave({
  controller,
  peaks,
  source,
  filename,
  showsSpectrogram,
}: {
  controller: Controller;
  peaks: Peaks | undefined;
  source: AudioSource;
  filename: string;
  showsSpectrogram: boolean;
}) {
  const plot = useRef<HTMLDivElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  const wave = useRef<HTMLCanvasElement>(null);
  const spectrogram = useRef<HTMLCanvasElement>(null);
  const lanes = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<WaveView>();
  const [height, setHeight] = useState(160);
  const drag = useSignal<{ fromMs: number; toMs: number; type: string } | undefined>(undefined);
  const { range, types, player, durationMs } = controller;

  useEffect(() => {
    const [a, b, c, d] = [overview.current, wave.current, spectrogram.current, lanes.current];
    if (!a || !b || !c || !d) return;
    const made = makeWaveView({ overview: a, wave: b, spectrogram: c, lanes: d }, controller, peaks, source);
    setView(made);
    return made.dispose;
  }, [controller, peaks]);

  useEffect(() => {
    const element = plot.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const isZoom = event.ctrlKey || event.metaKey;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      // The wheel alone scrolls the page.
      if (!isZoom && Math.abs(sideways) < 1) return;
      event.preventDefault();
      const now = range.peek();
      if (isZoom)
        range.value = zoomed(now, Math.exp(-event.deltaY / 200), timeAt(event, element), durationMs);
      else scrolled(controller, (sideways / element.clientWidth) * lengthOf(now));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [controller]);

  const timeAt = (event: { readonly clientX: number }, element: HTMLElement) => {
    const { left, width } = element.getBoundingClientRect();
    const { fromMs } = range.peek();
    return fromMs + ((event.clientX - left) / Math.max(1, width)) * lengthOf(range.peek());
  };

  /** The lane at the height of a pointer; undefined above the lanes. */
  const laneAt = ({ clientY }: PointerEvent) => {
    const top = lanes.current?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY;
    return clientY < top ? undefined : types.peek()[Math.floor((clientY - top) / laneHeight)];
  };

  const onPointerDown = (event: PointerEvent) => {
    const element = plot.current;
    if (event.button !== 0 || element === null || (event.target as HTMLElement).closest("[role=slider]"))
      return;
    const fromMs = timeAt(event, element);
    const startX = event.clientX;
    const lane = laneAt(event);
    element.setPointerCapture(event.pointerId);
    const onMove = (move: PointerEvent) => {
      if (controller.why !== undefined || Math.abs(move.clientX - startX) < clickPx) return;
      const name = lane ?? controller.type.peek();
      drag.value = { fromMs, toMs: timeAt(move, element), type: name };
    };
    const onUp = () => {
      const made = drag.peek();
      end();
      if (made !== undefined)
        controller.add(
          made.type,
          controller.snapped(Math.min(made.fromMs, made.toMs)),
          controller.snapped(Math.max(made.fromMs, made.toMs)),
        );
      else click(fromMs, lane);
    };
    const end = () => {
      drag.value = undefined;
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", end);
    };
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", end);
  };

  const click = (ms: number, lane: string | undefined) => {
    const tolerance = (lengthOf(range.peek()) / Math.max(1, plot.current?.clientWidth ?? 1)) * 5;
    const regions = controller.document.autosave.regions.peek();
    const hit = lane === undefined ? undefined : regionAt(regions, lane, ms, tolerance);
    const suggestion =
      lane === undefined
        ? undefined
        : controller.suggestions
            .peek()
            .find(
              ({ type, startMs, endMs }) =>
                type === lane && ms >= startMs - tolerance && ms <= endMs + tolerance,
            );
    if (hit !== undefined || suggestion !== undefined) controller.select(hit?.key ?? suggestion?.id);
    else {
      controller.select(undefined);
      player.seek(ms);
    }
  };

  const centerOn = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const ms = ((event.clientX - left) / Math.max(1, width)) * durationMs;
    const now = range.peek();
    range.value = moved(now, ms - (now.fromMs + now.toMs) / 2, durationMs);
  };

  return (
    <div
      class="editor-wave"
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of the editor need a place for the focus.
      tabIndex={0}
      aria-label={`Waveform of ${filename}`}
      aria-describedby="editor-hint"
      data-wave
    >
      <canvas
        ref={overview}
        class="editor-overview"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          centerOn(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) centerOn(event);
        }}
      />
      <div class="editor-stage">
        <LaneNames controller={controller} />
        <div class="editor-plot" ref={plot} onPointerDown={onPointerDown}>
          <canvas ref={wave} class="editor-canvas" style={{ height: `${height}px` }} />
          <HeightHandle height={height} onHeight={setHeight} />
          <div class="editor-spectrogram" hidden={!showsSpectrogram}>
            <canvas ref={spectrogram} class="editor-canvas" />
            {view?.topHz.value !== undefined && (
              <span class="tiny top-hz">{Math.round(view.topHz.value / 100) / 10} kHz</span>
            )}
            {view?.note.value !== undefined && <p class="tiny">{view.note.value}</p>}
          </div>
          <canvas
            ref={lanes}
            class="editor-canvas"
            style={{ height: `${lanesHeight(types.value.length)}px` }}
          />
          <Playhead controller={controller} />
          <Begun controller={controller} />
          {drag.value !== undefined && (
            <Mark controller={controller} fromMs={drag.value.fromMs} toMs={drag.value.toMs} />
          )}
          <Handle controller={controller} edge="start" plot={plot} />
          <Handle controller={controller} edge="end" plot={plot} />
        </div>
      </div>
    </div>
  );
}

function LaneNames({ controller }: { controller: Controller }) {
  const { types, type } = controller;
  return (
    <fieldset class="lane-names">
      <legend class="visually-hidden">Type of new regions</legend>
      {types.value.map((name, i) => (
        <button
          key={name}
          type="button"
          title={name}
          aria-pressed={type.value === name}
          onClick={() => controller.chooseType(i)}
        >
          <span class={`type-mark type-${i % 8}`} aria-hidden="true">
            {i < 9 ? i + 1 : ""}
          </span>
          <span class="clip">{name}</span>
        </button>
      ))}
    </fieldset>
  );
}

/** Moves without rendering: sixty times a second while it plays. */
function Playhead({ controller }: { controller: Controller }) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      effect(() => {
        const { fromMs, toMs } = controller.range.value;
        const now = controller.player.timeMs.value;
        const share = (now - fromMs) / (toMs - fromMs);
        if (line.current === null) return;
        line.current.style.setProperty("--at", String(share));
        line.current.hidden = share < 0 || share > 1;
      }),
    [controller],
  );
  useEffect(() => {
    const { player, range, durationMs } = controller;
    let before = player.timeMs.peek();
    return effect(() => {
      const now = player.timeMs.value;
      const { fromMs, toMs } = range.peek();
      // Who has scrolled away from the playhead is left there.
      const wasVisible = before >= fromMs && before <= toMs;
      before = now;
      if (wasVisible && player.isPlaying.peek()) range.value = following(range.peek(), now, durationMs);
    });
  }, [controller]);
  return <div class="playhead" ref={line} aria-hidden="true" />;
}

function Begun({ controller }: { controller: Controller }) {
  const begun = controller.begunAt.value;
  if (begun === undefined) return null;
  const now = controller.player.timeMs.value;
  return <Mark controller={controller} fromMs={begun} toMs={Math.max(begun, now)} />;
}

/** A region that is being made. */
function Mark({ controller, fromMs, toMs }: { controller: Controller; fromMs: number; toMs: number }) {
  const range = controller.range.value;
  const share = (ms: number) => (ms - range.fromMs) / lengthOf(range);
  const [from, to] = [Math.max(0, share(Math.min(fromMs, toMs))), Math.min(1, share(Math.max(fromMs, toMs)))];
  if (to < from) return null;
  return <div class="region-mark" style={{ "--at": from, "--width": to - from }} aria-hidden="true" />;
}

const nudges: Readonly<Record<string, number>> = {
  ArrowLeft: -10,
  ArrowDown: -10,
  ArrowRight: 10,
  ArrowUp: 10,
  PageDown: -100,
  PageUp: 100,
};

function Handle({
  controller,
  edge,
  plot,
}: {
  controller: Controller;
  edge: "start" | "end";
  plot: { readonly current: HTMLDivElement | null };
}) {
  const { region, range, durationMs, why } = controller;
  const present = region.value;
  /** Where the pointer took the handle, and how far that is from the edge; it moves after a few pixels. */
  const grip = useRef({ x: 0, offsetMs: 0, moves: false });
  if (present === undefined) return null;
  const ms = edge === "start" ? present.startMs : present.endMs;
  const { fromMs } = range.value;
  const share = (ms - fromMs) / lengthOf(range.value);
  const timeAt = (event: PointerEvent) => {
    const { left, width } = plot.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return range.peek().fromMs + ((event.clientX - left) / Math.max(1, width)) * lengthOf(range.peek());
  };
  return (
    <div
      class={`region-handle ${edge}`}
      role="slider"
      tabIndex={0}
      aria-label={`${edge === "start" ? "Start" : "End"} of ${present.type}`}
      aria-orientation="horizontal"
      aria-valuemin={edge === "start" ? 0 : present.startMs}
      aria-valuemax={edge === "start" ? present.endMs : Math.floor(durationMs)}
      aria-valuenow={ms}
      aria-valuetext={handleText(edge, ms)}
      aria-readonly={why !== undefined}
      hidden={share < 0 || share > 1}
      style={{ "--at": share }}
      onKeyDown={(event) => {
        const by = nudges[event.key];
        if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        // Shift is for the last millisecond.
        controller.moveEdge(edge, ms + (event.shiftKey ? Math.sign(by) : by), "nudge");
      }}
      onPointerDown={(event) => {
        if (event.button !== 0 || why !== undefined) return;
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        grip.current = { x: event.clientX, offsetMs: ms - timeAt(event), moves: false };
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const held = grip.current;
        held.moves ||= Math.abs(event.clientX - held.x) >= clickPx;
        if (held.moves) controller.moveEdge(edge, timeAt(event) + held.offsetMs, "drag");
      }}
    />
  );
}

/** Makes the waveform taller. */
function HeightHandle({ height, onHeight }: { height: number; onHeight: (height: number) => void }) {
  const set = (next: number) => onHeight(Math.min(480, Math.max(80, next)));
  return (
    <div
      class="height-handle"
      role="separator"
      tabIndex={0}
      aria-label="Height of the waveform"
      aria-orientation="horizontal"
      aria-valuemin={80}
      aria-valuemax={480}
      aria-valuenow={height}
      aria-valuetext={`${height} pixels`}
      onKeyDown={(event) => {
        const by = { ArrowUp: -20, ArrowDown: 20 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        set(height + by);
      }}
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) set(height + event.movementY);
      }}
    />
  );
}

export const positionText = (ms: number, durationMs: number) =>
  `${clockOf(ms)} / ${clockOf(durationMs, durationMs >= 600_000 ? 0 : 1)}`;
