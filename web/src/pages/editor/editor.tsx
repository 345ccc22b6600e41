// The editor: one audio file of an annotation set, to listen to, look at and label. Everything can be done with the keys
// alone. Changes are saved by themselves.
import "./editor.css";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AnnotationSet, AudioFile, Dataset } from "../../../../client/schema.ts";
import { ApiError, api, body, reasonOf } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { plural } from "../../app/format.ts";
import { onEvents } from "../../app/live.ts";
import { refresh } from "../../app/resource.ts";
import { here, navigate, query } from "../../app/router.ts";
import type { Params } from "../../app/routes.ts";
import { missing, session } from "../../app/session.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty, Loading, Problem } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { makeAudioSource } from "../../editor/audio-source.ts";
import { makeController } from "../../editor/controller.ts";
import { type Document as Labels, openDocument, release } from "../../editor/document.ts";
import { readSet, readyFiles, reviewedOf, setReviewed } from "../../editor/files.ts";
import { keyOf, loadKeymap, meaningOf, saveKeymap } from "../../editor/keymap.ts";
import { nextUnreviewed } from "../../editor/next-file.ts";
import { type Peaks, peaksOf } from "../../editor/peaks.ts";
import { makePlayer } from "../../editor/player.ts";
import { showing } from "../../editor/range.ts";
import type { Place } from "../../editor/steps.ts";
import { nearestCrossing } from "../../editor/zero-crossing.ts";
import { Page } from "../../shell/page.tsx";
import { Keys } from "./keys.tsx";
import { RegionForm } from "./region-form.tsx";
import { RegionList } from "./region-list.tsx";
import { SavingBadge, SavingNotice } from "./saving.tsx";
import { loadRejected, Suggestions, saveRejected } from "./suggestions.tsx";
import { Toolbar } from "./toolbar.tsx";
import { Wave } from "./wave.tsx";

interface Opened {
  readonly dataset: Dataset;
  readonly set: AnnotationSet;
  readonly file: AudioFile;
  readonly labels: Labels;
  /** Undefined: the service has not computed them. */
  readonly peaks: Peaks | undefined;
  readonly isReviewed: boolean;
}

async function readPeaks({ datasetId, fileId }: Place): Promise<Peaks | undefined> {
  try {
    return peaksOf(
      await body(
        api.GET("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/waveform", {
          params: { path: { dataset_id: datasetId, audio_file_id: fileId } },
        }),
      ),
    );
  } catch (error) {
    if (error instanceof ApiError && error.code === "audio_not_ready") return undefined;
    throw error;
  }
}

async function open(place: Place): Promise<Opened | "no set"> {
  const { datasetId, setId, fileId } = place;
  const [dataset, set, file, peaks, reviewed] = await Promise.all([
    body(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: datasetId } } })),
    readSet(datasetId, setId),
    body(
      api.GET("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}", {
        params: { path: { dataset_id: datasetId, audio_file_id: fileId } },
      }),
    ),
    readPeaks(place),
    reviewedOf(datasetId, setId),
  ]);
  if (set === undefined) return "no set";
  const labels = await openDocument(session.peek()?.tenant_id ?? "", place);
  return { dataset, set, file, labels, peaks, isReviewed: reviewed.has(fileId) };
}

