// What a job found, file by file.
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { ApiError, api, body } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { IconButton } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { isFinished } from "../../jobs/status.ts";
import { FileResults } from "./file-results.tsx";

const missingFile = (error: unknown) => error instanceof ApiError && [404, 422].includes(error.status);

export function Results({ job, files }: { job: InferenceJob; files: readonly InferenceFile[] }) {
  const asked = query.value.get("file");
  const searched = files.filter(({ status }) => status === "completed");
  const listed = searched.find(({ id }) => id === asked);
  // A file of another page of the list is read alone.
  const other = useResource<InferenceFile | null>(
    `inference-job/${job.id}/file/${listed === undefined ? asked : null}`,
    async () =>
      asked === null || listed !== undefined
        ? null
        : await body(
            api.GET("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}", {
              params: { path: { inference_job_id: job.id, file_id: asked } },
            }),
          ).catch((error: unknown) => {
            if (missingFile(error)) return null;
            throw error;
          }),
  );
  if (asked !== null && listed === undefined && other.data === undefined && other.isLoading)
    return (
      <Shown resource={other} what="the file">
        {() => null}
      </Shown>
    );
  const file =
    listed ??
    (asked === null ? null : other.data) ??
    searched.find(({ detection_count }) => detection_count > 0) ??
    searched[0];
  if (file === undefined)
    return isFinished(job.status) ? (
      <Empty isSmall title="No file was searched">
        <p>The tab “Files” says why.</p>
      </Empty>
    ) : (
      <Empty isSmall title="Nothing found yet">
        <p>The first results appear when the first file has been searched.</p>
      </Empty>
    );
  const choices = searched.some(({ id }) => id === file.id) ? searched : [file, ...searched];
  const at = choices.findIndex(({ id }) => id === file.id);
  const go = (next: InferenceFile | undefined) => setQuery({ file: next?.id, page: undefined });
  return (
    <>
      <div class="file-choice">
        <Select
          label="File"
          isLabelHidden
          value={file.id}
          onValue={(id) => setQuery({ file: id, page: undefined })}
        >
          {choices.map(({ id, filename, detection_count: found }) => (
            <option key={id} value={id}>
              {filename} ({plural(found, "detection")})
            </option>
          ))}
        </Select>
        <IconButton icon="left" label="File before" disabled={at <= 0} onClick={() => go(choices[at - 1])} />
        <IconButton
          icon="right"
          label="Next file"
          disabled={at === choices.length - 1}
          onClick={() => go(choices[at + 1])}
        />
      </div>
      <FileResults key={file.id} job={job} file={file} />
    </>
  );
}
