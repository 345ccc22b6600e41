// Starts an inference job: a model, and dropped files or the files of a dataset.
import "../../jobs/jobs.css";
import { inferenceConfig } from "virtual:request-schemas";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Model } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { bytes, plural } from "../../app/format.ts";
import { refresh } from "../../app/resource.ts";
import { navigateFromHere, query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { useShortcut } from "../../app/shortcuts.ts";
import { oneOf } from "../../app/table-state.ts";
import { uniqueName } from "../../app/unique.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { Checkbox, Select } from "../../components/field.tsx";
import { Empty, Problem, Shown } from "../../components/states.tsx";
import { NumberFields } from "../../forms/number-fields.tsx";
import { numberFields, readNumbers } from "../../forms/schema-fields.ts";
import { useModels } from "../../jobs/names.ts";
import { Page } from "../../shell/page.tsx";
import { uploadsToJob } from "../../uploads/inference-uploads.ts";
import type { Source } from "../../uploads/queue.ts";
import { AudioDrop } from "../upload/audio-drop.tsx";
import { DatasetFiles, type FileChoice } from "./dataset-files.tsx";

const fields = numberFields(inferenceConfig);

export default function InferenceStart() {
  const models = useModels();
  const blocked = missing("write");
  return (
    <Page
      title="Find artifacts"
      crumbs={[{ label: "Inference", to: "/inference" }]}
      note="A model searches recordings for the artifacts that it has learned."
    >
      {blocked !== undefined ? (
        <Empty isSmall title="Your key may not start jobs">
          <p>{blocked}.</p>
        </Empty>
      ) : (
        <Shown resource={models} what="the models" lines={4}>
          {({ items }) => {
            const active = items.filter(({ is_active }) => is_active);
            return active.length === 0 ? (
              <Empty
                title={items.length === 0 ? "There is no model yet" : "No model is active"}
                actions={
                  items.length === 0 ? (
                    <ButtonLink kind="primary" icon="training" href={href("/training/new")}>
                      Train a model
                    </ButtonLink>
                  ) : (
                    <ButtonLink kind="primary" icon="model" href={href("/models?archived=all")}>
                      See the models
                    </ButtonLink>
                  )
                }
              >
                <p>
                  {items.length === 0
                    ? "A training makes a model from labelled recordings."
                    : "Activate the model that shall be used."}
                </p>
              </Empty>
            ) : (
              <Form models={active} />
            );
          }}
        </Shown>
      )}
    </Page>
  );
}

function Form({ models }: { models: readonly Model[] }) {
  const model = models.find(({ id }) => id === query.value.get("model")) ?? models[0];
  const origin = oneOf(query.value.get("from"), ["dataset"]) ?? "files";
  const [sources, setSources] = useState<readonly Source[]>([]);
  const [choice, setChoice] = useState<FileChoice>();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const input = useRef<HTMLInputElement>(null);
  useShortcut(origin === "files" ? "c" : undefined, "Choose files", () => input.current?.click());
  const types = model?.artifact_types ?? [];
  const wanted = types.filter((type) => !left.has(type));
  const { values, faults } = readNumbers(fields, texts);
  const hasAudio =
    origin === "files" ? sources.length > 0 : choice !== undefined && choice.fileIds?.length !== 0;
  const hasFaults = Object.keys(faults).length > 0;
  const isReady = hasAudio && wanted.length > 0 && !hasFaults;
  const request = {
    model_id: model?.id ?? "",
    config: { ...values, ...(left.size === 0 ? {} : { artifact_types: wanted }) },
    ...(origin === "files" || choice === undefined
      ? {}
      : choice.fileIds === undefined
        ? { dataset_id: choice.datasetId }
        : { audio_file_ids: [...choice.fileIds] }),
  };
  const key = useMemo(uniqueName, [JSON.stringify(request)]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || !isReady) return;
    const go = navigateFromHere();
    setBusy(true);
    setError(undefined);
    try {
      const job = await body(
        api.POST("/api/v1/inference-jobs", {
          params: { header: { "Idempotency-Key": key } },
          body: request,
        }),
      );
      // The uploads go on while the page of the job shows them; it starts when they have arrived.
      if (origin === "files") uploadsToJob(job.id).queue.add(sources);
      void refresh("inference-jobs");
      go(`/inference/${job.id}`);
    } catch (thrown) {
      setError(thrown);
    }
    setBusy(false);
  };
  return (
    <form class="stack form-page" onSubmit={submit} noValidate>
      <Select label="Model" value={model?.id ?? ""} onValue={(id) => setQuery({ model: id })}>
        {models.map(({ id, name, artifact_types }) => (
          <option key={id} value={id}>
            {name} ({artifact_types.join(", ")})
          </option>
        ))}
      </Select>
      <fieldset class="choices">
        <legend>Recordings</legend>
        <div class="type-choices">
          <Origin label="Drop or choose files" isChosen={origin === "files"} value={undefined} />
          <Origin label="Files of a dataset" isChosen={origin === "dataset"} value="dataset" />
        </div>
      </fieldset>
      {origin === "files" ? (
        <div>
          <AudioDrop
            input={input}
            isSmall={sources.length > 0}
            onSources={(more) => setSources((before) => [...before, ...more])}
          />
          {sources.length > 0 && (
            <div class="row apart">
              <span class="small break">
                <strong>{plural(sources.length, "file")}</strong>,{" "}
                {bytes(sources.reduce((sum, { size }) => sum + size, 0))}:{" "}
                <span class="muted">
                  {sources
                    .slice(0, 5)
                    .map(({ path }) => path)
                    .join(", ")}
                  {sources.length > 5 && " …"}
                </span>
              </span>
              <Button isSmall onClick={() => setSources([])}>
                Choose others
              </Button>
            </div>
          )}
        </div>
      ) : (
        <DatasetFiles onChoice={setChoice} />
      )}
      <fieldset class="choices">
        <legend>Artifact types to find</legend>
        <div class="type-choices">
          {types.map((type) => (
            <Checkbox
              key={type}
              label={<span class="break">{type}</span>}
              isChecked={!left.has(type)}
              onValue={(isChecked) => {
                const next = new Set(left);
                if (isChecked) next.delete(type);
                else next.add(type);
                setLeft(next);
              }}
            />
          ))}
        </div>
      </fieldset>
      <details class="more">
        <summary>Settings: the model decides what you leave empty</summary>
        <NumberFields fields={fields} texts={texts} faults={faults} onTexts={setTexts} />
      </details>
      {error !== undefined && <Problem attempted="Starting the job" error={error} />}
      <div class="row">
        <Button type="submit" kind="primary" icon="inference" isBusy={isBusy} disabled={!isReady}>
          Find artifacts
        </Button>
        {!hasAudio && <span class="small muted">Choose recordings first.</span>}
        {hasFaults && <span class="small bad-text">Correct the settings first.</span>}
      </div>
    </form>
  );
}

const Origin = ({
  label,
  isChosen,
  value,
}: {
  label: string;
  isChosen: boolean;
  value: string | undefined;
}) => (
  <label class="check-line">
    <input type="radio" name="origin" checked={isChosen} onChange={() => setQuery({ from: value })} />
    {label}
  </label>
);
