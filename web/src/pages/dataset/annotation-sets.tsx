// The annotation sets of a dataset: drafts and published ones; create, copy, export, publish, delete.
import { useMemo, useState } from "preact/hooks";
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { dashboardUrl } from "../../app/base.ts";
import { amountOfTime, count, plural } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import { missing } from "../../app/session.ts";
import { uniqueName } from "../../app/unique.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Select } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import { Progress } from "../../components/meter.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";

const pageSize = 50;

type Opened =
  | { readonly what: "publish" | "delete"; readonly set: AnnotationSet }
  | { readonly what: "create" }
  | undefined;

export function AnnotationSets({ dataset }: { dataset: Dataset }) {
  const page = usePage();
  const [opened, open] = useState<Opened>();
  const path = { dataset_id: dataset.id };
  const list = useResource(
    `dataset/${dataset.id}/sets/${page}`,
    () =>
      body(
        api.GET("/api/v1/datasets/{dataset_id}/annotation-sets", {
          params: { path, query: { page, page_size: pageSize } },
        }),
      ),
    ({ type, data }) => type.startsWith("annotation_set.") && data.dataset_id === dataset.id,
  );
  const blocked = missing("write");
  const close = () => open(undefined);
  const create = () => open({ what: "create" });
  const createButton = (
    <Button icon="plus" onClick={create} blocked={blocked}>
      Create annotation set
    </Button>
  );
  return (
    <>
      {list.data !== undefined && list.data.total > 0 && (
        <div class="row apart toolbar">
          {createButton}
          <Pager page={page} pageSize={pageSize} total={list.data.total} what="the annotation sets" />
        </div>
      )}
      <Shown resource={list} what="the annotation sets">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No annotation sets yet" actions={createButton}>
              <p>
                An annotation set holds the labels of one pass over the recordings. It stays a draft until you
                publish it; then it never changes, and models can be trained on it.
              </p>
            </Empty>
          ) : (
            <Table caption="Annotation sets" columns={columnsOf(open)} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      {opened?.what === "create" && (
        <Create dataset={dataset} sets={list.data?.items ?? []} onClose={close} />
      )}
      {opened?.what === "publish" && <Publish set={opened.set} onClose={close} />}
      {opened?.what === "delete" && <Delete set={opened.set} onClose={close} />}
    </>
  );
}

function columnsOf(open: (opened: Opened) => void): readonly Column<AnnotationSet>[] {
  return [
    {
      id: "version",
      header: "Set",
      cell: ({ version }) => <span class="strong number">Version {version}</span>,
    },
    {
      id: "status",
      header: "Status",
      cell: ({ status, copying }) =>
        copying !== null ? (
          <Copying set={{ copying }} />
        ) : status === "published" ? (
          <Badge tone="good">Published</Badge>
        ) : (
          <Badge tone="quiet">Draft</Badge>
        ),
    },
    {
      id: "labels",
      header: "Annotations",
      isNumber: true,
      cell: ({ total_annotations: total }) => count(total),
    },
    {
      id: "length",
      header: "Labelled",
      isNumber: true,
      cell: ({ total_positive_duration_ms: ms }) =>
        ms === 0 ? <span class="faint">–</span> : amountOfTime(ms),
    },
    {
      id: "types",
      header: "By type",
      isFlexible: true,
      cell: ({ annotations_by_type: types }) => (
        <span class="tags">
          {Object.entries(types)
            .sort(([, a], [, b]) => b - a)
            .map(([name, number]) => (
              <span key={name} class="tag">
                {name} <span class="number faint">{count(number)}</span>
              </span>
            ))}
        </span>
      ),
    },
    {
      id: "created",
      header: "Published or created",
      cell: ({ created_at, published_at }) => <Ago time={published_at ?? created_at} />,
    },
    {
      id: "tools",
      header: "Actions",
      isHeaderHidden: true,
      cell: (set) => <Actions set={set} open={open} />,
    },
  ];
}