export default function EditorPage({ params }: { params: Params }) {
  const { id = "", set = "", file = "" } = params;
  const place = useMemo((): Place => ({ datasetId: id, setId: set, fileId: file }), [id, set, file]);
  const [opened, setOpened] = useState<Opened | "no set">();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isLeft = false;
    let labels: Labels | undefined;
    setError(undefined);
    open(place)
      .then((found) => {
        if (found !== "no set") labels = found.labels;
        if (!isLeft) setOpened(found);
        else if (labels !== undefined) release(labels);
      })
      .catch((thrown: unknown) => {
        if (!isLeft) setError(thrown);
      });
    return () => {
      isLeft = true;
      if (labels !== undefined) release(labels);
    };
  }, [place, attempt]);
  useEffect(
    () =>
      onEvents(
        ({ type, data }) => {
          if (type === "audio_file.ready" && data.audio_file_id === file) setAttempt((now) => now + 1);
          if (type !== "annotation_set.published" || data.annotation_set_id !== set) return;
          setOpened((now) =>
            typeof now === "object" ? { ...now, set: { ...now.set, status: "published" } } : now,
          );
        },
        () => {},
      ),
    [set, file],
  );
  const known = typeof opened === "object" ? opened : undefined;
  const back = `/datasets/${id}/sets/${set}`;
  return (
    <Page
      title={known?.file.filename ?? "Editor"}
      crumbs={[
        { label: "Datasets", to: "/datasets" },
        { label: known?.dataset.name ?? "Dataset", to: `/datasets/${id}` },
        { label: known ? `Version ${known.set.version}` : "Annotation set", to: back },
      ]}
      actions={known && <SavingBadge document={known.labels} />}
    >
      {error !== undefined && (
        <Problem attempted="Opening the file" error={error} onRetry={() => setAttempt(attempt + 1)} />
      )}
      {opened === undefined && error === undefined && <Loading what="the file" lines={8} />}
      {opened === "no set" && (
        <Empty
          title="There is no such annotation set"
          actions={
            <a class="button primary" href={href(`/datasets/${id}?tab=sets`)}>
              Show the annotation sets
            </a>
          }
        >
          <p>It may have been deleted. What you had not saved stays in this browser.</p>
        </Empty>
      )}
      {known?.file.duration_ms === null && (
        <Empty title="The file is not ready yet">
          <p>The service is still decoding it, or could not. It can be labelled as soon as it is ready.</p>
        </Empty>
      )}
      {known !== undefined && known.file.duration_ms !== null && (
        <Editor key={place.fileId} opened={known} place={place} />
      )}
    </Page>
  );
}

/** The next file has suggestions of the same job. */
function sameJob(): string {
  const job = query.peek().get("job");
  return job === null ? "" : `?${new URLSearchParams({ job })}`;
}

