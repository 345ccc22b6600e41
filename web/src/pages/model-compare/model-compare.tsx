// Two models side by side: what two inference jobs found in the same files.
import "../../jobs/jobs.css";
import "./model-compare.css";
import { useEffect } from "preact/hooks";
import type { InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { ago, plural } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { query, setQuery } from "../../app/router.ts";
import { ButtonLink } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { nameOf, useModels } from "../../jobs/names.ts";
import { stop } from "../../listening/player.ts";
import { Page } from "../../shell/page.tsx";
import { Comparison } from "./comparison.tsx";

const page_size = 100;

export default function ModelCompare() {
  const jobs = useResource(
    "inference-jobs/completed",
    () =>
      body(api.GET("/api/v1/inference-jobs", { params: { query: { status: ["completed"], page_size } } })),
    ({ type }) => type === "inference_job.completed",
  );
  const models = useModels();
  useEffect(() => stop, []);
  const [a, b] = [query.value.get("a") ?? "", query.value.get("b") ?? ""];
  return (
    <Page
      title="Compare two models"
      crumbs={[{ label: "Models", to: "/models" }]}
      note="Let both models search the same recordings, then compare the two jobs here: what both found, and what only one did."
    >
      <Shown resource={jobs} what="the inference jobs" lines={4}>
        {({ items }) =>
          items.length < 2 ? (
            <Empty
              title="Two finished jobs are needed"
              actions={
                <ButtonLink kind="primary" icon="inference" href={href("/inference/new?from=dataset")}>
                  Find artifacts
                </ButtonLink>
              }
            >
              <p>Start one inference job for each model, on the files of the same dataset.</p>
            </Empty>
          ) : (
            <div class="stack-wide">
              <div class="versus-jobs">
                <JobSelect name="A" value={a} jobs={items} nameOf={(id) => nameOf(models.data, id)} />
                <JobSelect name="B" value={b} jobs={items} nameOf={(id) => nameOf(models.data, id)} />
              </div>
              {a === "" || b === "" ? (
                <p class="muted">Choose two jobs.</p>
              ) : a === b ? (
                <p class="muted">Choose two different jobs.</p>
              ) : (
                <Comparison key={`${a} ${b}`} a={a} b={b} models={models.data} />
              )}
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

function JobSelect({
  name,
  value,
  jobs,
  nameOf: modelOf,
}: {
  name: "A" | "B";
  value: string;
  jobs: readonly InferenceJob[];
  nameOf: (id: string) => string;
}) {
  const now = Date.now();
  return (
    <Select
      label={`Job ${name}`}
      value={value}
      onValue={(id) => setQuery({ [name.toLowerCase()]: id, page: undefined })}
    >
      <option value="">Choose a job</option>
      {jobs.map(({ id, model_id, total_files, created_at }) => (
        <option key={id} value={id}>
          {modelOf(model_id)} · {plural(total_files, "file")} · {ago(created_at, now)}
        </option>
      ))}
      {value !== "" && !jobs.some(({ id }) => id === value) && <option value={value}>{value}</option>}
    </Select>
  );
}
