// The list of training jobs.
import type { TrainingJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { Empty } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { createdColumn, progressColumn, ranColumn, statusColumn } from "../../jobs/job-columns.tsx";
import { JobList } from "../../jobs/job-list.tsx";
import { nameOf, useDatasets } from "../../jobs/names.ts";
import { share } from "../../models/figures.ts";

export default function TrainingJobs() {
  const datasets = useDatasets();
  return (
    <JobList
      title="Training"
      note="Each training learns a model from a published annotation set."
      noun="training"
      caption="Training jobs"
      start="Train a model"
      startPath="/training/new"
      filter={{ name: "dataset", label: "Dataset", all: "All datasets", options: datasets }}
      load={(request, dataset_id) =>
        body(
          api.GET("/api/v1/training-jobs", {
            params: { query: { ...request, ...(dataset_id === undefined ? {} : { dataset_id }) } },
          }),
        )
      }
      isConcerned={({ type }) => type.startsWith("training_job.")}
      columns={columnsOf((id) => nameOf(datasets.data, id))}
      empty={(button) => (
        <Empty title="No trainings yet" actions={button}>
          <p>
            A training needs a dataset with five minutes of audio and a published annotation set. The
            dataset's page says what is missing.
          </p>
        </Empty>
      )}
    />
  );
}

const columnsOf = (datasetOf: (id: string) => string): readonly Column<TrainingJob>[] => [
  {
    id: "job",
    header: "Dataset",
    isFlexible: true,
    cell: ({ id, dataset_id, config }) => (
      <span class="stack-tight">
        <a class="row-link break" href={href(`/training/${id}`)}>
          {datasetOf(dataset_id)}
        </a>
        <span class="small faint clip-2">{typesOf(config).join(", ")}</span>
      </span>
    ),
  },
  statusColumn,
  progressColumn,
  { id: "f1", header: "F1", isNumber: true, cell: ({ metrics }) => share(metrics?.overall?.f1) },
  ranColumn,
  createdColumn,
];

/** The types of an effective configuration; it is a plain object in the description. */
const typesOf = ({ artifact_types: types }: TrainingJob["config"]) =>
  Array.isArray(types) ? types.map(String) : [];
