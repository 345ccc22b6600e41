// The columns of the list of detections.
import type { Detection } from "../../../../client/schema.ts";
import { count } from "../../app/format.ts";
import { Meter } from "../../components/meter.tsx";
import type { Column } from "../../components/table.tsx";
import { exactly, stretchOf } from "../../listening/filter.ts";
import { PlayButton } from "../../listening/play-button.tsx";
import type { Recording } from "../../listening/player.ts";
import { TypeMark } from "../../listening/type-mark.tsx";

export const playId = (detectionId: string) => `play-${detectionId}`;

export function detectionColumns({
  recording,
  durationMs,
  types,
  onPlay,
}: {
  recording: Recording;
  durationMs: number | null;
  /** In the order of their colours. */
  types: readonly string[];
  onPlay: (id: string) => void;
}): readonly Column<Detection>[] {
  return [
    {
      id: "type",
      header: "Type",
      isFlexible: true,
      by: ({ artifact_type }) => artifact_type,
      cell: (detection) => (
        <span class="file-name">
          <PlayButton
            id={detection.id}
            domId={playId(detection.id)}
            label={`${detection.artifact_type} at ${exactly(detection.start_ms)}`}
            recording={recording}
            stretch={stretchOf(detection, durationMs)}
            onPlay={() => onPlay(detection.id)}
          />
          <TypeMark n={types.indexOf(detection.artifact_type)} />
          <span class="break">{detection.artifact_type}</span>
        </span>
      ),
    },
    {
      id: "start",
      header: "Start",
      isNumber: true,
      by: ({ start_ms }) => start_ms,
      cell: ({ start_ms }) => exactly(start_ms),
    },
    {
      id: "length",
      header: "Length",
      isNumber: true,
      descendsFirst: true,
      by: ({ start_ms, end_ms }) => end_ms - start_ms,
      cell: ({ start_ms, end_ms }) => `${count(end_ms - start_ms)} ms`,
    },
    {
      id: "confidence",
      header: "Confidence",
      descendsFirst: true,
      by: ({ confidence }) => confidence,
      cell: ({ confidence }) => (
        <span class="progress-cell">
          <Meter label="Confidence" value={confidence} max={1} text={confidence.toFixed(2)} isThin />
          <span class="number small">{confidence.toFixed(2)}</span>
        </span>
      ),
    },
  ];
}
