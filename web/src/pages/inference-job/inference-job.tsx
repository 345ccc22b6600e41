// One inference job: progress, what it found, its files, its log.
import "../../jobs/jobs.css";
import "./inference-job.css";
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { CopyId } from "../../components/copy.tsx";
import { Shown } from "../../components/states.tsx";
import { usePage } from "../../components/table.tsx";
import { Tabs, useTab } from "../../components/tabs.tsx";
import { Ago } from "../../components/time.tsx";
import { JobActions } from "../../jobs/job-actions.tsx";
import { JobLog } from "../../jobs/job-log.tsx";
import { JobHeader } from "../../jobs/job-state.tsx";
import { nameOf, useModel } from "../../jobs/names.ts";
import { Settings } from "../../jobs/settings.tsx";
import { isFinished, waitsForFiles } from "../../jobs/status.ts";
import { Page } from "../../shell/page.tsx";
import { FilesTable, filesPerPage } from "./files-table.tsx";
import { Results } from "./results.tsx";
import { Waiting } from "./waiting.tsx";

interface Found {
  readonly job: InferenceJob;
  readonly files: { readonly items: readonly InferenceFile[]; readonly total: number };
}

async function load(id: string, page: number): Promise<Found> {
  const path = { inference_job_id: id };
  const [job, files] = await Promise.all([
    body(api.GET("/api/v1/inference-jobs/{inference_job_id}", { params: { path } })),
    body(
      api.GET("/api/v1/inference-jobs/{inference_job_id}/files", {
        params: { path, query: { page, page_size: filesPerPage } },
      }),
    ),
  ]);
  return { job, files };
}

export default function InferenceJobPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const tab = useTab(["results", "files", "settings", "log"]);
  const pageOfFiles = usePage();
  const page = tab === "files" ? pageOfFiles : 1;
  const resource = useResource(
    `inference-job/${id}/${page}`,
    () => load(id, page),
    ({ data }) => data.inference_job_id === id,
  );
  const job = resource.data?.job;
  const known = useModel(job?.model_id);
  const model = job === undefined ? undefined : (known?.name ?? nameOf(undefined, job.model_id));
  return (
    <Page
      title={model === undefined ? "Inference" : `Found by ${model}`}
      crumbs={[{ label: "Inference", to: "/inference" }]}
      note={
        job && (
          <p class="row small faint">
            <CopyId id={id} what="id of the inference job" />
            <span>
              Created <Ago time={job.created_at} />
            </span>
            <a class="link" href={href(`/models/${job.model_id}`)}>
              The model
            </a>
          </p>
        )
      }
      actions={
        job && (
          <JobActions
            kind="inference"
            job={job}
            whyNoRetry={job.failed_files === 0 ? "No file failed" : undefined}
          />
        )
      }
    >
      <Shown resource={resource} what="the inference job" lines={8}>
        {({ job: shown, files }) =>
          waitsForFiles(shown) ? (
            <Waiting job={shown} files={files.items} />
          ) : (
            <>
              <JobHeader job={shown} />
              <Sums job={shown} />
              <Tabs
                label="Parts of the job"
                current={tab}
                tabs={[
                  { id: "results", label: "Results", note: count(shown.total_detections) },
                  { id: "files", label: "Files", note: count(files.total) },
                  { id: "settings", label: "Settings" },
                  { id: "log", label: "Log" },
                ]}
              >
                {tab === "results" && <Results job={shown} files={files.items} />}
                {tab === "files" && <FilesTable files={files} page={page} />}
                {tab === "settings" && <Settings config={shown.config} />}
                {tab === "log" && <JobLog kind="inference" id={id} />}
              </Tabs>
            </>
          )
        }
      </Shown>
    </Page>
  );
}

const Sums = ({ job }: { job: InferenceJob }) => (
  <dl class="facts">
    <div>
      <dt>{isFinished(job.status) ? "Files searched" : "Files searched so far"}</dt>
      <dd class="number">
        {count(job.processed_files - job.failed_files)}
        <span class="faint small"> of {count(job.total_files)}</span>
      </dd>
    </div>
    {job.failed_files > 0 && (
      <div>
        <dt>Failed files</dt>
        <dd class="number bad-text">{count(job.failed_files)}</dd>
      </div>
    )}
    <div>
      <dt>Detections</dt>
      <dd class="number">{count(job.total_detections)}</dd>
    </div>
  </dl>
);
