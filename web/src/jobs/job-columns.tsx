// The columns that tables of jobs share.
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { type Job, JobBadge, JobMessage, JobProgress, Ran } from "./job-state.tsx";

export const statusColumn: Column<Job> = {
  id: "status",
  header: "Status",
  isFlexible: true,
  cell: (job) => (
    <span class="stack-tight">
      <JobBadge status={job.status} />
      <JobMessage job={job} />
    </span>
  ),
};
export const progressColumn: Column<Job> = {
  id: "progress",
  header: "Progress",
  cell: (job) => <JobProgress job={job} />,
};
export const ranColumn: Column<Job> = {
  id: "ran",
  header: "Ran",
  isNumber: true,
  isExtra: true,
  cell: (job) => <Ran job={job} />,
};
export const createdColumn: Column<Job> = {
  id: "created",
  header: "Created",
  descendsFirst: true,
  cell: ({ created_at }) => <Ago time={created_at} />,
};
