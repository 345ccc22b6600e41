// Settings > Usage: quotas, what jobs have used, rate limits.
import type { Usage } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { amountOfTime, count } from "../../app/format.ts";
import { useResource } from "../../app/resource.ts";
import { Shown } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Page } from "../../shell/page.tsx";
import { allQuotas, QuotaList } from "./quotas.tsx";

type Rate = Usage["rates"][number];

const rateWords: Record<Rate["name"], [string, string]> = {
  default: ["All requests", "Every request counts"],
  writes: ["Changes", "Requests that change something, except the following"],
  uploads: [
    "Uploads",
    "Requests for upload tickets (up to 100 files each), for parts, and for files from a URL",
  ],
  keys: ["API keys", "Requests that create or rotate keys"],
  trainings: ["Training jobs", "Requests that create training jobs"],
};

const rateColumns: readonly Column<Rate>[] = [
  { id: "name", header: "Limit", cell: ({ name }) => rateWords[name]?.[0] ?? name },
  {
    id: "what",
    header: "Counts",
    isFlexible: true,
    cell: ({ name }) => <span class="muted">{rateWords[name]?.[1]}</span>,
  },
  {
    id: "rate",
    header: "Requests per minute",
    isNumber: true,
    cell: ({ requests_per_minute: rate }) => (rate === null ? "No limit" : count(rate)),
  },
];

export default function UsagePage() {
  const usage = useResource(
    "usage",
    () => body(api.GET("/api/v1/usage")),
    ({ type }) => !type.endsWith(".progress"),
  );
  return (
    <Page
      title="Usage"
      crumbs={[{ label: "Settings" }]}
      note="What the account uses, and the limits that the administrator has set."
    >
      <Shown resource={usage} what="the usage" lines={8}>
        {({ quotas, compute, rates }) => (
          <div class="stack-wide">
            <section aria-labelledby="quotas">
              <h2 id="quotas" class="section-title">
                Quotas
              </h2>
              <QuotaList quotas={quotas} names={allQuotas} />
            </section>
            <section aria-labelledby="compute">
              <h2 id="compute" class="section-title">
                Used by jobs so far
              </h2>
              <dl class="facts">
                <Fact name="Audio processed" seconds={compute.audio_seconds} />
                <Fact name="Pods" seconds={compute.pod_seconds} />
                <Fact name="Processor cores" seconds={compute.cpu_seconds} />
                <Fact name="GPUs" seconds={compute.gpu_seconds} />
              </dl>
              <p class="tiny faint">Totals since the account exists. They stay when jobs are deleted.</p>
            </section>
            <section aria-labelledby="rates">
              <h2 id="rates" class="section-title">
                Rate limits
              </h2>
              <Table caption="Rate limits" columns={rateColumns} rows={rates} keyOf={({ name }) => name} />
            </section>
          </div>
        )}
      </Shown>
    </Page>
  );
}

const Fact = ({ name, seconds }: { name: string; seconds: number }) => (
  <div>
    <dt>{name}</dt>
    <dd class="number">{amountOfTime(seconds * 1000)}</dd>
  </div>
);
