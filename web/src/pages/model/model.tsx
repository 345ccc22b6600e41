// One model: figures per type, confusion, curves of its training, activate, archive, download, its inference jobs.
import "../../jobs/jobs.css";
import "./model.css";
import { useState } from "preact/hooks";
import type { Model } from "../../../../client/schema.ts";
import { api, body, reasonOf, versioned } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { bytes, count } from "../../app/format.ts";
import { refresh, useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { missing } from "../../app/session.ts";
import { Chart } from "../../chart/chart.tsx";
import { grouped, seriesOf } from "../../chart/series.ts";
import { Button, ButtonLink } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/fact.tsx";
import { TextArea, TextField } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu } from "../../components/menu.tsx";
import { Shown } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { notify } from "../../components/toast.tsx";
import { cautions, share } from "../../models/figures.ts";
import { ModelState } from "../../models/model-state.tsx";
import { Page } from "../../shell/page.tsx";
import { ConfusionTable, TypeTable } from "./figures.tsx";
import { JobsOfModel } from "./jobs-of-model.tsx";

export default function ModelPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const path = { model_id: id };
  const resource = useResource(
    `model/${id}`,
    () => versioned(api.GET("/api/v1/models/{model_id}", { params: { path } })),
    ({ data }) => data.model_id === id,
  );
  const [opened, open] = useState<"edit" | "delete">();
  const blocked = missing("write");
  const model = resource.data?.value;
  const run = async (what: string, done: string, work: () => Promise<unknown>) => {
    try {
      await work();
      notify(done);
      await refresh("model");
    } catch (error) {
      notify(`${what} failed: ${reasonOf(error)}`, { tone: "bad" });
    }
  };
  const activate = (is_active: boolean) =>
    run(
      is_active ? "Activating the model" : "Deactivating the model",
      is_active ? "Activated the model" : "Deactivated the model",
      () => body(api.PATCH("/api/v1/models/{model_id}", { params: { path }, body: { is_active } })),
    );
  const archive = () =>
    run("Archiving the model", "Archived the model", () =>
      body(api.POST("/api/v1/models/{model_id}/archive", { params: { path } })),
    );
  const unarchive = () =>
    run("Bringing the model back", "The model is back; it is inactive until you activate it", () =>
      body(api.POST("/api/v1/models/{model_id}/unarchive", { params: { path } })),
    );
  const download = async () => {
    try {
      const { url } = await body(api.GET("/api/v1/models/{model_id}/download", { params: { path } }));
      window.location.assign(url);
    } catch (error) {
      notify(`Downloading the model failed: ${reasonOf(error)}`, { tone: "bad" });
    }
  };
  const isArchived = model !== undefined && model.archived_at !== null;
  return (
    <Page
      title={model?.name ?? "Model"}
      crumbs={[{ label: "Models", to: "/models" }]}
      note={
        model && (
          <>
            {model.description !== "" && <p class="break">{model.description}</p>}
            <p class="row small faint">
              <ModelState model={model} />
              <CopyId id={id} what="id of the model" />
              <span>
                Created <Ago time={model.created_at} />
              </span>
              <a class="link" href={href(`/training/${model.training_job_id}`)}>
                Its training
              </a>
            </p>
          </>
        )
      }
      actions={
        model && (
          <>
            <Menu
              label="More actions"
              className="button secondary square"
              actions={[
                { label: "Edit name and description", icon: "edit", blocked, run: () => open("edit") },
                { label: "Download (ONNX)", icon: "down", run: () => void download() },
                isArchived
                  ? undefined
                  : model.is_active
                    ? { label: "Deactivate", icon: "pause", blocked, run: () => void activate(false) }
                    : { label: "Activate", icon: "play", blocked, run: () => void activate(true) },
                isArchived
                  ? { label: "Bring back", icon: "retry", blocked, run: () => void unarchive() }
                  : { label: "Archive", icon: "folder", blocked, run: () => void archive() },
                {
                  label: "Delete model",
                  icon: "trash",
                  isDanger: true,
                  blocked: blocked ?? (isArchived ? undefined : "Archive the model first"),
                  run: () => open("delete"),
                },
              ]}
            />
            {model.is_active ? (
              <ButtonLink kind="primary" icon="inference" href={href(`/inference/new?model=${id}`)}>
                Find artifacts
              </ButtonLink>
            ) : (
              !isArchived && (
                <Button kind="primary" icon="play" blocked={blocked} onClick={() => activate(true)}>
                  Activate
                </Button>
              )
            )}
          </>
        )
      }
    >
      <Shown resource={resource} what="the model" lines={8}>
        {({ value }) => <Figures model={value} />}
      </Shown>
      {model && opened === "edit" && (
        <Edit model={model} etag={resource.data?.etag} onClose={() => open(undefined)} />
      )}
      {model && opened === "delete" && (
        <FormDialog
          title="Delete the model"
          action="Delete model"
          isDanger
          attempted="Deleting the model"
          onClose={() => open(undefined)}
          submit={async (go) => {
            await body(api.DELETE("/api/v1/models/{model_id}", { params: { path } }));
            notify(`Deleted the model “${model.name}”`);
            open(undefined);
            go("/models", { replace: true });
            await refresh("models");
          }}
        >
          <p class="break">
            <strong>{model.name}</strong> and its file are deleted. The detections that it made stay. This
            cannot be undone.
          </p>
        </FormDialog>
      )}
    </Page>
  );
}

