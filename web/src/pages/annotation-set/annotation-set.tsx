// One annotation set: how far it is, its files with their labels, and how it agrees with another set.
import "./annotation-set.css";
import { useEffect, useState } from "preact/hooks";
import type { AnnotationSet, AudioFile, Dataset } from "../../../../client/schema.ts";
import { api, body, versioned } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { amountOfTime, clock, count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import type { Params } from "../../app/routes.ts";
import { missing, session } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { SearchField } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage } from "../../components/table.tsx";
import { Tabs, useTab } from "../../components/tabs.tsx";
import { Ago } from "../../components/time.tsx";
import { readReviewed, readSet } from "../../editor/files.ts";
import { filesWithKept } from "../../editor/keeping.ts";
import { Page } from "../../shell/page.tsx";
import { AgreementView } from "./agreement.tsx";
import { ImportLabels } from "./import.tsx";
import { openNextFile } from "./open-next-file.ts";
import { exportSet, fileFormats, SetActions, SetStatus } from "./set-actions.tsx";
import { Reviewed, TypeCounts } from "./set-facts.tsx";

const copyingEveryMs = 2_000;

export default function AnnotationSetPage({ params }: { params: Params }) {
  const { id = "", set: setId = "" } = params;
  const dataset = useResource(`dataset/${id}`, () =>
    versioned(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } } })),
  );
  const found = useResource(
    `set/${setId}`,
    async () => ({ set: await readSet(id, setId) }),
    ({ type, data }) => type.startsWith("annotation_set.") && data.annotation_set_id === setId,
  );
  const tab = useTab(["files", "agreement"]);
  const set = found.data?.set;
  const known = dataset.data?.value;
  useEffect(() => {
    if (set === undefined || set.copying === null) return;
    const timer = setTimeout(() => void found.reload(), copyingEveryMs);
    return () => clearTimeout(timer);
  }, [found.data]);
  const label = () => void openNextFile(id, setId);
  useShortcut("e", "Open the next unreviewed file", label);
  return (
    <Page
      title={set === undefined ? "Annotation set" : `Version ${set.version}`}
      crumbs={[
        { label: "Datasets", to: "/datasets" },
        { label: known?.name ?? "Dataset", to: `/datasets/${id}?tab=sets` },
      ]}
      note={
        set && (
          <p class="row small faint">
            <SetStatus set={set} />
            <CopyId id={set.id} what="id of the set" />
            <span>
              {set.published_at === null ? "Created" : "Published"}{" "}
              <Ago time={set.published_at ?? set.created_at} />
            </span>
          </p>
        )
      }
      actions={
        set &&
        known && (
          <>
            <SetActions
              className="button secondary square"
              dataset={known}
              set={set}
              onCreated={({ id: created }, go) => go(`/datasets/${id}/sets/${created}`)}
              onDeleted={(go) => go(`/datasets/${id}?tab=sets`)}
            />
            <Button kind="primary" icon={set.status === "draft" ? "edit" : "audio"} onClick={label}>
              {set.status === "draft" ? "Label" : "Listen"}
            </Button>
          </>
        )
      }
    >
      <Shown resource={dataset} what="the dataset" lines={3}>
        {({ value }) => (
          <Shown resource={found} what="the annotation set" lines={6}>
            {({ set: present }) =>
              present === undefined ? (
                <Empty
                  title="There is no such annotation set"
                  actions={
                    <a class="button primary" href={href(`/datasets/${id}?tab=sets`)}>
                      Show the annotation sets
                    </a>
                  }
                >
                  <p>It may have been deleted.</p>
                </Empty>
              ) : (
                <>
                  <Facts dataset={value} set={present} />
                  <Tabs
                    label="Parts of the set"
                    current={tab}
                    tabs={[
                      { id: "files", label: "Files", note: count(value.audio_file_count) },
                      { id: "agreement", label: "Agreement" },
                    ]}
                  >
                    {tab === "files" && <Files set={present} />}
                    {tab === "agreement" && <AgreementView set={present} />}
                  </Tabs>
                </>
              )
            }
          </Shown>
        )}
      </Shown>
    </Page>
  );
}

const Facts = ({ dataset, set }: { dataset: Dataset; set: AnnotationSet }) => (
  <dl class="facts set-facts">
    <div>
      <dt>Annotations</dt>
      <dd class="number">{count(set.total_annotations)}</dd>
    </div>
    <div>
      <dt>Labelled</dt>
      <dd class="number">{amountOfTime(set.total_positive_duration_ms)}</dd>
    </div>
    <div>
      <dt>Reviewed files</dt>
      <dd>
        <Reviewed set={set} files={dataset.audio_file_count} />
      </dd>
    </div>
    <div>
      <dt>By type</dt>
      <dd>{set.total_annotations === 0 ? <span class="faint">–</span> : <TypeCounts set={set} />}</dd>
    </div>
  </dl>
);

const pageSize = 50;
/** Larger sets have no numbers per file: all their annotations would have to be read. */
const countedAnnotations = 5_000;

