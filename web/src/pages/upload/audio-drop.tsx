// Where audio files are dropped or chosen, one by one or by folders. Says which ones are left out.
import "./upload.css";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../../app/format.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { notify } from "../../components/toast.tsx";
import { accepted } from "../../uploads/audio-types.ts";
import { type Collected, collectChosen, collectDropped } from "../../uploads/collect.ts";
import type { Source } from "../../uploads/queue.ts";

export function AudioDrop({
  input,
  isSmall,
  onSources,
}: {
  /** The field for files, so that others can open it. */
  input: RefObject<HTMLInputElement | null>;
  isSmall: boolean;
  onSources: (sources: readonly Source[]) => void;
}) {
  const [skipped, setSkipped] = useState<readonly string[]>([]);
  const folder = useRef<HTMLInputElement>(null);
  const add = ({ sources, skipped: others }: Collected) => {
    setSkipped(others);
    onSources(sources);
    if (sources.length > 0) notify(`Added ${plural(sources.length, "file")}`, { isQuiet: true });
  };
  const onChange = async ({ currentTarget: field }: { readonly currentTarget: HTMLInputElement }) => {
    const collected = collectChosen(field.files);
    // So that choosing the same files again is a change too.
    field.value = "";
    add(await collected);
  };
  return (
    <>
      <DropZone onDrop={add} isSmall={isSmall}>
        <p class="drop-title">Drop audio files or folders here</p>
        <p class="muted small">
          WAV, FLAC, MP3, Ogg and Opus, up to 2 GB each. Three files are sent at once.
        </p>
        <div class="row">
          <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
            Choose files
          </Button>
          <Button icon="folder" onClick={() => folder.current?.click()}>
            Choose a folder
          </Button>
        </div>
        <input ref={input} type="file" multiple accept={accepted} hidden data-files onChange={onChange} />
        <input ref={folder} type="file" hidden {...{ webkitdirectory: true }} onChange={onChange} />
      </DropZone>
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
    </>
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