function Copying({ set: { copying } }: { set: { copying: AnnotationSet["copying"] } }) {
  const { copied, total } = { copied: 0, total: 0, ...copying };
  return (
    <span class="progress-cell">
      <Badge tone="busy">Copying</Badge>
      <Progress label="Copied" share={total === 0 ? undefined : copied / total} />
    </span>
  );
}

function Actions({ set, open }: { set: AnnotationSet; open: (opened: Opened) => void }) {
  const exported = (format: string) => ({
    label: `Export ${format === "annotation-tool" ? "for Label Studio" : format === "csv" ? "CSV" : "DCASE list"}`,
    icon: "down" as const,
    run: () =>
      window.location.assign(
        `${dashboardUrl}/api/v1/datasets/${set.dataset_id}/annotation-sets/${set.id}/export/${format}`,
      ),
  });
  const needsDraft = set.status === "published" ? "A published set never changes" : undefined;
  const blocked = missing("write") ?? needsDraft;
  return (
    <Menu
      label={`Actions for version ${set.version}`}
      actions={[
        { label: "Publish", icon: "check", blocked, run: () => open({ what: "publish", set }) },
        exported("annotation-tool"),
        exported("csv"),
        exported("dcase"),
        {
          label: "Delete draft",
          icon: "trash",
          isDanger: true,
          blocked,
          run: () => open({ what: "delete", set }),
        },
      ]}
    />
  );
}

function Create({
  dataset,
  sets,
  onClose,
}: {
  dataset: Dataset;
  sets: readonly AnnotationSet[];
  onClose: () => void;
}) {
  const [from, setFrom] = useState("");
  const idempotencyKey = useMemo(uniqueName, [from]);
  const submit = async () => {
    const set = await body(
      api.POST("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path: { dataset_id: dataset.id }, header: { "Idempotency-Key": idempotencyKey } },
        body: from === "" ? {} : { from_annotation_set_id: from },
      }),
    );
    notify(`Created the draft version ${set.version}`);
    await refresh(`dataset/${dataset.id}/`);
    onClose();
  };
  return (
    <FormDialog
      title="Create an annotation set"
      action="Create draft"
      attempted="Creating the draft"
      submit={submit}
      onClose={onClose}
    >
      <Select
        label="Begin with"
        value={from}
        onValue={setFrom}
        hint="A copy lets you correct a published set."
      >
        <option value="">No annotations</option>
        {sets.map(({ id, version, status, total_annotations: total }) => (
          <option key={id} value={id}>
            A copy of version {version} ({status}, {plural(total, "annotation")})
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}

const pathOf = ({ dataset_id, id }: AnnotationSet) => ({ dataset_id, annotation_set_id: id });

function Publish({ set, onClose }: { set: AnnotationSet; onClose: () => void }) {
  const submit = async () => {
    await body(
      api.POST("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/publish", {
        params: { path: pathOf(set), header: { "Idempotency-Key": `publish-${set.id}` } },
      }),
    );
    notify(`Published version ${set.version}`);
    await refresh(`dataset/${set.dataset_id}/`);
    onClose();
  };
  return (
    <FormDialog
      title={`Publish version ${set.version}`}
      action="Publish"
      attempted="Publishing the set"
      submit={submit}
      onClose={onClose}
    >
      <p>
        The set has {plural(set.total_annotations, "annotation")}.{" "}
        <strong>Once published, it never changes again</strong>, and it cannot be deleted on its own. Models
        can be trained on it. To correct it later, create a draft from a copy of it.
      </p>
    </FormDialog>
  );
}

function Delete({ set, onClose }: { set: AnnotationSet; onClose: () => void }) {
  const submit = async () => {
    await body(
      api.DELETE("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}", {
        params: { path: pathOf(set) },
      }),
    );
    notify(`Deleted the draft version ${set.version}`);
    await refresh(`dataset/${set.dataset_id}/`);
    onClose();
  };
  return (
    <FormDialog
      title={`Delete version ${set.version}`}
      action="Delete draft"
      isDanger
      attempted="Deleting the draft"
      submit={submit}
      onClose={onClose}
    >
      <p>
        The draft and its {plural(set.total_annotations, "annotation")} are deleted. This cannot be undone.
      </p>
    </FormDialog>
  );
}