function Files({ set }: { set: AnnotationSet }) {
  const page = usePage();
  const filename = query.value.get("q") ?? "";
  const [importing, setImporting] = useState<AudioFile>();
  const request = {
    page,
    page_size: pageSize,
    order: "asc" as const,
    ...(filename === "" ? {} : { filename }),
  };
  const list = useResource(
    `dataset/${set.dataset_id}/audio?${JSON.stringify(request)}`,
    () =>
      body(
        api.GET("/api/v1/datasets/{dataset_id}/audio", {
          params: { path: { dataset_id: set.dataset_id }, query: request },
        }),
      ),
    ({ type, data }) => type.startsWith("audio_file.") && data.dataset_id === set.dataset_id,
  );
  const marks = useResource(`set/${set.id}/marks`, () => readReviewed(set.dataset_id, set.id));
  const isCounted = set.total_annotations <= countedAnnotations;
  const counts = useResource(`set/${set.id}/counts/${set.total_annotations}`, async () => {
    if (!isCounted) return undefined;
    const all = await body(
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations", {
        params: { path: { dataset_id: set.dataset_id, annotation_set_id: set.id } },
      }),
    );
    const byFile = new Map<string, number>();
    for (const { audio_file_id: id } of all) byFile.set(id, (byFile.get(id) ?? 0) + 1);
    return byFile;
  });
  const kept = filesWithKept(session.value?.tenant_id ?? "", set.id);
  const total = list.data?.total ?? 0;
  if (list.data?.total === 0 && filename === "" && !list.isOther)
    return (
      <Empty
        title="No audio yet"
        actions={
          <a class="button primary" href={href(`/datasets/${set.dataset_id}/upload`)}>
            Upload audio
          </a>
        }
      >
        <p>The dataset has no recordings to label.</p>
      </Empty>
    );
  return (
    <>
      <div class="row apart toolbar">
        <SearchField
          label="Search by file name"
          value={filename}
          onValue={(q) => setQuery({ q, page: undefined })}
        />
        <Pager page={page} pageSize={pageSize} total={total} what="the audio files" />
      </div>
      <Shown resource={list} what="the audio files">
        {({ items }) => (
          <Table
            caption="Audio files of the set"
            columns={columnsOf(
              set,
              { reviewed: marks.data, counts: isCounted ? counts.data : undefined, kept },
              setImporting,
            )}
            rows={items}
            keyOf={({ id }) => id}
            isOld={list.isOther}
          />
        )}
      </Shown>
      {importing && <ImportLabels set={set} file={importing} onClose={() => setImporting(undefined)} />}
    </>
  );
}

function columnsOf(
  set: AnnotationSet,
  known: {
    readonly reviewed: ReadonlySet<string> | undefined;
    readonly counts: ReadonlyMap<string, number> | undefined;
    readonly kept: ReadonlyMap<string, unknown>;
  },
  onImport: (file: AudioFile) => void,
): readonly Column<AudioFile>[] {
  const blocked =
    missing("label") ?? (set.status === "published" ? "A published set never changes" : undefined);
  return [
    {
      id: "name",
      header: "File",
      isFlexible: true,
      cell: ({ id, filename, status }) =>
        status === "ready" ? (
          <a class="row-link break" href={href(`/datasets/${set.dataset_id}/sets/${set.id}/files/${id}`)}>
            {filename}
          </a>
        ) : (
          <span class="stack-tight">
            <span class="break">{filename}</span>
            <span class="small faint">
              {status === "failed" ? "Cannot be labelled: it failed" : "Not ready yet"}
            </span>
          </span>
        ),
    },
    {
      id: "length",
      header: "Length",
      isNumber: true,
      cell: ({ duration_ms: ms }) => (ms === null ? <span class="faint">–</span> : clock(ms)),
    },
    ...(known.counts === undefined
      ? []
      : [
          {
            id: "labels",
            header: "Annotations",
            isNumber: true,
            cell: ({ id }: AudioFile) => count(known.counts?.get(id) ?? 0),
          },
        ]),
    {
      id: "reviewed",
      header: "Reviewed",
      cell: ({ id }) => (
        <span class="row">
          {known.reviewed?.has(id) === true ? (
            <Badge tone="good">Reviewed</Badge>
          ) : (
            <span class="faint">{known.reviewed === undefined ? "–" : "No"}</span>
          )}
          {known.kept.has(id) && (
            <Badge
              tone="warn"
              title="This browser has changes that the service does not have. Open the file."
            >
              Not saved
            </Badge>
          )}
        </span>
      ),
    },
    {
      id: "tools",
      header: "Actions",
      isHeaderHidden: true,
      cell: (file) => (
        <Menu
          label={`Actions for ${file.filename}`}
          actions={[
            ...fileFormats.map(([format, name]) => ({
              label: `Export ${name}`,
              icon: "down" as const,
              run: () => exportSet(set, format, file.id),
            })),
            { label: "Import from Audacity", icon: "upload", blocked, run: () => onImport(file) },
          ]}
        />
      ),
    },
  ];
}
