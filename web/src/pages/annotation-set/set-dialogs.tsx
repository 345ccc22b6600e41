// Dialogs of annotation sets: create or copy, publish, delete.
import { useMemo, useState } from "preact/hooks";
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { refresh } from "../../app/resource.ts";
import type { Navigate } from "../../app/router.ts";
import { session } from "../../app/session.ts";
import { uniqueName } from "../../app/unique.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { Select } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { notify } from "../../components/toast.tsx";
import { filesWithKept } from "../../editor/keeping.ts";
import { cautionsOf } from "./cautions.ts";

export const pathOf = ({ dataset_id, id }: AnnotationSet) => ({ dataset_id, annotation_set_id: id });

export async function refreshSets(set: Pick<AnnotationSet, "dataset_id" | "id">): Promise<void> {
  await Promise.all([refresh(`dataset/${set.dataset_id}/`), refresh(`set/${set.id}`)]);
}

export function CreateSet({
  dataset,
  sets,
  from: first = "",
  onClose,
  onCreated,
}: {
  dataset: Dataset;
  sets: readonly AnnotationSet[];
  /** The set that is copied, to begin with. */
  from?: string;
  onClose: () => void;
  onCreated?: (set: AnnotationSet, go: Navigate) => void;
}) {
  const [from, setFrom] = useState(first);
  const idempotencyKey = useMemo(uniqueName, [from]);
  const submit = async (go: Navigate) => {
    const set = await body(
      api.POST("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path: { dataset_id: dataset.id }, header: { "Idempotency-Key": idempotencyKey } },
        body: from === "" ? {} : { from_annotation_set_id: from },
      }),
    );
    notify(`Created the draft version ${set.version}`);
    await refreshSets(set);
    onClose();
    onCreated?.(set, go);
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
        hint="A copy has the annotations and the reviewed files. It lets you correct a published set."
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

export function PublishSet({
  dataset,
  set,
  onClose,
}: {
  dataset: Dataset;
  set: AnnotationSet;
  onClose: () => void;
}) {
  const kept = filesWithKept(session.value?.tenant_id ?? "", set.id).size;
  const submit = async () => {
    await body(
      api.POST("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/publish", {
        params: { path: pathOf(set), header: { "Idempotency-Key": `publish-${set.id}` } },
      }),
    );
    notify(`Published version ${set.version}`);
    await refreshSets(set);
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
      {cautionsOf(dataset, set, kept).map((caution) => (
        <div class="notice warn" key={caution}>
          <Icon name="warning" />
          <p>{caution}</p>
        </div>
      ))}
    </FormDialog>
  );
}

export function DeleteSet({
  set,
  onClose,
  onDeleted,
}: {
  set: AnnotationSet;
  onClose: () => void;
  onDeleted?: (go: Navigate) => void;
}) {
  const submit = async (go: Navigate) => {
    await body(
      api.DELETE("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}", {
        params: { path: pathOf(set) },
      }),
    );
    notify(`Deleted the draft version ${set.version}`);
    onClose();
    onDeleted?.(go);
    await refresh(`dataset/${set.dataset_id}/`);
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
        {set.copying !== null && " The copy into it ends."}
      </p>
    </FormDialog>
  );
}
