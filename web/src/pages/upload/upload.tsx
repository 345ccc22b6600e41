// Uploads to a dataset: files and folders by choice or drop, the progress of each, and what an earlier visit left open.
import "./upload.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, versioned } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty, Problem } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { Page } from "../../shell/page.tsx";
import { accepted } from "../../uploads/audio-types.ts";
import { type Collected, collectChosen, collectDropped } from "../../uploads/collect.ts";
import { uploadsTo } from "../../uploads/uploads.ts";
import { Interrupted } from "./interrupted.tsx";
import { UploadList } from "./upload-list.tsx";

export default function UploadPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const dataset = useResource(`dataset/${id}`, () =>
    versioned(api.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } } })),
  );
  const uploads = uploadsTo(id);
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const blocked = missing("write");
  const add = ({ sources, skipped: others }: Collected) => {
    setSkipped(others);
    uploads.add(sources);
    if (sources.length > 0) notify(`Added ${plural(sources.length, "file")}`, { isQuiet: true });
  };
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
        <DropZone onDrop={add} isSmall={uploads.queue.items.value.length > 0}>
          <p class="drop-title">Drop audio files or folders here</p>
          <p class="muted small">
            WAV, FLAC, MP3, Ogg and Opus, up to 2 GB each. Three files are sent at once.
          </p>
          <div class="row">
            <Button kind="primary" icon="upload" onClick={chooseFiles}>
              Choose files
            </Button>
            <Button icon="folder" onClick={() => folder.current?.click()}>
              Choose a folder
            </Button>
          </div>
          <input
            ref={files}
            type="file"
            multiple
            accept={accepted}
            hidden
            data-files
            onChange={(event) => {
              add(collectChosen(event.currentTarget.files));
              event.currentTarget.value = "";
            }}
          />
          <input
            ref={folder}
            type="file"
            hidden
            {...{ webkitdirectory: true }}
            onChange={(event) => {
              add(collectChosen(event.currentTarget.files));
              event.currentTarget.value = "";
            }}
          />
        </DropZone>
      )}
      {skipped.length > 0 && (
        <div class="notice warn" role="status">
          <Icon name="warning" />
          <p class="break">
            Left out {plural(skipped.length, "file")}: not WAV, FLAC, MP3, Ogg or Opus, or empty.{" "}
            <span class="muted">
              {skipped.slice(0, 5).join(", ")}
              {skipped.length > 5 && " …"}
            </span>
          </p>
        </div>
      )}
      <Interrupted uploads={uploads} onChoose={chooseFiles} />
      <UploadList queue={uploads.queue} />
    </Page>
  );
}

function DropZone({
  onDrop,
  isSmall,
  children,
}: {
  onDrop: (found: Collected) => void;
  isSmall: boolean;
  children: ComponentChildren;
}) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // A file that misses the zone would take the place of the page.
    const hold = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    window.addEventListener("dragover", hold);
    window.addEventListener("drop", hold);
    return () => {
      window.removeEventListener("dragover", hold);
      window.removeEventListener("drop", hold);
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping has a twin, the buttons inside.
    <div
      class={isSmall ? "drop-zone small-zone" : "drop-zone"}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)))
          setOver(false);
      }}
      onDrop={async (event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer === null) return;
        onDrop(await collectDropped(event.dataTransfer));
      }}
    >
      {children}
    </div>
  );
}
