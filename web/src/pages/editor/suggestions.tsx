// The suggestions of a model: which inference job they come from, how sure the model has to be, how many are open.

import { useEffect, useState } from "preact/hooks";
import type { Detection, InferenceJob } from "../../../../client/schema.ts";
import { api, body, reasonOf } from "../../app/api.ts";
import { day, plural } from "../../app/format.ts";
import { keep, recall } from "../../app/kept.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import type { Controller } from "../../editor/controller.ts";
import type { Suggestion } from "../../editor/suggestions.ts";
import { useModels } from "../../jobs/names.ts";

/** Larger jobs and files are not searched to their end. */
const mostPages = 50;

async function everything<T>(
  read: (page: number) => Promise<{ readonly items: readonly T[]; readonly has_more: boolean }>,
  isEnough: (items: readonly T[]) => boolean = () => false,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const { items, has_more } = await read(page);
    all.push(...items);
    if (!has_more || isEnough(items)) break;
  }
  return all;
}

/** What the job has found in the file; undefined: the job has no such file. */
async function readSuggestions(jobId: string, fileId: string): Promise<readonly Suggestion[] | undefined> {
  const path = { inference_job_id: jobId };
  const files = await everything(
    (page) =>
      body(
        api.GET("/api/v1/inference-jobs/{inference_job_id}/files", {
          params: { path, query: { page, page_size: 100 } },
        }),
      ),
    (items) => items.some(({ audio_file_id }) => audio_file_id === fileId),
  );
  const file = files.find(({ audio_file_id }) => audio_file_id === fileId);
  if (file === undefined) return undefined;
  const found = await everything<Detection>((page) =>
    body(
      api.GET("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/detections", {
        params: { path: { ...path, file_id: file.id }, query: { page, page_size: 100 } },
      }),
    ),
  );
  return found.map(({ id, artifact_type: type, start_ms: startMs, end_ms: endMs, confidence }) => ({
    id,
    jobId,
    type,
    startMs,
    endMs,
    confidence,
  }));
}

export function Suggestions({ controller, fileId }: { controller: Controller; fileId: string }) {
  const jobId = query.value.get("job") ?? "";
  const [isOpen, setOpen] = useState(jobId !== "");
  const wanted = `${jobId} ${fileId}`;
  // What has been read, and what is wrong with it.
  const [read, setRead] = useState<{ readonly of: string; readonly fault?: string }>();
  useEffect(() => {
    controller.suggested.value = [];
    setRead(undefined);
    if (jobId === "") return;
    let isOld = false;
    readSuggestions(jobId, fileId)
      .then((found) => {
        if (isOld) return;
        controller.suggested.value = found ?? [];
        setRead({
          of: wanted,
          ...(found === undefined && { fault: "The job has not looked at this file." }),
        });
      })
      .catch((error: unknown) => {
        if (!isOld) setRead({ of: wanted, fault: `Loading the suggestions failed: ${reasonOf(error)}` });
      });
    return () => {
      isOld = true;
    };
  }, [jobId, fileId, wanted, controller]);
  const { suggestions, suggested, rejected, leastConfidence } = controller;
  const open = suggestions.value.length;
  const counts = `${open} open of ${plural(suggested.value.length, "suggestion")}`;
  return (
    <details class="more suggestions" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Suggestions of a model{open > 0 && `: ${open} open`}</summary>
      {isOpen && (
        <div class="row">
          <Jobs chosen={jobId} />
          {suggested.value.length > 0 && (
            <label class="check-line small">
              At least
              <input
                type="range"
                min="0"
                max="100"
                value={String(Math.round(leastConfidence.value * 100))}
                aria-valuetext={`${Math.round(leastConfidence.value * 100)} % confidence`}
                onInput={(event) => {
                  leastConfidence.value = Number(event.currentTarget.value) / 100;
                }}
              />
              <span class="number">{Math.round(leastConfidence.value * 100)} %</span>
            </label>
          )}
          <span class="small muted" role="status">
            {jobId !== "" && (read?.of === wanted ? (read.fault ?? counts) : "Loading the suggestions")}
          </span>
          {rejected.value.size > 0 && (
            <Button
              isSmall
              onClick={() => {
                controller.rejected.value = new Set();
                saveRejected(fileId, new Set());
              }}
            >
              Show rejected ones again
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

function Jobs({ chosen }: { chosen: string }) {
  const jobs = useResource("editor/inference-jobs", () =>
    body(api.GET("/api/v1/inference-jobs", { params: { query: { page_size: 100, status: ["completed"] } } })),
  );
  const models = useModels();
  const nameOf = ({ model_id }: InferenceJob) =>
    models.data?.items.find(({ id }) => id === model_id)?.name ?? `model ${model_id.slice(0, 8)}`;
  const items = jobs.data?.items ?? [];
  return (
    <Select label="Inference job" isLabelHidden value={chosen} onValue={(job) => setQuery({ job })}>
      <option value="">
        {jobs.isLoading
          ? "Loading the jobs"
          : jobs.error !== undefined
            ? `Loading the jobs failed: ${reasonOf(jobs.error)}`
            : items.length === 0
              ? "No job has completed"
              : "None"}
      </option>
      {chosen !== "" && !items.some(({ id }) => id === chosen) && (
        <option value={chosen}>Job {chosen.slice(0, 8)}</option>
      )}
      {items.map((job) => (
        <option key={job.id} value={job.id}>
          {nameOf(job)}, {day(job.created_at)}, {plural(job.total_detections, "detection")}
        </option>
      ))}
    </Select>
  );
}

const most = 5_000;
const nameOf = (fileId: string) => `rejected.${fileId}`;

/** Which suggestions were rejected is a matter of this browser: the service keeps detections as the model made them. */
export function loadRejected(fileId: string): ReadonlySet<string> {
  try {
    const found: unknown = JSON.parse(recall(nameOf(fileId)) ?? "[]");
    return new Set(Array.isArray(found) ? found.filter((id) => typeof id === "string") : []);
  } catch {
    return new Set();
  }
}

export const saveRejected = (fileId: string, ids: ReadonlySet<string>) =>
  keep(nameOf(fileId), ids.size === 0 ? null : JSON.stringify([...ids].slice(-most)));