function Editor({ opened, place }: { opened: Opened; place: Place }) {
  const { dataset, set, file, labels, peaks } = opened;
  const durationMs = file.duration_ms ?? 0;
  const why =
    set.status === "published"
      ? "The set is published: it never changes"
      : set.copying !== null
        ? "The set is being copied"
        : missing("label");
  const root = useRef<HTMLDivElement>(null);
  const [keymap, setKeymap] = useState(loadKeymap);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const isReviewed = useSignal(opened.isReviewed);
  const showsSpectrogram = useSignal(true);
  const announce = (text: string) => notify(text, { isQuiet: true });

  const source = useMemo(() => makeAudioSource(place, { sizeBytes: file.size_bytes, durationMs }), [place]);
  const player = useMemo(
    () =>
      makePlayer(durationMs, source.url, (error) =>
        notify(`Playing “${file.filename}” failed: ${reasonOf(error)}`, { tone: "bad" }),
      ),
    [source],
  );
  useEffect(() => player.dispose, [player]);

  const isSearching = useRef(false);
  const toNext = async () => {
    if (isSearching.current) return notify("Looking for the next file", { isQuiet: true });
    isSearching.current = true;
    const isHere = here();
    const files = (from?: string) => readyFiles(place.datasetId, from, isHere);
    try {
      const reviewed = await reviewedOf(place.datasetId, place.setId);
      const next = await nextUnreviewed(files, reviewed, file);
      if (!isHere()) return;
      if (next === undefined)
        notify(isReviewed.peek() ? "All files are reviewed" : "All other files are reviewed");
      else navigate(`/datasets/${place.datasetId}/sets/${place.setId}/files/${next}${sameJob()}`);
    } catch (error) {
      notify(`Looking for the next file failed: ${reasonOf(error)}`, { tone: "bad" });
    } finally {
      isSearching.current = false;
    }
  };
  const marking = useRef(Promise.resolve());
  const sent = useRef(opened.isReviewed);
  const sendReviewed = async () => {
    const wanted = isReviewed.peek();
    if (wanted === sent.current) return;
    try {
      await setReviewed(place, wanted);
      sent.current = wanted;
      notify(wanted ? "Marked as reviewed" : "No longer marked as reviewed", { isQuiet: true });
      void refresh(`set/${place.setId}`);
    } catch (error) {
      isReviewed.value = sent.current;
      notify(`Marking the file failed: ${reasonOf(error)}`, { tone: "bad" });
    }
  };
  const toggleReviewed = () => {
    isReviewed.value = !isReviewed.peek();
    labels.autosave.flush();
    // One request at a time: two at once may arrive in the other order.
    marking.current = marking.current.then(sendReviewed);
  };

  const controller = useMemo(
    () =>
      makeController({
        document: labels,
        player,
        durationMs,
        typeNames: dataset.artifact_types.map(({ name }) => name),
        rejected: loadRejected(place.fileId),
        why,
        announce,
        crossing(ms) {
          const samples = source.loaded({ fromMs: ms - 10, toMs: ms + 10 });
          return samples === undefined ? ms : nearestCrossing(samples, ms);
        },
        nextFile: () => void toNext(),
        toggleReviewed,
        help: () => setHelpOpen(true),
        decided: (rejected) => saveRejected(place.fileId, rejected),
      }),
    [labels, player, why],
  );

  useEffect(() => {
    const at = Number(query.peek().get("at") ?? Number.NaN);
    if (at >= 0 && at <= durationMs) {
      player.seek(at);
      controller.range.value = showing(controller.range.peek(), at, at, durationMs);
    }
  }, []);
  // Before the first frame, so that no key is lost: somebody who labels goes from file to file with the keys.
  useLayoutEffect(() => {
    const now = document.activeElement;
    if (now === document.body || now?.tagName === "H1")
      root.current?.querySelector<HTMLElement>("[data-wave]")?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    const count = labels.othersChanged.value;
    if (count === 0) return;
    labels.othersChanged.value = 0;
    notify(`Somebody else has changed ${plural(count, "label")} of this file`);
  }, [labels.othersChanged.value]);
  useEffect(() => {
    if (labels.restored > 0)
      notify(
        `Restored ${plural(labels.restored, "change")} of yours that ${labels.restored === 1 ? "was" : "were"} not saved`,
      );
  }, [labels]);

  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.isComposing || target.closest("dialog") !== null) return;
    if (target.matches("input, textarea, select")) return;
    const key = keyOf(event);
    if (key === undefined) return;
    // Buttons keep the keys that press them.
    if ((key === "Space" || key === "Enter") && target.closest("button, a, summary") !== null) return;
    const meaning = meaningOf(keymap, key);
    if (meaning === undefined) return;
    event.preventDefault();
    if ("type" in meaning) controller.chooseType(meaning.type);
    else controller.act(meaning.action);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its parts have the focus; their keys come here.
    <div class="editor" ref={root} onKeyDown={onKeyDown}>
      <p class="visually-hidden" id="editor-hint">
        The list of regions says the same in words. Press question mark for the keys.
      </p>
      <SavingNotice document={labels} />
      {why !== undefined && (
        <p class="small muted row">
          <Badge tone="quiet">Read only</Badge> {why}.
        </p>
      )}
      {dataset.artifact_types.length === 0 && (
        <div class="notice warn">
          <Icon name="warning" />
          <p>
            The dataset has no artifact types.{" "}
            <a class="link" href={href(`/datasets/${place.datasetId}?tab=types`)}>
              Add the first one
            </a>{" "}
            to label anything.
          </p>
        </div>
      )}
      {peaks === undefined && (
        <div class="notice warn">
          <Icon name="clock" />
          <p>The service has not computed the waveform yet. Zoom in to see the part that is loaded.</p>
        </div>
      )}
      <Toolbar controller={controller} keymap={keymap} showsSpectrogram={showsSpectrogram} />
      <div class="editor-columns">
        <div class="editor-main">
          <Wave
            controller={controller}
            peaks={peaks}
            source={source}
            filename={file.filename}
            showsSpectrogram={showsSpectrogram.value}
          />
          <Suggestions controller={controller} fileId={place.fileId} />
        </div>
        <div class="editor-side">
          <RegionList controller={controller} />
          <RegionForm controller={controller} />
          <div class="row">
            <Button
              isSmall
              icon="check"
              kind={isReviewed.value ? "secondary" : "primary"}
              aria-pressed={isReviewed.value}
              blocked={why}
              onClick={() => controller.act("reviewed")}
            >
              {isReviewed.value ? "Reviewed" : "Mark as reviewed"}
            </Button>
            <Button isSmall icon="right" onClick={() => controller.act("nextFile")}>
              Next unreviewed file
            </Button>
          </div>
          <p class="tiny faint">
            Mark a file when you have listened to all of it: training takes its unlabelled parts as free of
            artifacts.
          </p>
        </div>
      </div>
      {isHelpOpen && (
        <Keys
          keymap={keymap}
          onKeymap={(next) => {
            setKeymap(next);
            saveKeymap(next);
          }}
          onClose={() => setHelpOpen(false)}
        />
      )}
    </div>
  );
}
