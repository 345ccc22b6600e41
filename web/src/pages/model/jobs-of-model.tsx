// The newest inference jobs of a model.

import type { InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { JobBadge } from "../../jobs/job-state.tsx";

const columns: readonly Column<InferenceJob>[] = [
  {
    id: "job",
    header: "Job",
    isFlexible: true,
    cell: ({ id, total_files }) => (
      <a class="row-link" href={href(`/inference/${id}`)}>
        {plural(total_files, "file")}
      </a>
    ),
  },
  { id: "status", header: "Status", cell: ({ status }) => <JobBadge status={status} /> },
  {
    id: "detections",
    header: "Detections",
    isNumber: true,
    cell: ({ total_detections }) => count(total_detections),
  },
  { id: "created", header: "Created", cell: ({ created_at }) => <Ago time={created_at} /> },
];

export function JobsOfModel({ id }: { id: string }) {
  const jobs = useResource(
    `inference-jobs/of-model/${id}`,
    () => body(api.GET("/api/v1/inference-jobs", { params: { query: { model_id: id, page_size: 5 } } })),
    ({ type, data }) => type.startsWith("inference_job.") && data.model_id === id,
  );
  return (
    <section aria-labelledby="jobs">
      <div class="row apart section-title">
        <h2 id="jobs">Inference jobs</h2>
        {(jobs.data?.total ?? 0) > 5 && (
          <a class="link small" href={href(`/inference?model=${id}`)}>
            All {count(jobs.data?.total ?? 0)}
          </a>
        )}
      </div>
      <Shown resource={jobs} what="the inference jobs" lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty isSmall title="The model has not been used yet">
              <p>Let it find artifacts in recordings, and listen to what it found.</p>
            </Empty>
          ) : (
            <Table
              caption="Inference jobs of the model"
              columns={columns}
              rows={items}
              keyOf={(job) => job.id}
            />
          )
        }
      </Shown>
    </section>
  );
}
