// Uploads that were not finished when the page was left: choose the same files again, and they go on.
import { useState } from "preact/hooks";
import { bytes, plural } from "../../app/format.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { isOpen } from "../../uploads/resume.ts";
import type { DatasetUploads } from "../../uploads/uploads.ts";

const shown = 8;

export function Interrupted({ uploads, onChoose }: { uploads: DatasetUploads; onChoose: () => void }) {
  const open = uploads.interrupted.value.filter(isOpen);
  const [isForgetting, setForgetting] = useState(false);
  if (open.length === 0) return null;
  return (
    <section class="notice accent" aria-labelledby="interrupted">
      <Icon name="clock" />
      <div class="stack-tight">
        <h2 id="interrupted">{plural(open.length, "upload was", "uploads were")} interrupted</h2>
        <p class="muted small">
          Choose the same files again, or their folder. What has arrived already is not sent twice. The
          service keeps unfinished uploads for a day.
        </p>
        <ul class="interrupted">
          {open.slice(0, shown).map(({ path, size }) => (
            <li key={path} class="small">
              <span class="break">{path}</span> <span class="faint number">{bytes(size)}</span>
            </li>
          ))}
          {open.length > shown && <li class="small faint">and {plural(open.length - shown, "more file")}</li>}
        </ul>
        <p class="row">
          <Button isSmall kind="primary" onClick={onChoose}>
            Choose the files again
          </Button>
          <Button isSmall onClick={() => setForgetting(true)}>
            Forget them
          </Button>
        </p>
      </div>
      {isForgetting && (
        <FormDialog
          title="Forget the interrupted uploads"
          action="Forget them"
          isDanger
          attempted="Forgetting the uploads"
          onClose={() => setForgetting(false)}
          submit={() => uploads.forgetInterrupted()}
        >
          <p>
            The service deletes what it has of these files. Files that arrived completely stay in the dataset.
          </p>
        </FormDialog>
      )}
    </section>
  );
}