function Figures({ model }: { model: Model }) {
  const { eval_metrics: metrics, architecture } = model;
  const { overall } = metrics;
  const notes = cautions(metrics);
  const curves = grouped(seriesOf(metrics.history ?? []));
  return (
    <div class="stack-wide">
      <section aria-labelledby="overall">
        <h2 id="overall" class="section-title">
          On files that were held out of training
        </h2>
        <dl class="facts">
          <Fact name="F1, mean over types" value={share(overall?.f1)} />
          <Fact name="Precision" value={share(overall?.precision)} />
          <Fact name="Recall" value={share(overall?.recall)} />
          <Fact name="F1 by seconds" value={share(overall?.segment_f1)} />
          <Fact name="PSDS" value={share(overall?.psds)} />
          <Fact name="Calibration error" value={share(overall?.calibration_error)} />
          <Fact name="Size" value={bytes(model.model_size_bytes)} />
          {architecture.parameters !== undefined && (
            <Fact name="Parameters" value={count(architecture.parameters)} />
          )}
        </dl>
        {notes.length > 0 && (
          <div class="notice warn">
            <Icon name="warning" />
            <div class="stack-tight">
              {notes.map((note) => (
                <p key={note} class="break">
                  {note}
                </p>
              ))}
            </div>
          </div>
        )}
      </section>
      <TypeTable model={model} />
      <ConfusionTable model={model} />
      {curves.length > 0 && (
        <section aria-labelledby="curves">
          <h2 id="curves" class="section-title">
            How it learned
          </h2>
          <div class="charts">
            {curves.map((group) => (
              <Chart key={group.title} group={group} />
            ))}
          </div>
        </section>
      )}
      <JobsOfModel id={model.id} />
    </div>
  );
}

function Edit({ model, etag, onClose }: { model: Model; etag: string | undefined; onClose: () => void }) {
  const [name, setName] = useState(model.name);
  const [description, setDescription] = useState(model.description);
  return (
    <FormDialog
      title="Edit the model"
      action="Save"
      attempted="Saving the model"
      onClose={onClose}
      isReady={name.trim() !== ""}
      submit={async () => {
        await body(
          api.PATCH("/api/v1/models/{model_id}", {
            params: { path: { model_id: model.id }, header: etag === undefined ? {} : { "If-Match": etag } },
            body: { name: name.trim(), description: description.trim() },
          }),
        );
        notify("Saved the model");
        await refresh("model");
        onClose();
      }}
    >
      <TextField label="Name" value={name} onValue={setName} maxLength={255} required />
      <TextArea
        label="Description"
        isOptional
        value={description}
        onValue={setDescription}
        maxLength={2000}
        rows={3}
      />
    </FormDialog>
  );
}
