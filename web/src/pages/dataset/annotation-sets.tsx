// The annotation sets of a dataset: drafts and published ones, how far each is, and what can be done with it.
import { useEffect, useState } from "preact/hooks";
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { amountOfTime, count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import type { Navigate } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { type Column, Pager, Table, usePage } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { openNextFile } from "../annotation-set/open-next-file.ts";
import { SetActions, SetStatus } from "../annotation-set/set-actions.tsx";
import { CreateSet } from "../annotation-set/set-dialogs.tsx";
import { Reviewed, TypeCounts } from "../annotation-set/set-facts.tsx";

const pageSize = 20;
/** No event says how far a copy is. */
const copyingEveryMs = 2_000;

export function AnnotationSets({ dataset }: { dataset: Dataset }) {
  const page = usePage();
  const [isCreating, setCreating] = useState(false);
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
  useEffect(() => {
    if (list.data?.items.some(({ copying }) => copying !== null) !== true) return;
    const timer = setTimeout(() => void list.reload(), copyingEveryMs);
    return () => clearTimeout(timer);
  }, [list.data]);
  const createButton = (
    <Button icon="plus" onClick={() => setCreating(true)} blocked={missing("label")}>
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
            <Table
              caption="Annotation sets"
              columns={columnsOf(dataset)}
              rows={items}
              keyOf={({ id }) => id}
            />
          )
        }
      </Shown>
      {isCreating && (
        <CreateSet
          dataset={dataset}
          sets={list.data?.items ?? []}
          onClose={() => setCreating(false)}
          onCreated={toSet}
        />
      )}
    </>
  );
}

const pathOfSet = ({ dataset_id, id }: AnnotationSet) => `/datasets/${dataset_id}/sets/${id}`;
const toSet = (set: AnnotationSet, go: Navigate) => go(pathOfSet(set));

function columnsOf(dataset: Dataset): readonly Column<AnnotationSet>[] {
  return [
    {
      id: "version",
      header: "Set",
      cell: (set) => (
        <a class="row-link number" href={href(pathOfSet(set))}>
          Version {set.version}
        </a>
      ),
    },
    { id: "status", header: "Status", cell: (set) => <SetStatus set={set} /> },
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
      isExtra: true,
      cell: ({ total_positive_duration_ms: ms }) =>
        ms === 0 ? <span class="faint">–</span> : amountOfTime(ms),
    },
    { id: "types", header: "By type", isFlexible: true, cell: (set) => <TypeCounts set={set} /> },
    {
      id: "reviewed",
      header: "Reviewed",
      cell: (set) => <Reviewed set={set} files={dataset.audio_file_count} />,
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
      cell: (set) => (
        <span class="row end">
          {set.status === "draft" && (
            <Button
              isSmall
              icon="edit"
              aria-label={`Label version ${set.version}`}
              blocked={missing("label") ?? (set.copying === null ? undefined : "The set is being copied")}
              onClick={() => void openNextFile(dataset.id, set.id)}
            >
              Label
            </Button>
          )}
          <SetActions dataset={dataset} set={set} onCreated={toSet} />
        </span>
      ),
    },
  ];
}
