// The panels of the Grafana dashboards, as data: titles, descriptions and queries. dashboards.ts generates the chart's files
// from it; test/metrics sends every query to a real Prometheus. With several replicas, gauges that every replica serves are
// combined with max; counters of the leader are summed.

type Unit = "short" | "s" | "bytes" | "percentunit" | "reqps" | "ops";
/** A PromQL expression and the legend of its series. */
type Query = readonly [expr: string, legend: string];
export type PanelOf = {
  title: string;
  description: string;
  unit: Unit;
  queries: readonly Query[];
  isOneNumber?: boolean;
};
export type DashboardOf = {
  uid: string;
  title: string;
  description: string;
  of: "operator" | "api";
  panels: readonly PanelOf[];
};

/** In expressions, {} stands for the labels of the selected installation; {x="y"} adds one more label to them. */
const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (${by}${by === "" ? "" : ", "}le) (rate(${metric}_bucket{}[$__rate_interval])))`;
const rate = (metric: string, by: string, labels = "") =>
  `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
const lines = (title: string, description: string, unit: Unit, ...queries: Query[]): PanelOf => ({
  title,
  description,
  unit,
  queries,
});
const number = (title: string, description: string, unit: Unit, expr: string): PanelOf => ({
  title,
  description,
  unit,
  queries: [[expr, ""]],
  isOneNumber: true,
});

const processPanels = [
  lines("Memory", "Resident memory of each replica", "bytes", [
    "process_resident_memory_bytes{}",
    "{{instance}}",
  ]),
  lines("CPU", "Cores that each replica uses", "short", [
    "sum by (instance) (rate(process_cpu_seconds_total{}[$__rate_interval]))",
    "{{instance}}",
  ]),
  lines("Event loop", "Event loop lag, 99th percentile", "s", [
    "nodejs_eventloop_lag_p99_seconds{}",
    "{{instance}}",
  ]),
  lines(
    "Connections to Postgres",
    "Connections by state and their upper bound, summed over all replicas",
    "short",
    ["sum by (state) (plosive_database_connections{})", "{{state}}"],
    ["sum(plosive_database_connections_limit{})", "limit"],
  ),
  lines("Wait for a connection", "99th percentile of the time that callers wait for a connection", "s", [
    quantile(0.99, "plosive_database_wait_seconds", ""),
    "p99",
  ]),
];

