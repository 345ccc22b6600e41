// Renders the figures of the operator's benchmark as the committed table, and lists the targets that they miss. Called
// by main.ts.
import { availableParallelism } from "node:os";
import type { Accounts } from "./accounts.ts";
import type { Flood } from "./flood.ts";
import type { Admitted } from "./kueue.ts";
import type { Retained } from "./retained.ts";
import type { Reports } from "./shards.ts";

export interface Result {
  idle?: Flood;
  bursts: Flood[];
  flood?: Flood;
  /** Jobs at a steady pace, and the operator's resident memory at its end. */
  pace?: Flood;
  paceBytes?: number;
  /** The peak resident memory of the operator. */
  peakBytes?: number;
  /** Of 1,000 shards in ten jobs, and of 5,000 jobs with one shard each. */
  reports: Reports[];
  /** Jobs that Kubernetes' controllers run at their default request rates. */
  slow?: Flood;
  retained?: Retained;
  kueue?: Admitted;
  cpu: string;
  date: string;
}

const limits = {
  createdPerSecond: 50,
  writesPerJob: 6,
  bytes: 512 * 2 ** 20,
  toJobMs: 1_000,
  toRowMs: 3_000,
  /** Per second, for 1,000 shards in ten jobs and for more jobs. */
  statusWrites: { few: 20, many: 50 },
  startMs: 30_000,
  ageMs: 5_000,
};

