// The list of datasets: search, order, create, rename, delete.
import { useState } from "preact/hooks";
import type { Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { clock, count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Tag } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SearchField } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage, useSort } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { Page } from "../../shell/page.tsx";
import { CreateDataset } from "./create-dataset.tsx";
import { DeleteDataset } from "./delete-dataset.tsx";
import { EditDataset } from "./edit-dataset.tsx";

const pageSize = 100;

type Opened = { readonly what: "edit" | "delete"; readonly dataset: Dataset } | undefined;

function columnsOf(open: (opened: Opened) => void): readonly Column<Dataset>[] {
  const blocked = missing("write");
  return [
    {
      id: "name",
      header: "Name",
      isFlexible: true,
      by: ({ name }) => name,
      cell: ({ id, name, description }) => (
        <span class="stack-tight">
          <a class="row-link break" href={href(`/datasets/${id}`)}>
            {name}
          </a>
          {description && <span class="small faint clip-2">{description}</span>}
        </span>
      ),
    },
    {
      id: "types",
      header: "Artifact types",
      isExtra: true,
      isFlexible: true,
      cell: ({ artifact_types: types }) =>
        types.length === 0 ? (
          <span class="faint">None yet</span>
        ) : (
          <Types names={types.map(({ name }) => name)} />
        ),
    },
    {
      id: "files",
      header: "Audio files",
      isNumber: true,
      descendsFirst: true,
      by: ({ audio_file_count: files }) => files,
      cell: ({ audio_file_count: files, embedded_audio_file_count: embedded }) => (
        <span title={`${count(embedded)} of ${count(files)} can be used for training`}>
          {embedded < files && <span class="faint">{count(embedded)} / </span>}
          {count(files)}
        </span>
      ),
    },
    {
      id: "length",
      header: "Usable audio",
      isNumber: true,
      descendsFirst: true,
      by: ({ total_duration_ms: ms }) => ms,
      cell: ({ total_duration_ms: ms }) => (ms === 0 ? <span class="faint">–</span> : clock(ms)),
    },
    {
      id: "created",
      header: "Created",
      descendsFirst: true,
      by: ({ created_at }) => Date.parse(created_at),
      cell: ({ created_at }) => <Ago time={created_at} />,
    },
    {
      id: "tools",
      header: "Actions",
      isHeaderHidden: true,
      cell: (dataset) => (
        <Menu
          label={`Actions for ${dataset.name}`}
          actions={[
            { label: "Edit", icon: "edit", blocked, run: () => open({ what: "edit", dataset }) },
            {
              label: "Delete",
              icon: "trash",
              isDanger: true,
              blocked,
              run: () => open({ what: "delete", dataset }),
            },
          ]}
        />
      ),
    },
  ];
}

function Types({ names }: { names: readonly string[] }) {
  const shown = names.slice(0, 4);
  return (
    <span class="tags" title={names.join(", ")}>
      {shown.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
      {names.length > shown.length && <span class="faint small">+{names.length - shown.length}</span>}
    </span>
  );
}

export default function Datasets() {
  const page = usePage();
  const name = query.value.get("q") ?? "";
  const sort = useSort(["name", "files", "length", "created"], { column: "created", isDescending: true });
  const isOldestFirst = sort.column === "created" && !sort.isDescending;
  const request = {
    page,
    page_size: pageSize,
    ...(name === "" ? {} : { name }),
    ...(isOldestFirst ? { order: "asc" as const } : {}),
  };
  const list = useResource(
    `datasets?${JSON.stringify(request)}`,
    () => body(api.GET("/api/v1/datasets", { params: { query: request } })),
    ({ type }) => type.startsWith("audio_file."),
  );
  const [opened, open] = useState<Opened>();
  const isCreating = query.value.get("new") === "1";
  const create = () => setQuery({ new: "1" });
  const blocked = missing("write");
  useShortcut(blocked === undefined ? "c" : undefined, "Create a dataset", create);
  const total = list.data?.total ?? 0;
  const isNew = list.data?.total === 0 && name === "" && page === 1 && !list.isOther;
  return (
    <Page
      title="Datasets"
      note="Recordings that belong together, with the artifacts to find in them."
      actions={
        <Button kind="primary" icon="plus" onClick={create} blocked={blocked}>
          Create dataset
        </Button>
      }
    >
      {!isNew && (
        <div class="row apart toolbar">
          <SearchField
            label="Search by name"
            value={name}
            onValue={(text) => setQuery({ q: text, page: undefined })}
          />
          <Pager page={page} pageSize={pageSize} total={total} what="the datasets" />
        </div>
      )}
      <Shown resource={list} what="the datasets">
        {({ items }) =>
          items.length > 0 ? (
            <Table
              caption="Datasets"
              columns={columnsOf(open).map((column) =>
                // A part of a list cannot be sorted in the browser.
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
              title="No datasets yet"
              actions={
                <Button kind="primary" icon="plus" onClick={create} blocked={blocked}>
                  Create dataset
                </Button>
              }
            >
              <p>
                A dataset holds recordings and says which artifacts to label in them. Create the first one,
                then upload recordings into it.
              </p>
            </Empty>
          ) : (
            <Empty
              isSmall
              title={name === "" ? "This page is empty" : "No dataset has this name"}
              actions={
                <Button onClick={() => setQuery({ q: undefined, page: undefined })}>Show all datasets</Button>
              }
            />
          )
        }
      </Shown>
      {isCreating && <CreateDataset onClose={() => setQuery({ new: undefined })} />}
      {opened?.what === "edit" && <EditDataset dataset={opened.dataset} onClose={() => open(undefined)} />}
      {opened?.what === "delete" && (
        <DeleteDataset dataset={opened.dataset} onClose={() => open(undefined)} />
      )}
    </Page>
  );
}
