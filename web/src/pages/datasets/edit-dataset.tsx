// The dialog that changes the name and the description of a dataset.
import { useState } from "preact/hooks";
import type { Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { TextArea, TextField } from "../../components/field.tsx";
import { notify } from "../../components/toast.tsx";

export function EditDataset({ dataset, onClose }: { dataset: Dataset; onClose: () => void }) {
  const [name, setName] = useState(dataset.name);
  const [description, setDescription] = useState(dataset.description ?? "");
  const submit = async () => {
    const changed = await body(
      api.PATCH("/api/v1/datasets/{dataset_id}", {
        params: { path: { dataset_id: dataset.id } },
        body: { name: name.trim(), description: description.trim() === "" ? null : description.trim() },
      }),
    );
    notify(`Saved “${changed.name}”`);
    await refresh("dataset");
    onClose();
  };
  return (
    <FormDialog
      title="Edit the dataset"
      action="Save"
      attempted="Saving the dataset"
      submit={submit}
      onClose={onClose}
      isReady={name.trim() !== ""}
    >
      <TextField label="Name" value={name} onValue={setName} maxLength={255} required />
      <TextArea
        label="Description"
        isOptional
        value={description}
        onValue={setDescription}
        maxLength={2000}
      />
    </FormDialog>
  );
}