export const dashboards: readonly DashboardOf[] = [
  {
    uid: "plosive-operator",
    title: "Plosive operator",
    description:
      "Health of the operator: leadership, backlog, failures, and its load on the API server and Postgres.",
    of: "operator",
    panels: [
      number(
        "Leaders",
        "Must be 1, otherwise jobs make no progress",
        "short",
        "sum(leader_election_master_status{})",
      ),
      number("Replicas", "Replicas that answer Prometheus", "short", "sum(up{})"),
      number(
        "Outbox",
        "Age of the oldest job without a custom resource",
        "s",
        "max(plosive_outbox_lag_seconds{})",
      ),
      number(
        "Overdue status",
        "Age of the oldest end of a Kubernetes Job that its custom resource does not show yet",
        "s",
        "max(plosive_status_overdue_seconds{})",
      ),
      number(
        "Failing purges",
        "Entries of the purge queue whose deletion failed",
        "short",
        "max(plosive_purges_failing{})",
      ),
      number(
        "Oldest sweep",
        "Longest time since the last completed run of a sweep",
        "s",
        "time() - min(max by (sweep) (plosive_sweep_last_success_timestamp_seconds{}))",
      ),
      lines("Reconciles", "By controller and result", "ops", [
        rate("controller_runtime_reconcile_total", "controller, result"),
        "{{controller}} {{result}}",
      ]),
      lines("Failed reconciles", "Share of all reconciles", "percentunit", [
        `${rate("controller_runtime_reconcile_errors_total", "controller")} / ${rate("controller_runtime_reconcile_total", "controller")}`,
        "{{controller}}",
      ]),
      lines(
        "Duration of a reconcile",
        "Median and 99th percentile",
        "s",
        [quantile(0.5, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} p50"],
        [quantile(0.99, "controller_runtime_reconcile_time_seconds", "controller"), "{{controller}} p99"],
      ),
      lines("Workqueue", "Objects that wait for a reconcile", "short", [
        "max by (name) (workqueue_depth{})",
        "{{name}}",
      ]),
      lines(
        "Time in the workqueue",
        "99th percentile of the waiting time and of the processing time",
        "s",
        [quantile(0.99, "workqueue_queue_duration_seconds", "name"), "{{name}} waits"],
        [quantile(0.99, "workqueue_work_duration_seconds", "name"), "{{name}} works"],
      ),
      lines(
        "Additions and retries",
        "Objects added to the workqueue, and those of them that had failed before",
        "ops",
        [rate("workqueue_adds_total", "name"), "{{name}} added"],
        [rate("workqueue_retries_total", "name"), "{{name}} retried"],
      ),
      lines(
        "Workers",
        "Busy workers and all workers",
        "short",
        ["sum by (controller) (controller_runtime_active_workers{})", "{{controller}} busy"],
        ["max by (controller) (controller_runtime_max_concurrent_reconciles{})", "{{controller}} all"],
      ),
      lines(
        "Stuck reconciles",
        "Running time of the longest reconcile, and of all running ones together",
        "s",
        ["max by (name) (workqueue_longest_running_processor_seconds{})", "{{name}}"],
        ["max by (name) (workqueue_unfinished_work_seconds{})", "{{name}} together"],
      ),
      lines("Terminal errors", "Failed reconciles that are not retried until the object changes", "ops", [
        rate("controller_runtime_terminal_reconcile_errors_total", "controller"),
        "{{controller}}",
      ]),
      lines("Requests to the API server", "By method and status", "reqps", [
        rate("rest_client_requests_total", "method, code"),
        "{{method}} {{code}}",
      ]),
      lines("Duration of requests", "99th percentile of the time until the response headers", "s", [
        quantile(0.99, "rest_client_request_duration_seconds", "verb"),
        "{{verb}}",
      ]),
      lines("Age of the caches", "Time since the API server last sent anything", "s", [
        "time() - min by (resource) (plosive_informer_last_event_timestamp_seconds{})",
        "{{resource}}",
      ]),
      lines(
        "Objects in the caches",
        "Objects by resource, and complete lists of the resource",
        "short",
        ["max by (resource) (plosive_informer_objects{})", "{{resource}}"],
        [
          "sum by (resource) (increase(plosive_informer_relists_total{}[$__rate_interval]))",
          "{{resource}} lists",
        ],
      ),
      lines(
        "Lag of the status",
        "Time from the end of a Kubernetes Job to the row and to the custom resource, 99th percentile",
        "s",
        [quantile(0.99, "plosive_status_lag_seconds", "sink"), "{{sink}}"],
      ),
      lines(
        "Webhooks",
        "Attempts by result, and deliveries that were delivered or given up",
        "reqps",
        [rate("plosive_webhook_attempts_total", "result"), "{{result}}"],
        [rate("plosive_webhook_deliveries_total", "status"), "delivery {{status}}"],
      ),
      lines("Duration of webhooks", "99th percentile of the duration of an attempt", "s", [
        quantile(0.99, "plosive_webhook_attempt_seconds", ""),
        "p99",
      ]),
      lines("Background work", "Pieces of copies and deletions per second", "ops", [
        rate("plosive_background_pieces_total", "kind"),
        "{{kind}}",
      ]),
      lines(
        "Oldest background work",
        "Time since the oldest unfinished copy or deletion was requested",
        "s",
        ["max(plosive_background_oldest_wait_seconds{})", "age"],
      ),
      lines("Uploads from URLs", "Attempts to fetch a file, by result", "ops", [
        rate("plosive_url_uploads_total", "result"),
        "{{result}}",
      ]),
      lines(
        "Repairs and deletions",
        "Repaired drift by the side that was behind; age of the oldest unfinished deletion",
        "short",
        ["sum by (direction) (increase(plosive_drift_total{}[$__rate_interval]))", "{{direction}}"],
        ["max(plosive_deletion_overdue_seconds{})", "deletion, seconds"],
      ),
      lines("Run endpoint", "Requests of pods by result", "reqps", [
        rate("plosive_progress_reports_total", "result"),
        "{{result}}",
      ]),
      ...processPanels,
    ],
  },
  {
    uid: "plosive-jobs",
    title: "Plosive jobs",
    description:
      "Jobs by kind and outcome: waiting jobs and their reasons, running jobs, failures and their classes. The metrics do not contain tenants or single jobs; kubectl get plosive and the REST API show them.",
    of: "operator",
    panels: [
      number(
        "Running",
        "Jobs with a running pod",
        "short",
        'sum(max by (kind) (plosive_jobs{phase="Running"}))',
      ),
      number(
        "Waiting",
        "Jobs without a running pod",
        "short",
        'sum(max by (kind, phase) (plosive_jobs{phase=~"Pending|Waiting"}))',
      ),
      number(
        "Suspended",
        "Jobs with spec.suspend",
        "short",
        'sum(max by (kind) (plosive_jobs{phase="Suspended"}))',
      ),
      number("Longest wait", "Longest wait of a waiting job", "s", "max(plosive_jobs_oldest_wait_seconds{})"),
      number(
        "Ended in a day",
        "Jobs with any outcome",
        "short",
        "sum(increase(plosive_jobs_finished_total{}[1d]))",
      ),
      number(
        "Failed in a day",
        "Share of all ended jobs",
        "percentunit",
        'sum(increase(plosive_jobs_finished_total{outcome="failed"}[1d])) / sum(increase(plosive_jobs_finished_total{}[1d]))',
      ),
      lines("Open jobs", "By kind and phase", "short", [
        'max by (kind, phase) (plosive_jobs{phase!~"Succeeded|Failed|Cancelled"})',
        "{{kind}} {{phase}}",
      ]),
      lines("Waiting reasons", "Open jobs that make no progress, by reason", "short", [
        "max by (kind, reason) (plosive_jobs_not_progressing{})",
        "{{kind}} {{reason}}",
      ]),
      lines(
        "Longest wait by phase",
        "Since the creation (Pending), or since the pods began to wait (Waiting)",
        "s",
        ["max by (kind, phase) (plosive_jobs_oldest_wait_seconds{})", "{{kind}} {{phase}}"],
      ),
      lines("Ended", "By kind and outcome, per hour", "short", [
        "sum by (kind, outcome) (increase(plosive_jobs_finished_total{}[1h]))",
        "{{kind}} {{outcome}}",
      ]),
      lines("Failures", "By failure class, per hour", "short", [
        'sum by (failure_class) (increase(plosive_jobs_finished_total{outcome="failed"}[1h]))',
        "{{failure_class}}",
      ]),
      lines(
        "Retries",
        "Failed pods by failure class, and stalled pods by kind, per hour",
        "short",
        ["sum by (class) (increase(plosive_shard_retries_total{}[1h]))", "{{class}}"],
        ["sum by (kind) (increase(plosive_shards_stalled_total{}[1h]))", "{{kind}} stalled"],
      ),
      ...(
        [
          ["queue", "Creation to admission"],
          ["start", "Admission to the first running pod"],
          ["run", "First running pod to the end"],
        ] as const
      ).map(([step, interval]) =>
        lines(
          `Time to ${step}`,
          `${interval}: median and 95th percentile`,
          "s",
          [quantile(0.5, `plosive_job_${step}_seconds`, "kind"), "{{kind}} p50"],
          [quantile(0.95, `plosive_job_${step}_seconds`, "kind"), "{{kind}} p95"],
        ),
      ),
      lines("Audio", "Seconds of audio processed per second", "short", [
        rate("plosive_audio_seconds_processed_total", "kind"),
        "{{kind}}",
      ]),
      lines("GPUs", "Requested GPUs in use", "short", [
        rate("plosive_gpu_seconds_total", "kind"),
        "{{kind}}",
      ]),
    ],
  },
  {
    uid: "plosive-api",
    title: "Plosive API",
    description: "The REST API: requests, errors, latencies, rejected requests, uploads and events.",
    of: "api",
    panels: [
      number("Replicas", "Replicas that answer Prometheus", "short", "sum(up{})"),
      number("Requests", "Per second", "reqps", "sum(rate(plosive_http_requests_total{}[$__rate_interval]))"),
      number(
        "Errors",
        "Share of responses with status 5xx",
        "percentunit",
        '(sum(rate(plosive_http_requests_total{status=~"5.."}[$__rate_interval])) or vector(0)) / sum(rate(plosive_http_requests_total{}[$__rate_interval]))',
      ),
      number(
        "p99",
        "99th percentile of the time until the response headers",
        "s",
        quantile(0.99, "plosive_http_request_seconds", ""),
      ),
      number("Streams", "Open event streams and long polls", "short", "sum(plosive_waiting_requests{})"),
      number(
        "Waiting events",
        "Age of the oldest waiting event or delivery",
        "s",
        "max(plosive_event_lag_seconds{})",
      ),
      lines("Requests by status", "Per second", "reqps", [
        rate("plosive_http_requests_total", "status"),
        "{{status}}",
      ]),
      lines("Busiest routes", "The ten routes with the most requests", "reqps", [
        `topk(10, ${rate("plosive_http_requests_total", "method, route")})`,
        "{{method}} {{route}}",
      ]),
      lines("Slowest routes", "99th percentile of the ten slowest routes", "s", [
        `topk(10, ${quantile(0.99, "plosive_http_request_seconds", "method, route")})`,
        "{{method}} {{route}}",
      ]),
      lines("Rate-limited requests", "Requests rejected by a rate limit, by limit", "reqps", [
        rate("plosive_rate_limited_total", "policy"),
        "{{policy}}",
      ]),
      lines("Rejected API keys", "Requests with a rejected API key, by reason", "reqps", [
        rate("plosive_refused_keys_total", "reason"),
        "{{reason}}",
      ]),
      lines("Uploads", "By outcome", "reqps", [rate("plosive_uploads_total", "outcome"), "{{outcome}}"]),
      lines(
        "Lag of events",
        "Age of the oldest event that the sequencer has not numbered, and of the oldest due delivery",
        "s",
        ["max by (stage) (plosive_event_lag_seconds{})", "{{stage}}"],
      ),
      ...processPanels,
    ],
  },
];
