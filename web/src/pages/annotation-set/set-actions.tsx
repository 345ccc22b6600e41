// What can be done with an annotation set: a menu, and the dialogs that it opens. Used by the dataset's list and by the page
// of a set.
import { useState } from "preact/hooks";
import type { AnnotationSet, Dataset, paths } from "../../../../client/schema.ts";
import { exportApi } from "../../app/api.ts";
import type { Navigate } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { Badge } from "../../components/badge.tsx";
import { Menu } from "../../components/menu.tsx";
import { Progress } from "../../components/meter.tsx";
import { save } from "../../components/save.ts";
import { ImportLabels } from "./import.tsx";
import { CreateSet, DeleteSet, PublishSet } from "./set-dialogs.tsx";

type Opened = "publish" | "copy" | "import" | "delete" | undefined;

const formats = [
  ["annotation-tool", "for Label Studio"],
  ["csv", "CSV"],
  ["dcase", "DCASE list"],
] as const;

/** Formats that hold the labels of one file. */
export const fileFormats = [
  ["audacity", "for Audacity"],
  ["webvtt", "WebVTT"],
  ["csv", "CSV"],
] as const;

type Format = (typeof formats | typeof fileFormats)[number][0];

export function exportSet(set: AnnotationSet, format: Format, audio_file_id?: string): void {
  // One of the paths stands for all: they take the same parameters, but for the flavor.
  const path = `/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/${format}`;
  const query = {
    ...(format === "annotation-tool" && { flavor: "import" }),
    ...(audio_file_id !== undefined && { audio_file_id }),
  };
  void save(
    exportApi.GET(path as `${string}/export/csv` & keyof paths, {
      params: { path: { dataset_id: set.dataset_id, annotation_set_id: set.id }, query },
      parseAs: "blob",
    }),
  );
}

export function SetActions({
  dataset,
  set,
  className,
  onCreated,
  onDeleted,
}: {
  dataset: Dataset;
  set: AnnotationSet;
  /** Of the button. */
  className?: string;
  onCreated?: (set: AnnotationSet, go: Navigate) => void;
  onDeleted?: (go: Navigate) => void;
}) {
  const [opened, open] = useState<Opened>();
  const close = () => open(undefined);
  const published = set.status === "published" ? "A published set never changes" : undefined;
  const noLabelling = missing("label");
  const blocked = missing("write") ?? published;
  const isCopying = set.copying !== null ? "The set is being copied" : undefined;
  return (
    <>
      <Menu
        label={`Actions for version ${set.version}`}
        className={className}
        actions={[
          { label: "Publish", icon: "check", blocked: blocked ?? isCopying, run: () => open("publish") },
          { label: "Copy into a new draft", icon: "copy", blocked: noLabelling, run: () => open("copy") },
          {
            label: "Import annotations",
            icon: "upload",
            blocked: noLabelling ?? published ?? isCopying,
            run: () => open("import"),
          },
          ...formats.map(([format, name]) => ({
            label: `Export ${name}`,
            icon: "down" as const,
            run: () => exportSet(set, format),
          })),
          { label: "Delete draft", icon: "trash", isDanger: true, blocked, run: () => open("delete") },
        ]}
      />
      {opened === "publish" && <PublishSet dataset={dataset} set={set} onClose={close} />}
      {opened === "copy" && (
        <CreateSet dataset={dataset} sets={[set]} from={set.id} onClose={close} onCreated={onCreated} />
      )}
      {opened === "import" && <ImportLabels set={set} onClose={close} />}
      {opened === "delete" && <DeleteSet set={set} onClose={close} onDeleted={onDeleted} />}
    </>
  );
}

export function SetStatus({ set: { copying, status } }: { set: AnnotationSet }) {
  if (copying === null)
    return status === "published" ? <Badge tone="good">Published</Badge> : <Badge tone="quiet">Draft</Badge>;
  const { copied, total } = copying;
  return (
    <span class="progress-cell">
      <Badge tone="busy">Copying</Badge>
      <Progress label="Copied" share={total === 0 ? undefined : copied / total} />
    </span>
  );
}
