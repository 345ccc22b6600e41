// Cancel, retry and delete a job of either kind.
import { useMemo, useState } from "preact/hooks";
import { reasonOf } from "../app/api.ts";
import { refresh } from "../app/resource.ts";
import { navigateFromHere } from "../app/router.ts";
import { missing } from "../app/session.ts";
import { uniqueName } from "../app/unique.ts";
import { Button } from "../components/button.tsx";
import { FormDialog } from "../components/dialog.tsx";
import { Menu } from "../components/menu.tsx";
import { notify } from "../components/toast.tsx";
import { type JobKind, jobCalls, pathOfKind } from "./job-calls.ts";
import type { Job } from "./job-state.tsx";
import { isFinished } from "./status.ts";

export function JobActions({
  kind,
  job,
  whyNoRetry,
}: {
  kind: JobKind;
  job: Job;
  /** Why the job cannot be created again; undefined: it can. */
  whyNoRetry?: string | undefined;
}) {
  const [opened, open] = useState<"cancel" | "delete">();
  const [isBusy, setBusy] = useState(false);
  // A retry whose answer was lost creates no second job.
  const key = useMemo(uniqueName, [job.id]);
  const blocked = missing("write");
  const close = () => open(undefined);
  const calls = jobCalls[kind];
  const retry = async () => {
    const go = navigateFromHere();
    setBusy(true);
    try {
      const made = await calls.retry(job.id, key);
      notify("Created the job again");
      void refresh(`${kind}-job`);
      go(`${pathOfKind[kind]}/${made.id}`);
    } catch (error) {
      notify(`Creating the job again failed: ${reasonOf(error)}`, { tone: "bad" });
    }
    setBusy(false);
  };
  return (
    <>
      <Menu
        label="More actions"
        className="button secondary square"
        actions={[
          {
            label: "Delete job",
            icon: "trash",
            isDanger: true,
            blocked: blocked ?? (isFinished(job.status) ? undefined : "Cancel the job first"),
            run: () => open("delete"),
          },
        ]}
      />
      {isFinished(job.status) ? (
        whyNoRetry === undefined && (
          <Button key="retry" icon="retry" blocked={blocked} isBusy={isBusy} onClick={retry}>
            {kind === "training" ? "Train again" : "Try the failed files again"}
          </Button>
        )
      ) : (
        <Button
          key="cancel"
          icon="close"
          blocked={blocked ?? (job.status === "cancelling" ? "The job is being cancelled" : undefined)}
          onClick={() => open("cancel")}
        >
          Cancel job
        </Button>
      )}
      {opened === "cancel" && (
        <FormDialog
          title="Cancel the job"
          action="Cancel job"
          isDanger
          attempted="Cancelling the job"
          onClose={close}
          submit={async () => {
            await calls.cancel(job.id);
            await refresh(`${kind}-job`);
            close();
          }}
        >
          <p>
            {kind === "training"
              ? "The training ends without a model. A job that is about to end may still complete."
              : "The files that are not processed yet are left out. The detections so far stay."}
          </p>
        </FormDialog>
      )}
      {opened === "delete" && (
        <FormDialog
          title="Delete the job"
          action="Delete job"
          isDanger
          attempted="Deleting the job"
          onClose={close}
          submit={async (go) => {
            await calls.remove(job.id);
            notify("Deleted the job");
            close();
            go(pathOfKind[kind], { replace: true });
            await refresh(`${kind}-jobs`);
          }}
        >
          <p>
            {kind === "training"
              ? "The job is deleted with its curves and its log. Its model stays. This cannot be undone."
              : "The job is deleted with its detections, its log and the files that were uploaded to it. Audio files of datasets stay. This cannot be undone."}
          </p>
        </FormDialog>
      )}
    </>
  );
}
