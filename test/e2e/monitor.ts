// A Prometheus outside of the cluster that monitors the installed service as docs/metrics.md describes. It scrapes pods through
// the API server. Called by monitoring.test.ts and by the trial of the alerts.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { pods } from "../../src/kube/kinds.ts";
import { repoDir } from "../../tools/cache.ts";
import { type Prometheus, type ScrapeConfig, startPrometheus } from "../support/prometheus.ts";
import { clusterPlace, listOf, namespace } from "./cluster.ts";

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: { readonly phase: string };
}

const refreshMs = 2_000;
const meta = "__meta_kubernetes";
const proxy = `${meta}_proxy`;

/** Starts Prometheus with these rules. It notices new pods within seconds. */
export async function startMonitor(ruleFiles: readonly string[]): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), "plosive-monitoring-"));
  const targets = join(dir, "targets.json");
  const refresh = async () => {
    const found = JSON.stringify(await discover());
    // Prometheus never reads half of it.
    writeFileSync(`${targets}.new`, found);
    renameSync(`${targets}.new`, targets);
  };
  await refresh();
  const scrape = ["operator", "api"].map((component) => scrapeConfig(component, targets, dir));
  const prometheus = await startPrometheus({ scrape, ruleFiles });
  const timer = setInterval(() => void refresh().catch(() => undefined), refreshMs);
  return {
    ...prometheus,
    async stop() {
      clearInterval(timer);
      await prometheus.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Each port of each running pod with the labels that kubernetes_sd_configs give, which Debian's Prometheus is built without,
 * and the way to it through the API server.
 */
async function discover(): Promise<{ targets: string[]; labels: Record<string, string> }[]> {
  const running = (await listOf<Pod>(pods)).filter(({ status }) => status.phase === "Running");
  return running.flatMap(({ metadata, spec }) =>
    spec.containers
      .flatMap(({ ports = [] }) => ports)
      .map((port) => ({
        targets: [new URL(clusterPlace().server).host],
        labels: {
          [`${meta}_namespace`]: namespace,
          [`${meta}_pod_name`]: metadata.name,
          [`${meta}_pod_container_port_name`]: port.name ?? "",
          ...Object.fromEntries(
            Object.entries(metadata.labels ?? {}).map(([label, value]) => [
              `${meta}_pod_label_${label.replace(/\W/g, "_")}`,
              value,
            ]),
          ),
          [proxy]: `/api/v1/namespaces/${namespace}/pods/${metadata.name}:${port.containerPort}/proxy/metrics`,
        },
      })),
  );
}

/** The guide's scrape configuration, for operator or API, with access from outside of the cluster. */
function scrapeConfig(component: string, targets: string, dir: string): ScrapeConfig {
  const guide = readFileSync(join(repoDir, "docs/metrics.md"), "utf8");
  const block = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(guide)?.[1] ?? "";
  const [config] = (parse(block) as { scrape_configs: { relabel_configs: { regex?: string }[] }[] })
    .scrape_configs;
  return {
    job_name: `plosive-${component}`,
    file_sd_configs: [{ files: [targets], refresh_interval: "2s" }],
    // A scrape waits a second for a database that does not answer.
    ...{ scrape_interval: "3s", scrape_timeout: "3s" },
    scheme: "https",
    tls_config: credentials(clusterPlace().kubeconfig, dir),
    relabel_configs: [
      ...config!.relabel_configs.map((one) =>
        one.regex === undefined || component === "operator"
          ? one
          : { ...one, regex: one.regex.replace("operator|runs", component) },
      ),
      { source_labels: [proxy], target_label: "__metrics_path__" },
      { source_labels: [`${meta}_pod_name`], target_label: "instance" },
    ],
  };
}

/** The credentials of the kubeconfig, as files. */
function credentials(kubeconfig: string, dir: string): Record<string, string> {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const write = (name: string, of: Record<string, string>, field: string) => {
    if (of[field] !== undefined) return of[field];
    const path = join(dir, name);
    writeFileSync(path, Buffer.from(of[`${field}-data`] ?? "", "base64"), { mode: 0o600 });
    return path;
  };
  return {
    ca_file: write("ca.crt", clusters[0]!.cluster, "certificate-authority"),
    cert_file: write("client.crt", users[0]!.user, "client-certificate"),
    key_file: write("client.key", users[0]!.user, "client-key"),
  };
}
