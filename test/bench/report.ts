// Renders the benchmark's figures as the committed table, and lists the targets that they miss. Called by main.ts.
import { availableParallelism } from "node:os";
import type { BigRead } from "./big.ts";
import type { Limit } from "./limit.ts";
import type { Measured } from "./measure.ts";

export interface Endpoint {
  readonly name:
    | "List training jobs: 20 of 1,000"
    | "Read an annotation set of 10,000"
    | "Create 1,000 annotations";
  readonly plosive: readonly Measured[];
  readonly fastapi: readonly Measured[];
  readonly limit: Limit;
}

export interface Report {
  readonly endpoints: readonly Endpoint[];
  readonly reads: readonly BigRead[];
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly annotations: number;
  readonly cpu: string;
}

const leastRatio = 2;
const mostBytes = 150 * 2 ** 20;

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
const of = (rounds: readonly Measured[], member: keyof Measured) =>
  median(rounds.map((round) => round[member]));
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
const rate = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

export function faultsOf(endpoints: readonly Endpoint[], reads: readonly BigRead[]): string[] {
  const faults: string[] = [];
  for (const { name, plosive, fastapi } of endpoints) {
    const ratio = of(plosive, "perSecond") / of(fastapi, "perSecond");
    if (!(ratio >= leastRatio)) faults.push(`${name}: ${ratio.toFixed(2)} times FastAPI, not ${leastRatio}`);
    if (!(of(plosive, "p99") <= of(fastapi, "p99"))) faults.push(`${name}: p99 is above FastAPI's`);
  }
  for (const { name, peakBytes } of reads)
    if (!(peakBytes <= mostBytes)) faults.push(`${name}: ${mib(peakBytes)} MiB resident`);
  return faults;
}

export function render(report: Report): string {
  const { endpoints, reads, rounds, seconds, connections, annotations, cpu } = report;
  const rows = endpoints.flatMap(({ name, plosive, fastapi, limit }) => [
    row(name, "Plosive", plosive),
    row("", "FastAPI", fastapi),
    `| | database alone | ${rate(limit.perSecond)} | ${limit.p50.toFixed(1)} | ${limit.p99.toFixed(1)} | | | | |`,
  ]);
  const ratios = endpoints.map(({ name, plosive, fastapi }) => {
    const pairs = plosive.map((round, i) => round.perSecond / (fastapi[i]?.perSecond ?? Number.NaN));
    const ratio = of(plosive, "perSecond") / of(fastapi, "perSecond");
    const range = `${Math.min(...pairs).toFixed(2)} to ${Math.max(...pairs).toFixed(2)}`;
    return `| ${name} | ${ratio.toFixed(2)} | ${range} | ${(of(plosive, "p99") / of(fastapi, "p99")).toFixed(2)} |`;
  });
  const readRows = reads.map(
    ({ name, seconds: took, bytes, peakBytes }) =>
      `| ${name} | ${took.toFixed(1)} | ${mib(bytes)} | ${mib(peakBytes)} |`,
  );
  return `# Results of the benchmarks

Written by \`make bench-api\`; [benchmarks.md](benchmarks.md) describes the method. The figures are medians of ${rounds} rounds of
${seconds} s per server. The servers take turns, with ${connections} connections and one process each.
${cpu}, ${availableParallelism()} cores, Node ${process.versions.node}.

| Endpoint | Server | requests/s | p50 ms | p99 ms | server CPU ms | Postgres CPU ms | most resident MiB | load generator |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

CPU times are per request. The load generator's share is a share of one core.

| Endpoint | requests/s, times FastAPI | in single rounds | p99, times FastAPI |
|---|---|---|---|
${ratios.join("\n")}

## ${annotations.toLocaleString("en")} annotations in one answer

| Answer | s | MiB sent | most resident MiB |
|---|---|---|---|
${readRows.join("\n")}
`;
}

function row(endpoint: string, server: string, rounds: readonly Measured[]): string {
  const generator = median(rounds.map((round) => round.cpu / round.seconds));
  const cells = [
    rate(of(rounds, "perSecond")),
    of(rounds, "p50").toFixed(1),
    of(rounds, "p99").toFixed(1),
    of(rounds, "serverCpuMs").toFixed(2),
    of(rounds, "postgresCpuMs").toFixed(2),
    mib(Math.max(...rounds.map((round) => round.peakBytes))),
    `${(generator * 100).toFixed(0)} %`,
  ];
  return `| ${endpoint} | ${server} | ${cells.join(" | ")} |`;
}
