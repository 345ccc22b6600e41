// The list of models: present and archived ones.
import type { Model } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { bytes } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { oneOf } from "../../app/table-state.ts";
import { Tag } from "../../components/badge.tsx";
import { Button, ButtonLink } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { share } from "../../models/figures.ts";
import { ModelState } from "../../models/model-state.tsx";
import { Page } from "../../shell/page.tsx";

const pageSize = 50;

export default function Models() {
  const page = usePage();
  const archived = oneOf(query.value.get("archived"), ["true", "all", "false"]) ?? ("false" as const);
  const sort = useSort(["name", "f1", "created"], { column: "created", isDescending: true });
  const request = {
    page,
    page_size: pageSize,
    archived,
    ...(sort.column === "created" && !sort.isDescending ? { order: "asc" as const } : {}),
  };
  const list = useResource(
    `models?${JSON.stringify(request)}`,
    () => body(api.GET("/api/v1/models", { params: { query: request } })),
    ({ type }) => type.startsWith("model."),
  );
  const total = list.data?.total ?? 0;
  const isNew = list.data?.total === 0 && archived === "false" && page === 1 && !list.isOther;
  return (
    <Page
      title="Models"
      note="What trainings have learned. An active model can find artifacts in other recordings."
      actions={
        total > 1 && (
          <ButtonLink icon="layers" href={href("/models/compare")}>
            Compare two models
          </ButtonLink>
        )
      }
    >
      <div class="row apart toolbar">
        <Select
          label="Archived"
          isLabelHidden
          value={archived}
          onValue={(next) => setQuery({ archived: next === "false" ? undefined : next, page: undefined })}
        >
          <option value="false">Not archived</option>
          <option value="true">Archived</option>
          <option value="all">All models</option>
        </Select>
        <Pager page={page} pageSize={pageSize} total={total} what="the models" />
      </div>
      <Shown resource={list} what="the models">
        {({ items }) =>
          items.length > 0 ? (
            <Table
              caption="Models"
              columns={columns.map((column) =>
                total > pageSize && column.id !== "created" ? { ...column, by: undefined } : column,
              )}
              serverSorted={["created"]}
              rows={items}
              keyOf={({ id }) => id}
              sort={sort}
              isOld={list.isOther}
            />
          ) : isNew ? (
            <Empty
              title="No models yet"
              actions={
                <ButtonLink kind="primary" icon="training" href={href("/training/new")}>
                  Train a model
                </ButtonLink>
              }
            >
              <p>A model is made by a training: label recordings, publish the labels, then train.</p>
            </Empty>
          ) : (
            <Empty
              isSmall
              title={archived === "true" ? "No model is archived" : "This page is empty"}
              actions={
                <Button onClick={() => setQuery({ archived: undefined, page: undefined })}>
                  Show the models
                </Button>
              }
            />
          )
        }
      </Shown>
    </Page>
  );
}

const columns: readonly Column<Model>[] = [
  {
    id: "name",
    header: "Name",
    isFlexible: true,
    by: ({ name }) => name,
    cell: ({ id, name, description }) => (
      <span class="stack-tight">
        <a class="row-link break" href={href(`/models/${id}`)}>
          {name}
        </a>
        {description !== "" && <span class="small faint clip-2">{description}</span>}
      </span>
    ),
  },
  {
    id: "types",
    header: "Finds",
    isFlexible: true,
    isExtra: true,
    cell: ({ artifact_types: types }) => (
      <span class="tags" title={types.join(", ")}>
        {types.slice(0, 4).map((type) => (
          <Tag key={type}>{type}</Tag>
        ))}
        {types.length > 4 && <span class="faint small">+{types.length - 4}</span>}
      </span>
    ),
  },
  {
    id: "f1",
    header: "F1",
    isNumber: true,
    descendsFirst: true,
    by: ({ eval_metrics }) => eval_metrics.overall?.f1 ?? null,
    cell: ({ eval_metrics }) => share(eval_metrics.overall?.f1),
  },
  { id: "state", header: "Status", cell: (model) => <ModelState model={model} /> },
  {
    id: "size",
    header: "Size",
    isNumber: true,
    isExtra: true,
    cell: ({ model_size_bytes }) => bytes(model_size_bytes),
  },
  {
    id: "created",
    header: "Created",
    descendsFirst: true,
    cell: ({ created_at }) => <Ago time={created_at} />,
  },
];
