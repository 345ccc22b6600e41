// The list of inference jobs.
import type { InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count } from "../../app/format.ts";
import { ButtonLink } from "../../components/button.tsx";
import { Empty } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { createdColumn, progressColumn, ranColumn, statusColumn } from "../../jobs/job-columns.tsx";
import { JobList } from "../../jobs/job-list.tsx";
import { nameOf, useModels } from "../../jobs/names.ts";

export default function InferenceJobs() {
  const models = useModels();
  const hasNoModel = models.data?.items.length === 0;
  const train = (
    <ButtonLink kind="primary" icon="training" href={href("/training/new")}>
      Train a model
    </ButtonLink>
  );
  return (
    <JobList
      title="Inference"
      note="Each job lets a model search recordings. See, hear and export what it found."
      noun="job"
      caption="Inference jobs"
      start="Find artifacts"
      startPath="/inference/new"
      filter={{ name: "model", label: "Model", all: "All models", options: models }}
      load={(request, model_id) =>
        body(
          api.GET("/api/v1/inference-jobs", {
            params: { query: { ...request, ...(model_id === undefined ? {} : { model_id }) } },
          }),
        )
      }
      isConcerned={({ type }) => type.startsWith("inference_")}
      columns={columnsOf((id) => nameOf(models.data, id))}
      empty={(button) => (
        <Empty title="Nothing searched yet" actions={hasNoModel ? train : button}>
          <p>
            {hasNoModel
              ? "A model finds the artifacts. Train one first; then let it search recordings that you drop here or that a dataset has."
              : "Choose a model, and drop recordings or choose a dataset. The service searches them and shows what it found."}
          </p>
        </Empty>
      )}
    />
  );
}

const columnsOf = (modelOf: (id: string) => string): readonly Column<InferenceJob>[] => [
  {
    id: "job",
    header: "Model",
    isFlexible: true,
    cell: ({ id, model_id }) => (
      <a class="row-link break" href={href(`/inference/${id}`)}>
        {modelOf(model_id)}
      </a>
    ),
  },
  statusColumn,
  progressColumn,
  {
    id: "files",
    header: "Files",
    isNumber: true,
    cell: ({ total_files: total, failed_files: failed }) => (
      <>
        {count(total)}
        {failed > 0 && <span class="bad-text"> · {count(failed)} failed</span>}
      </>
    ),
  },
  {
    id: "detections",
    header: "Detections",
    isNumber: true,
    cell: ({ total_detections: total }) => count(total),
  },
  ranColumn,
  createdColumn,
];
