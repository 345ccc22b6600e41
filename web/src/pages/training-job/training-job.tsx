// One training job: state and remaining time, why it waits, curves, the model that it made, settings, log.
import "../../jobs/jobs.css";
import type { TrainingJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { bytes } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import type { Params } from "../../app/routes.ts";
import { Chart } from "../../chart/chart.tsx";
import { grouped } from "../../chart/series.ts";
import { Tag } from "../../components/badge.tsx";
import { ButtonLink } from "../../components/button.tsx";
import { CopyId } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { JobActions } from "../../jobs/job-actions.tsx";
import { JobLog, JobWarnings } from "../../jobs/job-log.tsx";
import { JobHeader } from "../../jobs/job-state.tsx";
import { nameOf, useDataset } from "../../jobs/names.ts";
import { Settings } from "../../jobs/settings.tsx";
import { isFinished } from "../../jobs/status.ts";
import { share } from "../../models/figures.ts";
import { Page } from "../../shell/page.tsx";

export default function TrainingJobPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const path = { training_job_id: id };
  const resource = useResource(
    `training-job/${id}`,
    () => body(api.GET("/api/v1/training-jobs/{training_job_id}", { params: { path } })),
    ({ data }) => data.training_job_id === id,
  );
  const job = resource.data;
  const dataset = useDataset(job?.dataset_id);
  const name = job === undefined ? "Training" : (dataset?.name ?? nameOf(undefined, job.dataset_id));
  return (
    <Page
      title={job === undefined ? "Training" : `Training on ${name}`}
      crumbs={[{ label: "Training", to: "/training" }]}
      note={
        job && (
          <>
            <p class="tags">
              <TypesOf config={job.config} />
            </p>
            <p class="row small faint">
              <CopyId id={id} what="id of the training job" />
              <span>
                Created <Ago time={job.created_at} />
              </span>
              <a class="link" href={href(`/datasets/${job.dataset_id}?tab=sets`)}>
                Dataset and annotation sets
              </a>
            </p>
          </>
        )
      }
      actions={
        job && (
          <JobActions
            kind="training"
            job={job}
            whyNoRetry={job.status === "completed" ? "The training has completed" : undefined}
          />
        )
      }
    >
      <Shown resource={resource} what="the training job" lines={8}>
        {(shown) => (
          <div class="stack-wide">
            <div>
              <JobHeader job={shown} />
              <JobWarnings kind="training" id={id} />
              {shown.status === "completed" && <Made job={shown} />}
            </div>
            <section aria-labelledby="curves">
              <h2 id="curves" class="section-title">
                Curves
              </h2>
              <Curves job={shown} />
            </section>
            <section aria-labelledby="settings">
              <h2 id="settings" class="section-title">
                Settings
              </h2>
              <Settings config={shown.config} />
            </section>
            <section aria-labelledby="log">
              <h2 id="log" class="section-title">
                Log
              </h2>
              <JobLog kind="training" id={id} />
            </section>
          </div>
        )}
      </Shown>
    </Page>
  );
}

const TypesOf = ({ config: { artifact_types: types } }: { config: TrainingJob["config"] }) => (
  <>{Array.isArray(types) && types.map((type) => <Tag key={String(type)}>{String(type)}</Tag>)}</>
);

/** The model that the job made, with the figures that say most. */
function Made({ job }: { job: TrainingJob }) {
  const models = useResource(
    `models/of-training/${job.id}`,
    () =>
      body(
        api.GET("/api/v1/models", {
          params: { query: { training_job_id: job.id, archived: "all", page_size: 1 } },
        }),
      ),
    ({ data }) => data.training_job_id === job.id,
  );
  return (
    <Shown resource={models} what="the model" lines={2}>
      {({ items: [model] }) =>
        model === undefined ? (
          <p class="muted">The model of this training has been deleted.</p>
        ) : (
          <div class="made">
            <div class="stack-tight">
              <span class="small faint">The model</span>
              <a class="row-link break" href={href(`/models/${model.id}`)}>
                {model.name}
              </a>
            </div>
            <dl class="facts">
              <Fact name="F1" value={share(job.metrics?.overall?.f1)} />
              <Fact name="Precision" value={share(job.metrics?.overall?.precision)} />
              <Fact name="Recall" value={share(job.metrics?.overall?.recall)} />
              <Fact name="Size" value={bytes(model.model_size_bytes)} />
            </dl>
            <div class="row">
              <ButtonLink href={href(`/models/${model.id}`)}>See the figures</ButtonLink>
              {model.is_active && (
                <ButtonLink kind="primary" icon="inference" href={href(`/inference/new?model=${model.id}`)}>
                  Find artifacts with it
                </ButtonLink>
              )}
            </div>
          </div>
        )
      }
    </Shown>
  );
}

function Curves({ job }: { job: TrainingJob }) {
  const curves = useResource(
    `training-job/${job.id}/metrics`,
    () =>
      body(
        api.GET("/api/v1/training-jobs/{training_job_id}/metrics", {
          params: { path: { training_job_id: job.id } },
        }),
      ),
    ({ data }) => data.training_job_id === job.id,
  );
  return (
    <Shown resource={curves} what="the curves" lines={4}>
      {({ series }) => {
        const groups = grouped(
          series.map(({ name, points }) => ({
            name,
            points: points.map(([step = 0, value = 0]) => [step, value] as const),
          })),
        );
        if (groups.length === 0)
          return (
            <Empty isSmall title={isFinished(job.status) ? "This training has no curves" : "No curves yet"}>
              {!isFinished(job.status) && (
                <p>They appear with the first epoch, and grow while the model learns.</p>
              )}
            </Empty>
          );
        return (
          <div class="charts">
            {groups.map((group) => (
              <Chart key={group.title} group={group} />
            ))}
          </div>
        );
      }}
    </Shown>
  );
}
