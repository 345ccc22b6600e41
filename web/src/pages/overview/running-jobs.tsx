// Jobs that wait or run, of both kinds, with their progress.
import type { InferenceJob, TrainingJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { Badge } from "../../components/badge.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Progress } from "../../components/meter.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";

type Job = (TrainingJob & { kind: "training" }) | (InferenceJob & { kind: "inference" });

const unfinished: TrainingJob["status"][] = ["pending", "queued", "running", "cancelling"];
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
        <span>{job.kind === "training" ? "Training" : "Inference"}</span>
        <CopyId id={job.id} what={`id of the ${job.kind} job`} />
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    isFlexible: true,
    cell: (job) => (
      <span class="stack-tight">
        <span>
          <JobBadge status={job.status} />
        </span>
        {job.status_message !== null && <span class="small muted break">{job.status_message}</span>}
      </span>
    ),
  },
  {
    id: "progress",
    header: "Progress",
    cell: (job) => (
      <span class="progress-cell">
        <Progress label="Progress" share={job.progress_percent / 100} />
        <span class="number small">{job.progress_percent} %</span>
      </span>
    ),
  },
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

function JobBadge({ status }: { status: Job["status"] }) {
  if (status === "running") return <Badge tone="busy">Running</Badge>;
  if (status === "queued") return <Badge tone="quiet">Queued</Badge>;
  if (status === "cancelling") return <Badge tone="warn">Cancelling</Badge>;
  return <Badge tone="quiet">Pending</Badge>;
}
