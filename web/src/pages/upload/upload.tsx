// Uploads to a dataset: files and folders by choice or drop, the progress of each, and what an earlier visit left open.
import { useRef } from "preact/hooks";
import { api, versioned } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { ButtonLink } from "../../components/button.tsx";
import { Empty, Problem } from "../../components/states.tsx";
import { Page } from "../../shell/page.tsx";
import { uploadsTo } from "../../uploads/uploads.ts";
import { AudioDrop } from "./audio-drop.tsx";
import { Interrupted } from "./interrupted.tsx";
import { UploadList } from "./upload-list.tsx";

export default function UploadPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const dataset = useResource(`dataset/${id}`, () =>
    versioned(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } } })),
  );
  const uploads = uploadsTo(id);
  const files = useRef<HTMLInputElement>(null);
  const blocked = missing("write");
  const chooseFiles = () => files.current?.click();
  useShortcut(blocked === undefined ? "c" : undefined, "Choose files", chooseFiles);
  const name = dataset.data?.value.name ?? "Dataset";
  return (
    <Page
      title="Upload audio"
      crumbs={[
        { label: "Datasets", to: "/datasets" },
        { label: name, to: `/datasets/${id}` },
      ]}
      actions={<ButtonLink href={href(`/datasets/${id}`)}>Back to the dataset</ButtonLink>}
    >
      {dataset.error !== undefined && (
        <Problem attempted="Loading the dataset" error={dataset.error} onRetry={dataset.reload} />
      )}
      {blocked !== undefined ? (
        <Empty isSmall title="Your key may not upload">
          <p>{blocked}.</p>
        </Empty>
      ) : (
        <AudioDrop input={files} isSmall={uploads.queue.items.value.length > 0} onSources={uploads.add} />
      )}
      <Interrupted uploads={uploads} onChoose={chooseFiles} />
      <UploadList queue={uploads.queue} />
    </Page>
  );
}
