// A job that waits for its files: uploads under way, and the start.
import { useRef, useState } from "preact/hooks";
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { plural } from "../../app/format.ts";
import { missing } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Problem } from "../../components/states.tsx";
import { uploadsToJob } from "../../uploads/inference-uploads.ts";
import { isActive } from "../../uploads/queue.ts";
import { AudioDrop } from "../upload/audio-drop.tsx";
import { UploadList } from "../upload/upload-list.tsx";

export function Waiting({ job, files }: { job: InferenceJob; files: readonly InferenceFile[] }) {
  const { queue, startError, start } = uploadsToJob(job.id);
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const blocked = missing("write");
  const items = queue.items.value;
  const isSending = items.some(({ phase }) => isActive(phase.value));
  const unfinished = files.filter(({ status }) => status === "pending_upload").length;
  return (
    <>
      <div class="notice accent">
        <p>
          <strong>The job waits for its recordings.</strong>{" "}
          {isSending
            ? "It starts by itself when all files have arrived."
            : job.total_files === 0
              ? "Choose the recordings to search."
              : `${plural(job.total_files, "file has", "files have")} arrived.`}{" "}
          {!isSending &&
            unfinished > 0 &&
            `${plural(unfinished, "upload was", "uploads were")} interrupted: choose those files again, or start without them.`}
        </p>
        {!isSending && job.total_files > 0 && (
          <Button
            isSmall
            kind="primary"
            icon="play"
            blocked={blocked}
            isBusy={isBusy}
            onClick={async () => {
              setBusy(true);
              await start();
              setBusy(false);
            }}
          >
            Start with {plural(job.total_files, "file")}
          </Button>
        )}
      </div>
      {startError.value !== undefined && <Problem attempted="Starting the job" error={startError.value} />}
      {blocked === undefined && <AudioDrop input={input} isSmall={items.length > 0} onSources={queue.add} />}
      <UploadList queue={queue} />
    </>
  );
}
