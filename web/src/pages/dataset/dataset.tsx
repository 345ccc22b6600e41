// One dataset: what is missing for training, its audio, its artifact types, its annotation sets.
import "./dataset.css";
import { useState } from "preact/hooks";
import { api, versioned } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { navigate } from "../../app/router.ts";
import type { Params } from "../../app/routes.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Button } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Menu } from "../../components/menu.tsx";
import { Shown } from "../../components/states.tsx";
import { Tabs, useTab } from "../../components/tabs.tsx";
import { Ago } from "../../components/time.tsx";
import { Page } from "../../shell/page.tsx";
import { DeleteDataset } from "../datasets/delete-dataset.tsx";
import { EditDataset } from "../datasets/edit-dataset.tsx";
import { AnnotationSets } from "./annotation-sets.tsx";
import { AudioTable } from "./audio-table.tsx";
import { Readiness } from "./readiness.tsx";
import { TypesEditor } from "./types-editor.tsx";

export default function DatasetPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const resource = useResource(
    `dataset/${id}`,
    () => versioned(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } } })),
    ({ data }) => data.dataset_id === id,
  );
  const [opened, open] = useState<"edit" | "delete">();
  const tab = useTab(["audio", "types", "sets"]);
  const blocked = missing("write");
  const dataset = resource.data?.value;
  const upload = () => navigate(`/datasets/${id}/upload`);
  useShortcut(blocked === undefined ? "u" : undefined, "Upload audio", upload);
  return (
    <Page
      title={dataset?.name ?? "Dataset"}
      crumbs={[{ label: "Datasets", to: "/datasets" }]}
      note={
        dataset && (
          <>
            {dataset.description && <p class="break">{dataset.description}</p>}
            <p class="row small faint">
              <CopyId id={dataset.id} what="id of the dataset" />
              <span>
                Created <Ago time={dataset.created_at} />
              </span>
            </p>
          </>
        )
      }
      actions={
        dataset && (
          <>
            <Menu
              label="More actions"
              className="button secondary square"
              actions={[
                { label: "Edit name and description", icon: "edit", blocked, run: () => open("edit") },
                {
                  label: "Delete dataset",
                  icon: "trash",
                  isDanger: true,
                  blocked,
                  run: () => open("delete"),
                },
              ]}
            />
            <Button kind="primary" icon="upload" blocked={blocked} onClick={upload}>
              Upload audio
            </Button>
          </>
        )
      }
    >
      <Shown resource={resource} what="the dataset" lines={8}>
        {({ value, etag }) => (
          <>
            <Readiness dataset={value} />
            <Tabs
              label="Parts of the dataset"
              current={tab}
              tabs={[
                { id: "audio", label: "Audio", note: count(value.audio_file_count) },
                { id: "types", label: "Artifact types", note: count(value.artifact_types.length) },
                { id: "sets", label: "Annotation sets" },
              ]}
            >
              {tab === "audio" && <AudioTable dataset={value} uploadHref={href(`/datasets/${id}/upload`)} />}
              {tab === "types" && <TypesEditor dataset={value} etag={etag} />}
              {tab === "sets" && <AnnotationSets dataset={value} />}
            </Tabs>
          </>
        )}
      </Shown>
      {dataset && opened === "edit" && <EditDataset dataset={dataset} onClose={() => open(undefined)} />}
      {dataset && opened === "delete" && <DeleteDataset dataset={dataset} onClose={() => open(undefined)} />}
    </Page>
  );
}
