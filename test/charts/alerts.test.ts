// Each alert rule of the chart on synthetic series, with promtool: it fires at the expected minute and not before, and
// stays silent in normal cases. test/metrics/prometheus.test.ts tests that real processes serve these series.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { repoDir } from "../../tools/cache.ts";

const file = join(repoDir, "charts/plosive/files/alerts.yaml");
const guide = readFileSync(join(repoDir, "docs/alerts.md"), "utf8");
const dir = mkdtempSync(join(tmpdir(), "plosive-alerts-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Rule = {
  alert: string;
  labels: Record<string, string>;
  annotations: { summary: string; action: string };
};
const rules = (parse(readFileSync(file, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

/** Name and labels of a series, and its values for each minute in promtool's notation: first+step x times. */
type Series = Record<string, string>;
type Case = {
  alert: string;
  fires: Series;
  /** The last minute at which it is silent, and the first at which it fires. */
  between: [number, number];
  labels?: Record<string, string>;
  summary: string;
  /** Each of these alone leaves it silent. */
  silent: Record<string, Series>;
};

const operator = 'job="plosive-operator"';
const api = 'job="plosive-api"';
const leader = (instance: string) =>
  `leader_election_master_status{${operator},name="l",instance="${instance}"}`;
const errors = (controller: string) =>
  `controller_runtime_reconcile_errors_total{${operator},controller="${controller}",instance="a"}`;
const reconciles = (controller: string, result: string) =>
  `controller_runtime_reconcile_total{${operator},controller="${controller}",result="${result}",instance="a"}`;
const heard = (instance: string) =>
  `plosive_informer_last_event_timestamp_seconds{${operator},resource="pods",instance="${instance}"}`;
const lag = (le: string) =>
  `plosive_status_lag_seconds_bucket{${operator},sink="row",le="${le}",instance="a"}`;
const creation = (le: string) =>
  `plosive_job_create_seconds_bucket{${operator},kind="training",le="${le}",instance="a"}`;
const sweep = (instance: string) =>
  `plosive_sweep_last_success_timestamp_seconds{${operator},sweep="outbox",instance="${instance}"}`;
const finished = (outcome: string, failureClass: string) =>
  `plosive_jobs_finished_total{${operator},kind="training",outcome="${outcome}",failure_class="${failureClass}",instance="a"}`;
const reports = (result: string) =>
  `plosive_progress_reports_total{${operator},result="${result}",instance="a"}`;
const answers = (status: string, route = "/api/v1/models") =>
  `plosive_http_requests_total{${api},method="GET",route="${route}",status="${status}",instance="a"}`;
const gauge = (name: string, labels: string, job = operator) => `${name}{${job},${labels}instance="a"}`;

const cases: Case[] = [
  {
    alert: "PlosiveNoLeader",
    fires: { [leader("a")]: "1x9 0x30", [leader("b")]: "0x40" },
    between: [11, 12],
    summary: "No replica of the operator is the leader, so no job makes progress.",
    silent: { "one of two replicas leads": { [leader("a")]: "0x60", [leader("b")]: "1x60" } },
  },
  {
    alert: "PlosiveReconcileErrors",
    fires: {
      [errors("models")]: "0+2x60",
      [reconciles("models", "error")]: "0+2x60",
      [reconciles("models", "success")]: "0+8x60",
    },
    between: [10, 11],
    labels: { controller: "models" },
    summary: "20% of the reconciles of models fail.",
    silent: {
      "one reconcile in twenty fails": {
        [errors("models")]: "0+1x60",
        [reconciles("models", "error")]: "0+1x60",
        [reconciles("models", "success")]: "0+19x60",
      },
      "conflicts are retried": {
        [errors("models")]: "0x60",
        [reconciles("models", "requeue")]: "0+9x60",
      },
      "nothing is reconciled": { [errors("models")]: "5x60", [reconciles("models", "error")]: "5x60" },
    },
  },
  {
    alert: "PlosiveBacklog",
    fires: {
      [gauge("workqueue_depth", 'name="models",')]: "5000x60",
      [`workqueue_depth{${operator},name="models",instance="b"}`]: "0x60",
    },
    between: [14, 15],
    labels: { name: "models" },
    summary: "More than 100 models have been waiting in the workqueue for 15 minutes, now 5000.",
    silent: {
      "a burst is processed": { [gauge("workqueue_depth", 'name="models",')]: "10000-1000x10 0x50" },
    },
  },
  {
    alert: "PlosiveInformerStale",
    fires: { [heard("a")]: "0+60x60", [heard("b")]: "0+60x10 600x60" },
    between: [20, 21],
    labels: { resource: "pods" },
    summary: "The watch of pods on an operator replica has received nothing for 11m 0s.",
    silent: { "bookmarks arrive each minute": { [heard("a")]: "0+60x60", [heard("b")]: "-50+60x60" } },
  },
  {
    alert: "PlosiveStatusLag",
    fires: { [lag("30")]: "0x60", [lag("60")]: "0+1x60", [lag("+Inf")]: "0+1x60" },
    between: [10, 11],
    labels: { sink: "row" },
    summary: "The end of a job takes 59.7s to reach the row (99th percentile).",
    silent: {
      "ends arrive within seconds": { [lag("2")]: "0+1x60", [lag("60")]: "0+1x60", [lag("+Inf")]: "0+1x60" },
      "no job ends": { [lag("30")]: "0x60", [lag("60")]: "7x60", [lag("+Inf")]: "7x60" },
    },
  },
  {
    alert: "PlosiveStatusOverdue",
    fires: { [gauge("plosive_status_overdue_seconds", 'kind="training",')]: "0+60x60" },
    between: [6, 7],
    labels: { kind: "training" },
    summary:
      "The Kubernetes Job of a job (training) ended 7m 0s ago, but its custom resource does not show it.",
    silent: {
      "each status is written after a while": {
        [gauge("plosive_status_overdue_seconds", 'kind="training",')]: "0 70 0 70 0 0 70 0x30",
      },
    },
  },
  {
    alert: "PlosiveOutboxLag",
    fires: {
      [gauge("plosive_outbox_lag_seconds", "")]: "0+60x60",
      [`plosive_outbox_lag_seconds{${operator},instance="b"}`]: "0x60",
    },
    between: [6, 7],
    summary: "A job has been waiting for its custom resource for 7m 0s.",
    silent: { "jobs wait a second": { [gauge("plosive_outbox_lag_seconds", "")]: "1x60" } },
  },
  {
    alert: "PlosiveJobsStranded",
    fires: {
      [gauge("plosive_jobs_stranded", "")]: "3x60",
      [`plosive_jobs_stranded{${operator},instance="b"}`]: "0x60",
    },
    between: [4, 5],
    summary: "3 open jobs belong to installations on this database that have no running operator.",
    silent: { "an operator was away for a moment": { [gauge("plosive_jobs_stranded", "")]: "3x3 0x57" } },
  },
  {
    alert: "PlosiveSweepStale",
    fires: { [sweep("a")]: "0+60x10 600x50", [sweep("b")]: "0x60" },
    between: [20, 21],
    labels: { sweep: "outbox" },
    summary: 'The operator\'s sweep "outbox" has not completed for 11m 0s.',
    silent: { "the leader changed": { [sweep("a")]: "0+60x10 600x50", [sweep("b")]: "0x10 660+60x50" } },
  },
  {
    alert: "PlosivePurgeStuck",
    fires: { [gauge("plosive_purges_failing", "")]: "3x90" },
    between: [59, 60],
    summary: "3 entries of the purge queue have failed for an hour.",
    silent: {
      "the store was unavailable for half an hour": { [gauge("plosive_purges_failing", "")]: "3x30 0x60" },
    },
  },
  {
    alert: "PlosiveDeletionStuck",
    fires: { [gauge("plosive_deletion_overdue_seconds", 'kind="inference",')]: "0+60x60" },
    between: [15, 16],
    labels: { kind: "inference" },
    summary: "The deletion of a custom resource (inference) has been waiting for 16m 0s.",
    silent: {
      "a deletion takes five minutes": {
        [gauge("plosive_deletion_overdue_seconds", 'kind="inference",')]: "0+60x5 0x55",
      },
    },
  },
  {
    alert: "PlosiveBackgroundWorkStuck",
    fires: { [gauge("plosive_background_oldest_wait_seconds", "")]: "0+60x80" },
    between: [65, 67],
    summary: "A copy or deletion of annotations, a dataset or a webhook has not ended for 1h 7m 0s.",
    silent: {
      "a large set is copied": { [gauge("plosive_background_oldest_wait_seconds", "")]: "0+60x50 0x40" },
    },
  },
  {
    alert: "PlosiveJobsStalled",
    fires: { [gauge("plosive_shards_stalled_total", 'kind="training",')]: "0x9 1x60" },
    between: [9, 10],
    labels: { kind: "training" },
    summary: "Pods of jobs (training) ran without a report for longer than progressDeadlineSeconds.",
    silent: {
      "no pod has stalled recently": { [gauge("plosive_shards_stalled_total", 'kind="training",')]: "4x90" },
    },
  },
  {
    alert: "PlosiveJobsPendingLong",
    fires: { [gauge("plosive_jobs_oldest_wait_seconds", 'kind="training",phase="Waiting",')]: "0+60x90" },
    between: [35, 36],
    labels: { kind: "training", phase: "Waiting" },
    summary: "A job (training) has been Waiting for 36m 0s.",
    silent: {
      "each waits for twenty minutes": {
        [gauge("plosive_jobs_oldest_wait_seconds", 'kind="training",phase="Pending",')]: "1200x90",
      },
    },
  },
  {
    alert: "PlosiveInfraFailures",
    fires: { [finished("failed", "Infra")]: "0x10 4x60", [finished("succeeded", "")]: "0+0.2x70" },
    between: [15, 16],
    summary: "4 jobs failed within an hour because of the infrastructure or the service.",
    silent: {
      "the failures are user errors": {
        [finished("failed", "User")]: "0+1x90",
        [finished("failed", "Infra")]: "0x90",
      },
      "two of two failed": { [finished("failed", "Infra")]: "0x10 2x80" },
      "few of many failed": {
        [finished("failed", "Infra")]: "0+0.1x90",
        [finished("succeeded", "")]: "0+10x90",
      },
    },
  },
  {
    alert: "PlosiveRunEndpointDown",
    fires: { [reports("accepted")]: "0x10 _x30" },
    between: [12, 18],
    summary: "No replica of the run endpoint answers.",
    silent: { "no pod reports": { [reports("accepted")]: "5x60" } },
  },
  {
    alert: "PlosiveProgressRejected",
    fires: { [reports("refused")]: "0+1x60", [reports("accepted")]: "0+9x60" },
    between: [10, 11],
    summary: "The run endpoint rejects 10% of the reports of pods.",
    silent: {
      "pods report after the end of their run": {
        [reports("ended")]: "0+5x60",
        [reports("accepted")]: "0+5x60",
        [reports("refused")]: "0x60",
      },
      "no pod reports": { [reports("accepted")]: "5x60", [reports("refused")]: "1x60" },
    },
  },
  {
    alert: "PlosiveApiDown",
    fires: { [`up{${api},instance="a"}`]: "1x10 0x30" },
    between: [12, 13],
    summary: "No replica of the API answers Prometheus.",
    silent: {
      "one of two replicas answers": {
        [`up{${api},instance="a"}`]: "0x60",
        [`up{${api},instance="b"}`]: "1x60",
      },
    },
  },
  {
    alert: "PlosiveApiErrors",
    fires: { [answers("503")]: "0+6x60", [answers("200")]: "0+54x60" },
    between: [5, 6],
    summary: "10% of the API's responses are server errors (5xx).",
    silent: { "the errors are those of clients": { [answers("404")]: "0+6x60", [answers("503")]: "0x60" } },
  },
  {
    alert: "PlosiveEventLag",
    fires: { [gauge("plosive_event_lag_seconds", 'stage="delivery",', api)]: "0+60x60" },
    between: [6, 7],
    labels: { stage: "delivery" },
    summary: "Events have been waiting for delivery for 7m 0s.",
    silent: {
      "events wait for a moment": { [gauge("plosive_event_lag_seconds", 'stage="delivery",', api)]: "2x60" },
    },
  },
  {
    alert: "PlosiveApiErrorBudget",
    fires: { [answers("503")]: "0+20x60", [answers("200")]: "0+980x60" },
    between: [2, 3],
    summary: "2% of the API's responses are server errors (5xx); the objective is at most 0.1%.",
    silent: {
      "a single response fails": { [answers("503")]: "0 1x60", [answers("200")]: "0 9x60" },
      "a new pod waits for the migrations": {
        [answers("503", "/startupz")]: "0+30x60",
        [answers("503")]: "0x60",
        [answers("200")]: "0+1x60",
      },
      "one response in two hundred fails": { [answers("503")]: "0+1x60", [answers("200")]: "0+199x60" },
      "the errors are those of clients": { [answers("404")]: "0+6x60", [answers("503")]: "0x60" },
    },
  },
  {
    alert: "PlosiveStatusBudget",
    fires: { [lag("30.0")]: "0+40x60", [lag("+Inf")]: "0+50x60" },
    between: [2, 3],
    labels: { sink: "row" },
    summary: "20% of the ends of jobs reach the row after more than 30 s; the objective is at most 1%.",
    silent: {
      "one end in twenty is late": { [lag("30")]: "0+19x60", [lag("+Inf")]: "0+20x60" },
      "few jobs end": { [lag("30")]: "0 1x60", [lag("+Inf")]: "0 4x60" },
    },
  },
  {
    alert: "PlosiveJobBudget",
    fires: { [creation("30.0")]: "0+40x60", [creation("+Inf")]: "0+50x60" },
    between: [2, 3],
    labels: { kind: "training" },
    summary:
      "20% of the training jobs that nothing holds back get their Kubernetes Job after more than 30 s; the objective is at most 1%.",
    silent: {
      "one job in twenty is late": { [creation("30")]: "0+19x60", [creation("+Inf")]: "0+20x60" },
      "few jobs are created": { [creation("30")]: "0 1x60", [creation("+Inf")]: "0 4x60" },
    },
  },
];

it("the budget of errors sees few errors that go on for hours, and its alert ends soon after them", () => {
  // One response in a hundred fails for five hours: too few for the short windows, and too many for a month.
  const series = {
    [answers("503")]: "0+1x300 300x120",
    [answers("200")]: "0+99x420",
    [answers("200", "/healthz")]: "0+900x420",
  };
  const { alert, labels, annotations } = rules.find((one) => one.alert === "PlosiveApiErrorBudget")!;
  const summary = "1% of the API's responses are server errors (5xx); the objective is at most 0.1%.";
  check("budget", series, [
    { at: 250, alert, fires: { exp_labels: labels, exp_annotations: { ...annotations, summary } } },
    { at: 335, alert },
  ]);
});

/** Runs promtool; throws with its expected and actual alerts. */
function check(
  name: string,
  series: Series,
  expected: { at: number; alert: string; fires?: object }[],
): void {
  const path = join(dir, `${name}.yaml`);
  const test = {
    interval: "1m",
    input_series: Object.entries(series).map(([key, values]) => ({ series: key, values })),
    alert_rule_test: expected.map(({ at, alert, fires }) => ({
      eval_time: `${at}m`,
      alertname: alert,
      exp_alerts: fires === undefined ? [] : [fires],
    })),
  };
  writeFileSync(path, stringify({ rule_files: [file], evaluation_interval: "1m", tests: [test] }));
  try {
    execFileSync("promtool", ["test", "rules", path], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  }
}

it.each(cases)("$alert fires at its minute and not before", ({ alert, fires, between, labels, summary }) => {
  const rule = rules.find((one) => one.alert === alert)!;
  const words = { summary, action: rule.annotations.action };
  const [before, after] = between;
  check(alert, fires, [
    { at: before, alert },
    { at: after, alert, fires: { exp_labels: { ...rule.labels, ...labels }, exp_annotations: words } },
  ]);
});

it.each(
  cases.flatMap(({ alert, silent }) =>
    Object.entries(silent).map(([why, series]) => ({ alert, why, series })),
  ),
)("$alert is silent: $why", ({ alert, series }) => {
  const times = [1, 5, 10, 12, 15, 16, 20, 25, 30, 40, 50, 60].map((at) => ({ at, alert }));
  check(`${alert}-silent`, series, times);
});

it("every rule has a case here, an action, and a section in docs/alerts.md", () => {
  expect(cases.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert));
  for (const { alert, annotations } of rules) {
    expect(annotations.action, alert).toMatch(/^.{20,200}\.$/);
    expect(guide, alert).toContain(`\n## ${alert}\n`);
  }
  expect(guide.match(/^## Plosive/gm)).toHaveLength(rules.length);
});
