// Starts a training: dataset, published set, types, and the settings of the REST description.
import "../dataset/dataset.css";
import "../../jobs/jobs.css";
import { trainingConfig } from "virtual:request-schemas";
import { useMemo, useState } from "preact/hooks";
import { allItems } from "../../../../client/client.ts";
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { day, plural } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import { navigateFromHere, query, setQuery } from "../../app/router.ts";
import { missing } from "../../app/session.ts";
import { uniqueName } from "../../app/unique.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { Checkbox, Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { notify } from "../../components/toast.tsx";
import { NumberFields } from "../../forms/number-fields.tsx";
import { numberFields, readNumbers } from "../../forms/schema-fields.ts";
import { useDatasets } from "../../jobs/names.ts";
import { Page } from "../../shell/page.tsx";
import { Readiness } from "../dataset/readiness.tsx";
import { Refusal } from "./refusal.tsx";

const fields = numberFields(trainingConfig);

export default function TrainingStart() {
  const datasets = useDatasets();
  const asked = query.value.get("dataset") ?? "";
  const blocked = missing("write");
  return (
    <Page
      title="Train a model"
      crumbs={[{ label: "Training", to: "/training" }]}
      note="A training learns from a published annotation set, measures the model on files that it held out, and adds the model to your models."
    >
      {blocked !== undefined ? (
        <Empty isSmall title="Your key may not start trainings">
          <p>{blocked}.</p>
        </Empty>
      ) : (
        <Shown resource={datasets} what="the datasets" lines={4}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                title="There is no dataset yet"
                actions={
                  <ButtonLink kind="primary" icon="plus" href={href("/datasets?new=1")}>
                    Create dataset
                  </ButtonLink>
                }
              >
                <p>Create a dataset, upload recordings and label them. Then a model can learn from it.</p>
              </Empty>
            ) : (
              <div class="stack-wide form-page">
                <Select
                  label="Dataset"
                  value={asked}
                  onValue={(dataset) => setQuery({ dataset, set: undefined })}
                >
                  <option value="">Choose a dataset</option>
                  {items.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                  {asked !== "" && !items.some(({ id }) => id === asked) && (
                    <option value={asked}>{asked}</option>
                  )}
                </Select>
                {asked !== "" && <OfDataset key={asked} id={asked} />}
              </div>
            )
          }
        </Shown>
      )}
    </Page>
  );
}

async function load(id: string): Promise<{ dataset: Dataset; sets: readonly AnnotationSet[] }> {
  const path = { dataset_id: id };
  const [dataset, sets] = await Promise.all([
    body(api.GET("/api/v1/datasets/{dataset_id}", { params: { path } })),
    allItems((query) =>
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path, query: { ...query, status: "published" } },
      }),
    ),
  ]);
  return { dataset, sets };
}

function OfDataset({ id }: { id: string }) {
  const resource = useResource(
    `dataset/${id}/for-training`,
    () => load(id),
    ({ data }) => data.dataset_id === id,
  );
  return (
    <Shown resource={resource} what="the dataset" lines={6}>
      {({ dataset, sets }) => (
        <>
          <Readiness dataset={dataset} isOnForm />
          {sets.length > 0 && dataset.artifact_types.length > 0 && <Form dataset={dataset} sets={sets} />}
        </>
      )}
    </Shown>
  );
}

function Form({ dataset, sets }: { dataset: Dataset; sets: readonly AnnotationSet[] }) {
  const set = sets.find(({ id }) => id === query.value.get("set")) ?? sets[0];
  const labels = set?.annotations_by_type ?? {};
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const types = dataset.artifact_types.map(({ name }) => name);
  const chosen = types.filter((type) => (labels[type] ?? 0) > 0 && !left.has(type));
  const { values, faults } = readNumbers(fields, texts);
  const hasFaults = Object.keys(faults).length > 0;
  const isReady = chosen.length > 0 && !hasFaults;
  const request = {
    dataset_id: dataset.id,
    annotation_set_id: set?.id ?? "",
    config: { ...values, artifact_types: chosen },
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
        api.POST("/api/v1/training-jobs", {
          params: { header: { "Idempotency-Key": key } },
          body: request,
        }),
      );
      notify("Started the training");
      void refresh("training-jobs");
      go(`/training/${job.id}`);
    } catch (thrown) {
      setError(thrown);
    }
    setBusy(false);
  };
  return (
    <form class="stack" onSubmit={submit} noValidate>
      <Select
        label="Annotation set"
        value={set?.id ?? ""}
        onValue={(id) => setQuery({ set: id })}
        hint="Only published sets: they never change, so the training can be repeated."
      >
        {sets.map(({ id, version, total_annotations: total, published_at }) => (
          <option key={id} value={id}>
            Version {version} · {plural(total, "annotation")}
            {published_at !== null && ` · ${day(published_at)}`}
          </option>
        ))}
      </Select>
      <fieldset class="choices">
        <legend>Artifact types to learn</legend>
        <div class="type-choices">
          {types.map((type) =>
            (labels[type] ?? 0) > 0 ? (
              <Checkbox
                key={type}
                label={
                  <>
                    <span class="break">{type}</span> <span class="faint number">{labels[type]}</span>
                  </>
                }
                isChecked={!left.has(type)}
                onValue={(isChecked) => {
                  const next = new Set(left);
                  if (isChecked) next.delete(type);
                  else next.add(type);
                  setLeft(next);
                }}
              />
            ) : (
              <span key={type} class="faint small">
                <span class="break">{type}</span>: no annotations in this set
              </span>
            ),
          )}
        </div>
      </fieldset>
      <details class="more">
        <summary>Settings: the defaults are good for most datasets</summary>
        <NumberFields fields={fields} texts={texts} faults={faults} onTexts={setTexts} />
      </details>
      {error !== undefined && <Refusal error={error} datasetId={dataset.id} />}
      <div class="row">
        <Button type="submit" kind="primary" icon="play" isBusy={isBusy} disabled={!isReady}>
          Start training
        </Button>
        {chosen.length === 0 && (
          <span class="small muted">Choose at least one type that the set has annotations of.</span>
        )}
        {hasFaults && <span class="small bad-text">Correct the settings first.</span>}
      </div>
    </form>
  );
}
