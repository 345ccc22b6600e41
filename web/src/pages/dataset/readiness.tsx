// What is missing until the dataset can be trained on, with the meter of the five minutes.
import type { Dataset } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { amountOfTime } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { ButtonLink } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Meter } from "../../components/meter.tsx";
import { Shown } from "../../components/states.tsx";
import { type Facts, neededMs, stepsOf, unlabelled } from "./readiness.ts";

async function load(dataset: Dataset): Promise<Facts> {
  const path = { dataset_id: dataset.id };
  const files = async (query: {
    status: "pending_upload" | "failed" | "ready";
    embedding_status?: "failed";
  }) => {
    if (dataset.audio_file_count === dataset.embedded_audio_file_count) return 0;
    const params = { path, query: { ...query, page_size: 1 } };
    return (await body(api.GET("/api/v1/datasets/{dataset_id}/audio", { params }))).total;
  };
  const sets = (status: "draft" | "published") =>
    body(
      api.GET("/api/v1/datasets/{dataset_id}/annotation-sets", {
        params: { path, query: { status, page_size: 1 } },
      }),
    );
  const [pendingUploads, undecoded, unembedded, published, drafts] = await Promise.all([
    files({ status: "pending_upload" }),
    files({ status: "failed" }),
    files({ status: "ready", embedding_status: "failed" }),
    sets("published"),
    sets("draft"),
  ]);
  return {
    dataset,
    pendingUploads,
    failed: undecoded + unembedded,
    drafts: drafts.total,
    published: published.items[0],
  };
}

/** `isOnForm`: the page is the one that starts trainings already. */
export function Readiness({ dataset, isOnForm }: { dataset: Dataset; isOnForm?: boolean }) {
  const { id, audio_file_count: files, embedded_audio_file_count: embedded } = dataset;
  const facts = useResource(
    `dataset/${id}/readiness/${files}/${embedded}`,
    () => load(dataset),
    ({ type, data }) => /^(audio_file|annotation_set)\./.test(type) && data.dataset_id === id,
  );
  return (
    <Shown resource={facts} what="what is missing for training" lines={3}>
      {(known) => <Steps facts={{ ...known, dataset }} isOnForm={isOnForm} />}
    </Shown>
  );
}

function Steps({ facts, isOnForm }: { facts: Facts & { dataset: Dataset }; isOnForm?: boolean | undefined }) {
  const steps = stepsOf(facts);
  const usable = facts.dataset.total_duration_ms;
  const isReady = steps.every(({ isDone }) => isDone);
  const missing = unlabelled(facts);
  return (
    <section class="readiness" aria-labelledby="readiness">
      <div class="readiness-meter">
        <div class="row apart">
          <h2 id="readiness">{isReady ? "Ready to train" : "Not ready to train yet"}</h2>
          <span class="number small">
            {amountOfTime(usable)}
            <span class="faint"> {usable < neededMs ? "of 5 min" : "of usable audio"}</span>
          </span>
        </div>
        <Meter
          label="Usable audio"
          value={usable}
          max={neededMs}
          text={`${amountOfTime(usable)} of the 5 minutes that training needs`}
          tone={usable >= neededMs ? "good" : "accent"}
        />
      </div>
      <ul class="checks">
        {steps.map((step) => (
          <li key={step.id} class={step.isDone ? "done" : undefined}>
            <span class="check-mark">{step.isDone && <Icon name="check" size={12} />}</span>
            <span>
              <span class="strong">{step.title}</span>
              <span class="visually-hidden">{step.isDone ? " (done)" : " (missing)"}</span>
              {!step.isDone && <span class="muted small"> {step.text}</span>}
              {step.id === "labels" && step.isDone && missing.length > 0 && (
                <span class="faint small break"> · without labels of {missing.join(", ")}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
      {isReady && !isOnForm && (
        <ButtonLink icon="training" href={href(`/training/new?dataset=${facts.dataset.id}`)}>
          Train a model
        </ButtonLink>
      )}
    </section>
  );
}
