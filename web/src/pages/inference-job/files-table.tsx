// The files of an inference job with their states.
import type { InferenceFile } from "../../../../client/schema.ts";
import { href } from "../../app/base.ts";
import { bytes, clock, count } from "../../app/format.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Pager, Table } from "../../components/table.tsx";

export const filesPerPage = 100;

const words: Record<InferenceFile["status"], readonly [Tone, string]> = {
  pending_upload: ["quiet", "Upload pending"],
  queued: ["quiet", "Waiting"],
  processing: ["busy", "Searching"],
  completed: ["good", "Searched"],
  failed: ["bad", "Failed"],
  cancelled: ["quiet", "Cancelled"],
};

const columns: readonly Column<InferenceFile>[] = [
  {
    id: "name",
    header: "File",
    isFlexible: true,
    cell: ({ id, inference_job_id, filename, status, error_message }) => (
      <span class="stack-tight">
        {status === "completed" ? (
          <a class="row-link break" href={href(`/inference/${inference_job_id}?file=${id}`)}>
            {filename}
          </a>
        ) : (
          <span class="strong break">{filename}</span>
        )}
        {error_message !== null && <span class="small bad-text break">{error_message}</span>}
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    cell: ({ status }) => <Badge tone={words[status][0]}>{words[status][1]}</Badge>,
  },
  {
    id: "length",
    header: "Length",
    isNumber: true,
    cell: ({ duration_ms: ms }) => (ms === null ? <span class="faint">–</span> : clock(ms)),
  },
  {
    id: "detections",
    header: "Detections",
    isNumber: true,
    cell: ({ detection_count: found }) => count(found),
  },
  { id: "size", header: "Size", isNumber: true, isExtra: true, cell: ({ size_bytes }) => bytes(size_bytes) },
];

export function FilesTable({
  files: { items, total },
  page,
}: {
  files: { readonly items: readonly InferenceFile[]; readonly total: number };
  page: number;
}) {
  if (items.length === 0) return <Empty isSmall title={total === 0 ? "No files" : "This page is empty"} />;
  return (
    <>
      <Pager page={page} pageSize={filesPerPage} total={total} what="the files" />
      <Table caption="Files of the job" columns={columns} rows={items} keyOf={({ id }) => id} />
    </>
  );
}
