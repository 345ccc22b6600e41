// The list of training jobs: filters in the address, live.
import type { TrainingJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { useResource } from "../../app/resource.ts";
import { navigate, query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Button } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { JobBadge, JobMessage, JobProgress, Ran } from "../../jobs/job-state.tsx";
import { nameOf, useDatasets } from "../../jobs/names.ts";
import { StatusFilter, useStatuses } from "../../jobs/status-filter.tsx";
import { share } from "../../models/figures.ts";
import { Page } from "../../shell/page.tsx";

const pageSize = 50;

export default function TrainingJobs() {
  const page = usePage();
  const { choice, wanted } = useStatuses();
  const dataset = query.value.get("dataset") ?? "";
  const sort = useSort(["created"], { column: "created", isDescending: true });
  const request = {
    page,
    page_size: pageSize,
    ...(wanted === undefined ? {} : { status: wanted }),
    ...(dataset === "" ? {} : { dataset_id: dataset }),
    ...(sort.isDescending ? {} : { order: "asc" as const }),
  };
  const list = useResource(
    `training-jobs?${JSON.stringify(request)}`,
    () => body(api.GET("/api/v1/training-jobs", { params: { query: request } })),
    ({ type }) => type.startsWith("training_job."),
  );
  const datasets = useDatasets();
  const blocked = missing("write");
  const start = () => navigate("/training/new");
  useShortcut(blocked === undefined ? "c" : undefined, "Train a model", start);
  const isFiltered = choice !== "" || dataset !== "";
  const isNew = list.data?.total === 0 && !isFiltered && page === 1 && !list.isOther;
  const button = (
    <Button kind="primary" icon="plus" onClick={start} blocked={blocked}>
      Train a model
    </Button>
  );
  return (
    <Page
      title="Training"
      note="Each training learns a model from a published annotation set."
      actions={isNew ? undefined : button}
    >
      {!isNew && (
        <div class="row apart toolbar">
          <div class="row">
            <StatusFilter choice={choice} />
            <Select
              label="Dataset"
              isLabelHidden
              value={dataset}
              onValue={(id) => setQuery({ dataset: id, page: undefined })}
            >
              <option value="">All datasets</option>
              {datasets.data?.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          </div>
          <Pager page={page} pageSize={pageSize} total={list.data?.total ?? 0} what="the training jobs" />
        </div>
      )}
      <Shown resource={list} what="the training jobs">
        {({ items }) =>
          items.length > 0 ? (
            <Table
              caption="Training jobs"
              columns={columnsOf((id) => nameOf(datasets.data, id))}
              serverSorted={["created"]}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
              isOld={list.isOther}
            />
          ) : isNew ? (
            <Empty title="No trainings yet" actions={button}>
              <p>
                A training needs a dataset with five minutes of audio and a published annotation set. The
                dataset's page says what is missing.
              </p>
            </Empty>
          ) : (
            <Empty
              isSmall
              title="No training fits the filters"
              actions={
                <Button onClick={() => setQuery({ status: undefined, dataset: undefined, page: undefined })}>
                  Show all trainings
                </Button>
              }
            />
          )
        }
      </Shown>
    </Page>
  );
}

function columnsOf(datasetOf: (id: string) => string): readonly Column<TrainingJob>[] {
  return [
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
    {
      id: "status",
      header: "Status",
      isFlexible: true,
      cell: (job) => (
        <span class="stack-tight">
          <JobBadge status={job.status} />
          <JobMessage job={job} />
        </span>
      ),
    },
    { id: "progress", header: "Progress", cell: (job) => <JobProgress job={job} /> },
    {
      id: "f1",
      header: "F1",
      isNumber: true,
      cell: ({ metrics }) => share(metrics?.overall?.f1),
    },
    { id: "ran", header: "Ran", isNumber: true, isExtra: true, cell: (job) => <Ran job={job} /> },
    {
      id: "created",
      header: "Created",
      descendsFirst: true,
      cell: ({ created_at }) => <Ago time={created_at} />,
    },
  ];
}

/** The types of an effective configuration; it is a plain object in the description. */
const typesOf = ({ artifact_types: types }: TrainingJob["config"]) =>
  Array.isArray(types) ? types.map(String) : [];
