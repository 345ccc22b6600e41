// The list of inference jobs: filters in the address, live.
import type { InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { navigate, query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { JobBadge, JobMessage, JobProgress, Ran } from "../../jobs/job-state.tsx";
import { nameOf, useModels } from "../../jobs/names.ts";
import { StatusFilter, useStatuses } from "../../jobs/status-filter.tsx";
import { Page } from "../../shell/page.tsx";

const pageSize = 50;

export default function InferenceJobs() {
  const page = usePage();
  const { choice, wanted } = useStatuses();
  const model = query.value.get("model") ?? "";
  const sort = useSort(["created"], { column: "created", isDescending: true });
  const request = {
    page,
    page_size: pageSize,
    ...(wanted === undefined ? {} : { status: wanted }),
    ...(model === "" ? {} : { model_id: model }),
    ...(sort.isDescending ? {} : { order: "asc" as const }),
  };
  const list = useResource(
    `inference-jobs?${JSON.stringify(request)}`,
    () => body(api.GET("/api/v1/inference-jobs", { params: { query: request } })),
    ({ type }) => type.startsWith("inference_"),
  );
  const models = useModels();
  const blocked = missing("write");
  const start = () => navigate("/inference/new");
  useShortcut(blocked === undefined ? "c" : undefined, "Find artifacts in recordings", start);
  const isFiltered = choice !== "" || model !== "";
  const isNew = list.data?.total === 0 && !isFiltered && page === 1 && !list.isOther;
  const hasNoModel = models.data?.total === 0;
  const button = (
    <Button kind="primary" icon="plus" onClick={start} blocked={blocked}>
      Find artifacts
    </Button>
  );
  return (
    <Page
      title="Inference"
      note="Each job lets a model search recordings. See, hear and export what it found."
      actions={isNew ? undefined : button}
    >
      {!isNew && (
        <div class="row apart toolbar">
          <div class="row">
            <StatusFilter choice={choice} />
            <Select
              label="Model"
              isLabelHidden
              value={model}
              onValue={(id) => setQuery({ model: id, page: undefined })}
            >
              <option value="">All models</option>
              {models.data?.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          </div>
          <Pager page={page} pageSize={pageSize} total={list.data?.total ?? 0} what="the inference jobs" />
        </div>
      )}
      <Shown resource={list} what="the inference jobs">
        {({ items }) =>
          items.length > 0 ? (
            <Table
              caption="Inference jobs"
              columns={columnsOf((id) => nameOf(models.data, id))}
              serverSorted={["created"]}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
              isOld={list.isOther}
            />
          ) : isNew ? (
            <Empty
              title="Nothing searched yet"
              actions={
                hasNoModel ? (
                  <ButtonLink kind="primary" icon="training" href={href("/training/new")}>
                    Train a model
                  </ButtonLink>
                ) : (
                  button
                )
              }
            >
              <p>
                {hasNoModel
                  ? "A model finds the artifacts. Train one first; then let it search recordings that you drop here or that a dataset has."
                  : "Choose a model, and drop recordings or choose a dataset. The service searches them and shows what it found."}
              </p>
            </Empty>
          ) : (
            <Empty
              isSmall
              title="No job fits the filters"
              actions={
                <Button onClick={() => setQuery({ status: undefined, model: undefined, page: undefined })}>
                  Show all jobs
                </Button>
              }
            />
          )
        }
      </Shown>
    </Page>
  );
}

function columnsOf(modelOf: (id: string) => string): readonly Column<InferenceJob>[] {
  return [
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
    { id: "ran", header: "Ran", isNumber: true, isExtra: true, cell: (job) => <Ran job={job} /> },
    {
      id: "created",
      header: "Created",
      descendsFirst: true,
      cell: ({ created_at }) => <Ago time={created_at} />,
    },
  ];
}
