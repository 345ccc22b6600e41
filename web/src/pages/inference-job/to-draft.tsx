// Makes a draft of an annotation set from the detections, to correct it and to train on it.
import { useMemo, useState } from "preact/hooks";
import type { InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import { missing } from "../../app/session.ts";
import { uniqueName } from "../../app/unique.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Checkbox, Select } from "../../components/field.tsx";
import { notify } from "../../components/toast.tsx";
import { useDatasets } from "../../jobs/names.ts";
import { isFinished } from "../../jobs/status.ts";

export function ToDraft({ job, file, min }: { job: InferenceJob; file: InferenceFile; min: number }) {
  const [isOpen, setOpen] = useState(false);
  const blocked =
    missing("label") ??
    (!isFinished(job.status)
      ? "The job has not ended"
      : file.audio_file_id === null
        ? "The files were uploaded to the job: only files of a dataset can be labelled"
        : file.dataset_id === null
          ? "The audio file has been deleted"
          : undefined);
  return (
    <>
      <Button icon="edit" blocked={blocked} onClick={() => setOpen(true)}>
        Turn into annotation draft
      </Button>
      {isOpen && (
        <Draft job={job} datasetId={file.dataset_id ?? ""} min={min} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function Draft({
  job,
  datasetId,
  min,
  onClose,
}: {
  job: InferenceJob;
  datasetId: string;
  min: number;
  onClose: () => void;
}) {
  const datasets = useDatasets();
  const [dataset, setDataset] = useState(datasetId);
  const [createsTypes, setCreatesTypes] = useState(false);
  const request = { dataset_id: dataset, min_confidence: min, create_types: createsTypes };
  const key = useMemo(uniqueName, [JSON.stringify(request)]);
  const items = datasets.data?.items ?? [];
  return (
    <FormDialog
      title="Turn into an annotation draft"
      action="Create draft"
      attempted="Creating the draft"
      onClose={onClose}
      submit={async (go) => {
        const set = await body(
          api.POST("/api/v1/inference-jobs/{inference_job_id}/to-annotation-set", {
            params: { path: { inference_job_id: job.id }, header: { "Idempotency-Key": key } },
            body: request,
          }),
        );
        notify(`Created the draft version ${set.version}`);
        void refresh(`dataset/${dataset}/`);
        onClose();
        go(`/datasets/${dataset}?tab=sets`);
      }}
    >
      <p>
        The draft gets the detections of all files of the job that belong to the dataset
        {min > 0 && `, from a confidence of ${min.toFixed(2)} on`}, of all types. Correct it, publish it, and
        train on it.
      </p>
      <Select label="Dataset" value={dataset} onValue={setDataset}>
        {!items.some(({ id }) => id === dataset) && <option value={dataset}>The dataset of this file</option>}
        {items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Checkbox
        label="Add missing artifact types to the dataset"
        hint="Otherwise a draft with types that the dataset does not have is refused."
        isChecked={createsTypes}
        onValue={setCreatesTypes}
      />
    </FormDialog>
  );
}