export const quantile = (values: readonly number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
const p99 = (values: readonly number[]) => quantile(values, 0.99);

/** Every target that was measured, and whether it is met. */
function goals(result: Result): { what: string; limit: string; got: string; isMet: boolean }[] {
  const { idle, bursts, flood, kueue, retained, peakBytes } = result;
  const made: { what: string; limit: string; got: string; isMet: boolean }[] = [];
  const most = (what: string, got: number, limit: number, unit: string, digits = 0) =>
    made.push({
      what,
      limit: `≤ ${limit} ${unit}`,
      got: `${got.toFixed(digits)} ${unit}`,
      isMet: got <= limit,
    });
  const least = (what: string, got: number, limit: number, unit: string) =>
    made.push({
      what,
      limit: `≥ ${limit.toFixed(1)} ${unit}`,
      got: `${got.toFixed(1)} ${unit}`,
      isMet: got >= limit,
    });
  const perSecond = "a second";
  if (flood !== undefined) {
    const name = `${number(flood.jobs)} custom resources at once: Jobs created`;
    least(name, flood.created, limits.createdPerSecond, perSecond);
    if (kueue !== undefined)
      least("the same, beside Kueue's admissions", flood.created, rateOf(kueue), perSecond);
    most("writes to the API server in a job's life", flood.writesPerJob, limits.writesPerJob, "", 2);
  }
  if (peakBytes !== undefined) most("operator's memory", peakBytes / 2 ** 20, limits.bytes / 2 ** 20, "MiB");
  for (const [name, floods] of [
    ["idle", idle === undefined ? [] : [idle]],
    ["bursts", bursts],
  ] as const) {
    if (floods.length === 0) continue;
    most(
      `custom resource to Job, p99, ${name}`,
      p99(floods.flatMap(({ toJob }) => toJob)),
      limits.toJobMs,
      "ms",
    );
    most(
      `Job's end to the REST API, p99, ${name}`,
      p99(floods.flatMap(({ toRow }) => toRow)),
      limits.toRowMs,
      "ms",
    );
  }
  for (const reports of result.reports) {
    const isMany = reports.jobs > 10;
    const name = `${number(reports.shards)} shards of ${number(reports.jobs)} jobs report once a second`;
    const writes = isMany ? limits.statusWrites.many : limits.statusWrites.few;
    most(`${name}: writes to the API server`, reports.writesPerSecond, writes, perSecond, 1);
    if (isMany)
      most(
        `${name}: CPU of the operator and the run endpoint`,
        reports.operatorCpu + reports.runsCpu,
        1,
        "cores",
        2,
      );
    const oldest = reports.ages.reduce((most, age) => Math.max(most, age), 0);
    most(`${name}: age of what the REST API shows, the most`, oldest, limits.ageMs, "ms");
    most(`${name}: wrong counts at the end`, reports.wrong.length, 0, "");
  }
  if (retained !== undefined) {
    const name = `${number(retained.jobs)} jobs of a day are kept`;
    most(`${name}: operator's memory`, retained.peakBytes / 2 ** 20, limits.bytes / 2 ** 20, "MiB");
    most(
      `${name}: start of the operator to its first Job`,
      retained.startMs / 1000,
      limits.startMs / 1000,
      "s",
      1,
    );
  }
  return made;
}

export const faultsOf = (result: Result) =>
  goals(result)
    .filter(({ isMet }) => !isMet)
    .map(({ what, limit, got }) => `${what}: ${got}, not ${limit}`);

export function render(result: Result): string {
  const { idle, bursts, flood, pace, slow, kueue, retained, cpu, date } = result;
  const lines = [
    "# Benchmarks of the operator: results",
    "",
    `Written by \`make bench-operator\` on ${date}; [benchmarks.md](benchmarks.md) describes the method. ` +
      `${availableParallelism()} CPUs (${cpu}) run everything: etcd, API server, Kubernetes' controllers and scheduler, ` +
      "KWOK, Postgres, S3, the operator and the load generator.",
    "",
    "## Goals",
    "",
    "| | goal | measured | |",
    "|---|---|---|---|",
    ...goals(result).map(
      ({ what, limit, got, isMet }) =>
        `| ${what} | ${limit.trim()} | ${got.trim()} | ${isMet ? "met" : "**missed**"} |`,
    ),
    "",
  ];
  const floods = [
    ...(idle === undefined ? [] : [["idle: one job every 0.3 s", idle] as const]),
    ...bursts.map((burst, n) => [`burst ${n + 1}`, burst] as const),
    ...(flood === undefined ? [] : [["flood", flood] as const]),
    ...(pace === undefined ? [] : [["steady pace", pace] as const]),
  ];
  if (floods.length > 0)
    lines.push(
      "## Jobs",
      "",
      "| | jobs | submitted /s | Jobs created /s | slowest 10 s | to Job p50 / p99 ms | to row p50 / p99 ms | writes a job | reads a job | reconciles a job |",
      "|---|---|---|---|---|---|---|---|---|---|",
      ...floods.map(([name, made]) => row(name, made)),
      "",
    );
  if (flood !== undefined)
    lines.push(
      "## CPU time of the flood",
      "",
      "Milliseconds per job: until all Jobs are created, and from then until all rows have ended. Kueue: milliseconds per admission.",
      "",
      `| | created | ended |${kueue === undefined ? "" : " Kueue |"}`,
      `|---|---|---|${kueue === undefined ? "" : "---|"}`,
      ...costs(flood, kueue),
      "",
    );
  if (pace !== undefined)
    lines.push(
      "## A steady pace",
      "",
      `${number(pace.jobs)} jobs in ${(pace.seconds / 60).toFixed(0)} minutes are ` +
        `${number(Math.round((pace.jobs / pace.seconds) * 86_400))} a day. The operator has ` +
        `${((result.paceBytes ?? 0) / 2 ** 20).toFixed(0)} MiB resident at the end, and sends ` +
        `${(((pace.writesPerJob + pace.readsPerJob) * pace.jobs) / pace.seconds).toFixed(0)} requests a second. CPU, in cores:`,
      "",
      "| | cores |",
      "|---|---|",
      ...Object.keys(pace.creation).map(
        (name) =>
          `| ${name} | ${(((pace.creation[name] ?? 0) + (pace.rest[name] ?? 0)) / pace.seconds).toFixed(2)} |`,
      ),
      "",
    );
  if (kueue !== undefined)
    lines.push(
      "## Kueue",
      "",
      `${number(kueue.jobs)} suspended Jobs, submitted at ${kueue.submitted.toFixed(1)} a second. Kueue admitted ` +
        `${number(kueue.done)} of them in the measured time: ${kueue.admitted.toFixed(1)} a second, and ` +
        `${kueue.best.toFixed(1)} a second in the best minute. From creation to admission: p50 ${quantile(kueue.toAdmission, 0.5).toFixed(0)} ms, ` +
        `p99 ${p99(kueue.toAdmission).toFixed(0)} ms. Kueue had at most ${(kueue.peakBytes / 2 ** 20).toFixed(0)} MiB resident.`,
      "",
    );
  if (result.reports.length > 0) lines.push("## Reports", "");
  for (const reports of result.reports)
    lines.push(
      `${number(reports.shards)} shards of ${number(reports.jobs)} jobs report for ${reports.seconds.toFixed(0)} s: ` +
        `${reports.reportsPerSecond.toFixed(0)} reports a second, ${reports.refused} refused. A report takes p50 ` +
        `${quantile(reports.took, 0.5).toFixed(0)} ms, p99 ${p99(reports.took).toFixed(0)} ms. ` +
        `The progress that the REST API shows is p50 ${quantile(reports.ages, 0.5).toFixed(0)} ms, p99 ${p99(reports.ages).toFixed(0)} ms old. ` +
        `The operator uses ${(100 * reports.operatorCpu).toFixed(0)} % of a CPU, and the run endpoint ${(100 * reports.runsCpu).toFixed(0)} %.`,
      "",
    );
  if (slow !== undefined)
    lines.push(
      "## Kubernetes' controllers at their default rates",
      "",
      `Each controller of kube-controller-manager sends at most 20 requests a second by default. Of ${number(slow.jobs)} jobs with a pod each ` +
        `that were submitted at once, it ended ${slow.ended.toFixed(2)} a second, which is ${number(Math.round(slow.ended * 86_400))} a day and at most ` +
        `${(20 / slow.ended).toFixed(1)} requests of a controller for each. So ${number(perDay)} jobs a day take ` +
        `${((100 * perDay) / 86_400 / slow.ended).toFixed(0)} % of its requests. It used ` +
        `${(((slow.creation[controllerManager] ?? 0) + (slow.rest[controllerManager] ?? 0)) / slow.seconds).toFixed(2)} cores.`,
      "",
    );
  if (retained !== undefined)
    lines.push(
      "## Ended jobs",
      "",
      `${number(retained.jobs)} jobs that succeeded in the last 24 hours, with the Jobs and pods of the last hour, take ` +
        `${(retained.etcdBytes / 2 ** 20).toFixed(0)} MiB of etcd. A new operator creates the Job of a waiting custom ` +
        `resource ${(retained.startMs / 1000).toFixed(1)} s after its start, and has at most ` +
        `${(retained.peakBytes / 2 ** 20).toFixed(0)} MiB resident.`,
      "",
    );
  return lines.join("\n");
}

function row(name: string, made: Flood): string {
  const { jobs, submitted, created, slowest, toJob, toRow } = made;
  const of = (values: readonly number[]) => `${quantile(values, 0.5).toFixed(0)} / ${p99(values).toFixed(0)}`;
  const rates = [submitted, created, slowest].map((rate) => rate.toFixed(1)).join(" | ");
  const per = [made.writesPerJob, made.readsPerJob, made.reconcilesPerJob]
    .map((n) => n.toFixed(2))
    .join(" | ");
  return `| ${name} | ${number(jobs)} | ${rates} | ${of(toJob)} | ${of(toRow)} | ${per} |`;
}

function costs(flood: Flood, kueue: Admitted | undefined): string[] {
  const names = [...new Set([...Object.keys(flood.creation), ...Object.keys(kueue?.cpu ?? {})])];
  const per = (accounts: Accounts, name: string, jobs: number) => {
    const seconds = accounts[name];
    return seconds === undefined ? "" : ((seconds / jobs) * 1000).toFixed(1);
  };
  return names.map((name) => {
    const own = [per(flood.creation, name, flood.jobs), per(flood.rest, name, flood.jobs)];
    return `| ${name} | ${[...own, ...(kueue === undefined ? [] : [per(kueue.cpu, name, kueue.done)])].join(" | ")} |`;
  });
}

/**
 * The higher of two rates, in Kueue's favor: it admits few Jobs while they are created, and the time limit may cut off
 * the last ones.
 */
const rateOf = ({ admitted, best }: Admitted) => Math.max(admitted, best);

/** The jobs a day that a default etcd has room for. */
const perDay = 100_000;
const controllerManager = "controller manager";
const number = (value: number) => value.toLocaleString("en");
