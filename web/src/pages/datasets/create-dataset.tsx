// The dialog that creates a dataset.
import { useMemo, useState } from "preact/hooks";
import { api, body } from "../../app/api.ts";
import { refresh } from "../../app/resource.ts";
import type { Navigate } from "../../app/router.ts";
import { uniqueName } from "../../app/unique.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { TextArea, TextField } from "../../components/field.tsx";
import { notify } from "../../components/toast.tsx";
import { faultOfName, parseNames } from "./type-names.ts";

export function CreateDataset({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [types, setTypes] = useState("");
  // Sent again after an answer that was lost, the same input creates nothing twice.
  const idempotencyKey = useMemo(uniqueName, [name, description, types]);
  const names = parseNames(types);
  const fault = names
    .map((type, i) => faultOfName(type, names.slice(0, i)))
    .find((text) => text !== undefined);
  const submit = async (go: Navigate) => {
    const dataset = await body(
      api.POST("/api/v1/datasets", {
        params: { header: { "Idempotency-Key": idempotencyKey } },
        body: {
          name: name.trim(),
          ...(description.trim() === "" ? {} : { description: description.trim() }),
          artifact_types: names.map((type) => ({ name: type })),
        },
      }),
    );
    notify(`Created the dataset “${dataset.name}”`);
    void refresh("datasets");
    onClose();
    go(`/datasets/${dataset.id}`);
  };
  return (
    <FormDialog
      title="Create a dataset"
      action="Create dataset"
      attempted="Creating the dataset"
      submit={submit}
      onClose={onClose}
      isReady={name.trim() !== "" && fault === undefined}
    >
      <TextField label="Name" value={name} onValue={setName} maxLength={255} required />
      <TextField
        label="Artifact types"
        isOptional
        value={types}
        onValue={setTypes}
        fault={fault}
        hint="What to find, separated by commas: click, hum, plosive. You can change them later."
      />
      <TextArea
        label="Description"
        isOptional
        value={description}
        onValue={setDescription}
        maxLength={2000}
        rows={2}
      />
    </FormDialog>
  );
}
