// Facts of an annotation set: annotations by type, and how many files are reviewed.
import type { AnnotationSet } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { Meter } from "../../components/meter.tsx";
import { pathOf } from "./set-dialogs.tsx";

export const TypeCounts = ({ set: { annotations_by_type: types } }: { set: AnnotationSet }) => (
  <span class="tags">
    {Object.entries(types)
      .sort(([, a], [, b]) => b - a)
      .map(([name, number]) => (
        <span key={name} class="tag">
          <bdi>{name}</bdi> <span class="number faint">{count(number)}</span>
        </span>
      ))}
  </span>
);

/** How many files are marked as reviewed, of all. */
export function Reviewed({ set, files }: { set: AnnotationSet; files: number }) {
  const reviewed = useResource(`set/${set.id}/reviewed`, () =>
    body(
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed", {
        params: { path: pathOf(set), query: { page_size: 1 } },
      }),
    ),
  );
  if (reviewed.data === undefined) return <span class="faint">–</span>;
  const { total } = reviewed.data;
  const text = `${count(total)} of ${count(files)}`;
  return (
    <span class="reviewed-cell">
      <span class="number nowrap">{text}</span>
      <Meter
        label="Reviewed files"
        value={total}
        max={files}
        text={`${text} files are reviewed`}
        tone={total >= files && files > 0 ? "good" : "accent"}
        isThin
      />
    </span>
  );
}
