// The dialog that deletes a dataset. Its name must be typed, because its audio and labels are gone for ever.
import { useState } from "preact/hooks";
import type { Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { plural } from "../../app/format.ts";
import { refresh } from "../../app/resource.ts";
import { navigate, path } from "../../app/router.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { notify } from "../../components/toast.tsx";

export function DeleteDataset({ dataset, onClose }: { dataset: Dataset; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const { name, audio_file_count: files } = dataset;
  const submit = async () => {
    await body(api.DELETE("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: dataset.id } } }));
    notify(`Deleted the dataset “${name}”`);
    onClose();
    if (path.peek().startsWith(`/datasets/${dataset.id}`)) navigate("/datasets", { replace: true });
    await refresh("datasets");
  };
  return (
    <FormDialog
      title="Delete the dataset"
      action="Delete dataset"
      isDanger
      attempted="Deleting the dataset"
      submit={submit}
      onClose={onClose}
      isReady={typed.trim() === name.trim()}
    >
      <p class="break">
        <strong>{name}</strong>
        {files === 0
          ? " has no audio files. Its annotation sets are deleted with it."
          : ` and its ${plural(files, "audio file")} are deleted with all annotation sets.`}{" "}
        This cannot be undone. Models that were trained on it stay.
      </p>
      <TextField
        label="Type its name to confirm"
        placeholder={name}
        value={typed}
        onValue={setTyped}
        spellcheck={false}
      />
    </FormDialog>
  );
}
