// A real Prometheus (Debian's) on a loopback port that scrapes processes of a test every second, and a parser of their
// metrics. Called by the tests of metrics, alerts and dashboards.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePorts, startDaemon, waitUntil } from "../../tools/process.ts";

/** Scrape jobs, as in Prometheus' configuration. */
export type ScrapeConfig = { job_name: string; [setting: string]: unknown };
export type Series = { metric: Record<string, string>; value: [at: number, value: string] };

export type Prometheus = {
  /** The result of an instant query; throws with Prometheus' message if it refuses the query. */
  query(expr: string): Promise<Series[]>;
  /** Returns `data` of any other path below /api/v1. */
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
};

/** Processes on loopback ports, with the labels of the chart's PodMonitors. */
export const onPorts = (job_name: string, namespace: string, ...ports: number[]): ScrapeConfig => ({
  job_name,
  static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`), labels: { namespace } }],
});

export async function startPrometheus(options: {
  scrape: readonly ScrapeConfig[];
  ruleFiles: readonly string[];
}): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), "plosive-prometheus-"));
  const [port] = await freePorts(1);
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: options.ruleFiles,
    scrape_configs: options.scrape,
  };
  writeFileSync(join(dir, "prometheus.yml"), stringify(config));
  const daemon = startDaemon({
    name: "prometheus",
    command: "prometheus",
    args: [
      `--config.file=${join(dir, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(dir, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    log: join(dir, "log"),
  });
  const url = `http://127.0.0.1:${port}`;
  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${url}/api/v1${path}`);
    const body = (await answer.json()) as { status: string; data: T; error?: string };
    if (body.status !== "success") throw new Error(`${decodeURIComponent(path)}: ${body.error}`);
    return body.data;
  };
  await waitUntil("Prometheus to be ready", async () => (await fetch(`${url}/-/ready`)).ok, {
    timeoutMs: 30_000,
    daemons: [daemon],
  });
  return {
    get,
    query: async (expr) =>
      (await get<{ result: Series[] }>(`/query?query=${encodeURIComponent(expr)}`)).result,
    async stop() {
      await daemon.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type Sample = { name: string; labels: Record<string, string>; value: number };
export type Exposition = {
  /** Metric -> type, of all declared metrics, including those without a series. */
  types: Map<string, string>;
  samples: Sample[];
  /** Sum of the samples with this name and these labels; undefined if there are none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
};

/** The text that a process serves on its metrics port. */
export async function scrape(port: number): Promise<Exposition> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
  );
  const samples = [...text.matchAll(/^([a-z_:]\w*)(?:\{(.*)\})? (\S+)$/gim)].map(
    ([, name = "", labels = "", value]): Sample => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text]),
      ),
      value: Number(value),
    }),
  );
  return {
    types,
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
      );
      return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0);
    },
  };
}
