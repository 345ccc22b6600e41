// The overview: what is running, how much of the account is used, and what has happened. All of it is live.
import "./overview.css";
import { api, body } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { useResource } from "../../app/resource.ts";
import { can, session } from "../../app/session.ts";
import { ButtonLink } from "../../components/button.tsx";
import { Empty, Shown } from "../../components/states.tsx";
import { Page } from "../../shell/page.tsx";
import { QuotaList } from "../usage/quotas.tsx";
import { EventFeed } from "./event-feed.tsx";
import { RunningJobs } from "./running-jobs.tsx";

export default function Overview() {
  const usage = useResource(
    "usage",
    () => body(api.GET("/api/v1/usage")),
    ({ type }) => !type.endsWith(".progress"),
  );
  const isNew = usage.data?.quotas.datasets.used === 0;
  return (
    <Page
      title="Overview"
      note={<span class="break">{session.value?.tenant_name}</span>}
      actions={
        isNew || !can("write") ? undefined : (
          <ButtonLink icon="plus" href={href("/datasets?new=1")}>
            Create dataset
          </ButtonLink>
        )
      }
    >
      {isNew && <FirstSteps />}
      <div class="columns">
        <div class="stack-wide">
          <section aria-labelledby="running">
            <h2 id="running" class="section-title">
              Jobs in progress
            </h2>
            <RunningJobs />
          </section>
          <section aria-labelledby="usage">
            <div class="row apart section-title">
              <h2 id="usage">Usage</h2>
              <a class="link small" href={href("/settings/usage")}>
                All limits
              </a>
            </div>
            <Shown resource={usage} what="the usage" lines={4}>
              {({ quotas }) => (
                <QuotaList
                  quotas={quotas}
                  names={["audio_bytes", "datasets", "running_training_jobs", "running_inference_jobs"]}
                />
              )}
            </Shown>
          </section>
        </div>
        <section aria-labelledby="events">
          <h2 id="events" class="section-title">
            Last events
          </h2>
          <EventFeed />
        </section>
      </div>
    </Page>
  );
}

function FirstSteps() {
  return (
    <Empty
      title="Start with a dataset"
      actions={
        <ButtonLink kind="primary" icon="plus" href={href("/datasets?new=1")}>
          Create dataset
        </ButtonLink>
      }
    >
      <ol class="steps">
        <li>
          <strong>Create a dataset</strong> and name the artifacts to find, such as <em>click</em> or{" "}
          <em>hum</em>.
        </li>
        <li>
          <strong>Upload recordings</strong>: five minutes in total are enough to train.
        </li>
        <li>
          <strong>Label</strong> where the artifacts are, and publish the labels.
        </li>
        <li>
          <strong>Train a model</strong>, and let it find the artifacts in other recordings.
        </li>
      </ol>
    </Empty>
  );
}
