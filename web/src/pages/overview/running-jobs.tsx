// Jobs that wait or run, of both kinds, with their progress.
import type { InferenceJob, TrainingJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { CopyId } from "../../components/copy.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { pathOfKind } from "../../jobs/job-calls.ts";
import { progressColumn, statusColumn } from "../../jobs/job-columns.tsx";
import { unfinished } from "../../jobs/status.ts";

type Job = (TrainingJob & { kind: "training" }) | (InferenceJob & { kind: "inference" });

const query = { status: unfinished, page_size: 20 };

async function load(): Promise<{ jobs: Job[]; total: number }> {
  const [trainings, inferences] = await Promise.all([
    body(api.GET("/api/v1/training-jobs", { params: { query } })),
    body(api.GET("/api/v1/inference-jobs", { params: { query } })),
  ]);
  const jobs: Job[] = [
    ...trainings.items.map((job) => ({ ...job, kind: "training" as const })),
    ...inferences.items.map((job) => ({ ...job, kind: "inference" as const })),
  ];
  jobs.sort((a, b) => b.created_at.localeCompare(a.created_at));
  return { jobs, total: trainings.total + inferences.total };
}

const columns: readonly Column<Job>[] = [
  {
    id: "kind",
    header: "Job",
    cell: (job) => (
      <span class="stack-tight">
        <a class="row-link" href={href(`${pathOfKind[job.kind]}/${job.id}`)}>
          {job.kind === "training" ? "Training" : "Inference"}
        </a>
        <CopyId id={job.id} what={`id of the ${job.kind} job`} />
      </span>
    ),
  },
  statusColumn,
  progressColumn,
  { id: "created", header: "Created", cell: (job) => <Ago time={job.created_at} /> },
];

export function RunningJobs() {
  const jobs = useResource("jobs/unfinished", load, ({ type }) => /^(training|inference)_job\./.test(type));
  return (
    <Shown resource={jobs} what="the jobs in progress" lines={3}>
      {({ jobs, total }) =>
        jobs.length === 0 ? (
          <Empty isSmall title="Nothing is running">
            <p>Training and inference jobs appear here while they wait or run.</p>
          </Empty>
        ) : (
          <>
            <Table caption="Jobs in progress" columns={columns} rows={jobs} keyOf={(job) => job.id} />
            {total > jobs.length && (
              <p class="small muted">{plural(total - jobs.length, "more job")} waiting.</p>
            )}
          </>
        )
      }
    </Shown>
  );
}
