// The audio files of a dataset: search, filter by status, play, download, rename, delete.
import { useEffect, useState } from "preact/hooks";
import type { AudioFile, Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { bytes, clock } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { oneOf } from "../../app/table-state.ts";
import { Badge } from "../../components/badge.tsx";
import { ButtonLink } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { SearchField, Select, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu } from "../../components/menu.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";
import { downloadFile, PlayButton, stopPlaying } from "./player.tsx";

const pageSize = 100;

const statuses = ["ready", "processing", "pending_upload", "failed", "expired"] as const;
const statusWords: Record<AudioFile["status"], string> = {
  ready: "Ready",
  processing: "Processing",
  pending_upload: "Upload pending",
  failed: "Failed",
  expired: "Expired",
};

type Opened = { readonly what: "rename" | "delete"; readonly file: AudioFile } | undefined;

export function AudioTable({ dataset, uploadHref }: { dataset: Dataset; uploadHref: string }) {
  const page = usePage();
  const filename = query.value.get("q") ?? "";
  const status = oneOf(query.value.get("status"), statuses);
  const sort = useSort(["name", "length", "size", "added"], { column: "added", isDescending: true });
  const [opened, open] = useState<Opened>();
  useEffect(() => stopPlaying, []);
  const request = {
    page,
    page_size: pageSize,
    ...(filename === "" ? {} : { filename }),
    ...(status === undefined ? {} : { status }),
    ...(sort.column === "added" && !sort.isDescending ? { order: "asc" as const } : {}),
  };
  const list = useResource(
    `dataset/${dataset.id}/audio?${JSON.stringify(request)}`,
    () =>
      body(
        api.GET("/api/v1/datasets/{dataset_id}/audio", {
          params: { path: { dataset_id: dataset.id }, query: request },
        }),
      ),
    ({ type, data }) => type.startsWith("audio_file.") && data.dataset_id === dataset.id,
  );
  const total = list.data?.total ?? 0;
  const isFiltered = filename !== "" || status !== undefined;
  if (list.data?.total === 0 && !isFiltered && page === 1 && !list.isOther)
    return (
      <Empty
        title="No audio yet"
        actions={
          missing("write") === undefined && (
            <ButtonLink kind="primary" icon="upload" href={uploadHref}>
              Upload audio
            </ButtonLink>
          )
        }
      >
        <p>Upload recordings as WAV, FLAC, MP3, Ogg or Opus, one by one or whole folders.</p>
      </Empty>
    );
  return (
    <>
      <div class="row apart toolbar">
        <div class="row">
          <SearchField
            label="Search by file name"
            value={filename}
            onValue={(q) => setQuery({ q, page: undefined })}
          />
          <Select
            label="Status"
            isLabelHidden
            value={status ?? ""}
            onValue={(next) => setQuery({ status: next, page: undefined })}
          >
            <option value="">All statuses</option>
            {statuses.map((name) => (
              <option key={name} value={name}>
                {statusWords[name]}
              </option>
            ))}
          </Select>
        </div>
        <Pager page={page} pageSize={pageSize} total={total} what="the audio files" />
      </div>
      <Shown resource={list} what="the audio files">
        {({ items }) =>
          items.length === 0 ? (
            <Empty isSmall title="No file fits the search">
              <p>
                <button
                  type="button"
                  class="link plain"
                  onClick={() => setQuery({ q: undefined, status: undefined, page: undefined })}
                >
                  Show all files
                </button>
              </p>
            </Empty>
          ) : (
            <Table
              caption="Audio files"
              columns={columnsOf(open).map((column) =>
                total > pageSize ? { ...column, by: undefined } : column,
              )}
              serverSorted={["added"]}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
              isOld={list.isOther}
            />
          )
        }
      </Shown>
      {opened?.what === "rename" && <Rename file={opened.file} onClose={() => open(undefined)} />}
      {opened?.what === "delete" && <Delete file={opened.file} onClose={() => open(undefined)} />}
    </>
  );
}

function columnsOf(open: (opened: Opened) => void): readonly Column<AudioFile>[] {
  const blocked = missing("write");
  return [
    {
      id: "name",
      header: "File",
      isFlexible: true,
      by: ({ filename }) => filename,
      cell: (file) => (
        <span class="file-name">
          {file.status === "ready" ? (
            <PlayButton file={file} />
          ) : (
            <span class="no-play">
              <Icon name="audio" />
            </span>
          )}
          <span class="stack-tight">
            <span class="strong break">{file.filename}</span>
            {file.error_message !== null && <span class="small bad-text break">{file.error_message}</span>}
          </span>
        </span>
      ),
    },
    { id: "status", header: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    { id: "embedding", header: "Embedding", cell: (file) => <EmbeddingBadge file={file} /> },
    {
      id: "length",
      header: "Length",
      isNumber: true,
      descendsFirst: true,
      by: ({ duration_ms: ms }) => ms,
      cell: ({ duration_ms: ms }) => (ms === null ? <span class="faint">–</span> : clock(ms)),
    },
    {
      id: "format",
      header: "Format",
      isExtra: true,
      cell: ({ codec, sample_rate_hz: rate, channels }) => (
        <span class="muted small nowrap">
          {[
            codec?.toUpperCase(),
            rate && `${rate / 1000} kHz`,
            channels && (channels === 1 ? "mono" : channels === 2 ? "stereo" : `${channels} channels`),
          ]
            .filter(Boolean)
            .join(" · ") || "–"}
        </span>
      ),
    },
    {
      id: "size",
      header: "Size",
      isNumber: true,
      isExtra: true,
      descendsFirst: true,
      by: ({ size_bytes }) => size_bytes,
      cell: ({ size_bytes }) => bytes(size_bytes),
    },
    {
      id: "added",
      header: "Added",
      descendsFirst: true,
      cell: ({ created_at }) => <Ago time={created_at} />,
    },
    {
      id: "tools",
      header: "Actions",
      isHeaderHidden: true,
      cell: (file) => (
        <Menu
          label={`Actions for ${file.filename}`}
          actions={[
            {
              label: "Download",
              icon: "down",
              blocked: file.uploaded_at === null ? "The upload is not confirmed" : undefined,
              run: () => void downloadFile(file),
            },
            { label: "Rename", icon: "edit", blocked, run: () => open({ what: "rename", file }) },
            {
              label: "Delete",
              icon: "trash",
              isDanger: true,
              blocked,
              run: () => open({ what: "delete", file }),
            },
          ]}
        />
      ),
    },
  ];
}

function StatusBadge({ status }: { status: AudioFile["status"] }) {
  const tone = (
    { ready: "good", processing: "busy", pending_upload: "quiet", failed: "bad", expired: "quiet" } as const
  )[status];
  return <Badge tone={tone}>{statusWords[status]}</Badge>;
}

function EmbeddingBadge({ file: { status, embedding_status: embedding } }: { file: AudioFile }) {
  if (embedding === "completed") return <Badge tone="good">Embedded</Badge>;
  if (embedding === "failed") return <Badge tone="bad">Failed</Badge>;
  if (status !== "ready" && status !== "processing") return <span class="faint">–</span>;
  return embedding === "processing" ? (
    <Badge tone="busy">Computing</Badge>
  ) : (
    <Badge tone="quiet">Waiting</Badge>
  );
}

function Rename({ file, onClose }: { file: AudioFile; onClose: () => void }) {
  const [name, setName] = useState(file.filename);
  const submit = async () => {
    const path = { dataset_id: file.dataset_id, audio_file_id: file.id };
    await body(
      api.PATCH("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}", {
        params: { path },
        body: { filename: name.trim() },
      }),
    );
    await refresh(`dataset/${file.dataset_id}/audio`);
    onClose();
  };
  return (
    <FormDialog
      title="Rename the file"
      action="Rename"
      attempted="Renaming the file"
      submit={submit}
      onClose={onClose}
      isReady={name.trim() !== ""}
    >
      <TextField label="File name" value={name} onValue={setName} maxLength={255} spellcheck={false} />
    </FormDialog>
  );
}

function Delete({ file, onClose }: { file: AudioFile; onClose: () => void }) {
  const submit = async () => {
    const path = { dataset_id: file.dataset_id, audio_file_id: file.id };
    await body(api.DELETE("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}", { params: { path } }));
    notify(`Deleted ${file.filename}`);
    await refresh(`dataset/${file.dataset_id}`);
    onClose();
  };
  return (
    <FormDialog
      title="Delete the file"
      action="Delete file"
      isDanger
      attempted="Deleting the file"
      submit={submit}
      onClose={onClose}
    >
      <p class="break">
        <strong>{file.filename}</strong> and its annotations in drafts are deleted. This cannot be undone. The
        service refuses it while a published annotation set labels the file or a job uses it.
      </p>
    </FormDialog>
  );
}
