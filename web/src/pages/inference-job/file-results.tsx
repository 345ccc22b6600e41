// The detections in one file: threshold and types to show, the waveform, the list, listening, exports, drafts.
import { useEffect, useState } from "preact/hooks";
import type { Detection, InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { sorted } from "../../app/table-state.ts";
import { Slider } from "../../components/slider.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { useModel } from "../../jobs/names.ts";
import {
  countsByType,
  filtered,
  neighbour,
  parseShare,
  reportedFrom,
  stretchOf,
} from "../../listening/filter.ts";
import { play, stop } from "../../listening/player.ts";
import { recordingOf } from "../../listening/recording.ts";
import { share } from "../../models/figures.ts";
import { detectionColumns, playId } from "./detection-columns.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { ToDraft } from "./to-draft.tsx";
import { TypeFilter } from "./type-filter.tsx";
import { WaveView } from "./wave-view.tsx";

const pageSize = 100;

/** All detections of the file in one answer, so that the slider needs no more. */
async function load({ id, inference_job_id }: InferenceFile): Promise<readonly Detection[]> {
  const found = await body(
    api.GET("/api/v1/inference-jobs/{inference_job_id}/export", {
      params: { path: { inference_job_id }, query: { format: "json", inference_file_id: id } },
    }),
  );
  return Array.isArray(found) ? found : [];
}

export function FileResults({ job, file }: { job: InferenceJob; file: InferenceFile }) {
  const detections = useResource(`inference-file/${file.id}/detections/${file.detection_count}`, () =>
    load(file),
  );
  return (
    <Shown resource={detections} what="the detections" lines={6}>
      {(all) => <View job={job} file={file} all={all} />}
    </Shown>
  );
}

function View({ job, file, all }: { job: InferenceJob; file: InferenceFile; all: readonly Detection[] }) {
  const asked = parseShare(query.value.get("min"), 0);
  const [min, setMin] = useState(asked);
  useEffect(() => setMin(asked), [asked]);
  const hidden = readHidden(query.value.get("hide"));
  const page = usePage();
  const sort = useSort(["type", "start", "length", "confidence"], { column: "start", isDescending: false });
  const [chosen, setChosen] = useState<string>();
  useEffect(() => stop, []);
  const counts = countsByType(all, min);
  const types = counts.map(({ type }) => type);
  const shown = filtered(all, { min, hidden });
  const metrics = useModel(job.model_id)?.eval_metrics ?? {};
  const floors = types
    .map((type) => [type, reportedFrom(type, job.config, metrics)] as const)
    .filter(([, from]) => from !== null);
  const recording = recordingOf(file);
  const columns = detectionColumns({
    recording,
    durationMs: file.duration_ms,
    types,
    onPlay: setChosen,
  });
  const by = columns.find(({ id }) => id === sort.column)?.by;
  const ordered = by === undefined ? shown : sorted(shown, by, sort.isDescending);
  const listen = (detection: Detection | undefined) => {
    if (detection === undefined) return;
    setChosen(detection.id);
    const at = Math.floor(ordered.indexOf(detection) / pageSize) + 1;
    if (at !== page) setQuery({ page: at === 1 ? undefined : String(at) });
    void play(detection.id, recording, stretchOf(detection, file.duration_ms));
    requestAnimationFrame(() => document.getElementById(playId(detection.id))?.focus());
  };
  const step = (by: 1 | -1) => listen(neighbour(ordered, chosen, by));
  useShortcut("j", "Listen to the next detection", () => step(1));
  useShortcut("k", "Listen to the detection before", () => step(-1));
  useShortcut("s", "Stop listening", stop);
  if (all.length === 0)
    return (
      <Empty isSmall title="Nothing found in this file">
        <p>
          The model reports only what reaches its thresholds. A new job with a lower threshold finds more, and
          errs more often.
        </p>
      </Empty>
    );
  const rows = ordered.slice((page - 1) * pageSize, page * pageSize);
  return (
    <div class="stack">
      <div class="result-tools">
        <Slider
          label="Lowest confidence"
          value={min}
          min={0}
          max={1}
          step={0.01}
          text={min.toFixed(2)}
          onValue={setMin}
          onDone={(value) => setQuery({ min: value === 0 ? undefined : String(value), page: undefined })}
        />
        <div class="row">
          <ExportMenu
            job={job}
            file={file}
            min={min}
            types={hidden.size === 0 ? [] : types.filter((type) => !hidden.has(type))}
          />
          <ToDraft job={job} file={file} min={min} />
        </div>
      </div>
      <TypeFilter counts={counts} hidden={hidden} />
      <p class="small muted" role="status">
        {count(shown.length)} of {plural(all.length, "detection")} shown
        {floors.map(([type, from], i) => (
          <span class="faint" key={type}>
            {i === 0 ? " · the job reported " : ", "}
            <bdi>{type}</bdi> from {share(from)}
          </span>
        ))}
      </p>
      <WaveView file={file} types={types} shown={shown} chosen={chosen} onChoose={listen} />
      {shown.length === 0 ? (
        <Empty isSmall title="Nothing reaches this confidence">
          <p>Move the slider to the left, or show more types.</p>
        </Empty>
      ) : (
        <>
          <Pager page={page} pageSize={pageSize} total={shown.length} what="the detections" />
          <Table
            caption={`Detections in ${file.filename}`}
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            sort={sort}
            serverSorted={columns.map(({ id }) => id)}
          />
        </>
      )}
    </div>
  );
}

/** Types that the address hides: a list in JSON, since a name may have any character. */
function readHidden(text: string | null): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return new Set(Array.isArray(list) ? list.map(String) : []);
  } catch {
    return new Set();
  }
}
