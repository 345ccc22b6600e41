// The chart's objects for monitoring: none by default; monitors that select the release's pods and set their job label,
// rules for the release's series, and the dashboards. test/metrics tests the content of rules and dashboards.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { repoDir, tool } from "../../tools/cache.ts";

const run = promisify(execFile);
const chart = join(repoDir, "charts/plosive");
const images = ["server", "worker", "trainer", "postgres", "s3"].map(
  (name) => `images.${name}=test/${name}:1`,
);

type Labels = Record<string, string>;
type Manifest = {
  kind: string;
  metadata: { name: string; labels: Labels; annotations?: Labels };
  spec?: {
    template?: { metadata: { labels: Labels }; spec: { containers: { ports?: { name: string }[] }[] } };
    selector?: { matchLabels: Labels; matchExpressions?: { key: string; values: string[] }[] };
    podMetricsEndpoints?: { port: string; interval: string; relabelings: object[] }[];
    groups?: { rules: { alert: string; expr: string; annotations: Labels }[] }[];
  };
  data?: Record<string, string>;
};

async function render(release: string, ...sets: string[]): Promise<Manifest[]> {
  const args = [...images, ...sets].flatMap((set) => ["--set", set]);
  const { stdout } = await run(
    tool("helm"),
    ["template", release, chart, "-n", "voices", "--kube-version=1.36.0", ...args],
    { maxBuffer: 16 << 20 },
  );
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
const all = ["podMonitors", "alerts", "dashboards"].map((part) => `metrics.${part}.enabled=true`);
/** Renders without the CRDs, which are long. */
const only = ["crds.enabled=false"];
const of = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const isDashboards = ({ metadata }: Manifest) => metadata.name.endsWith("-dashboards");

it("creates no monitoring objects by default", async () => {
  const manifests = await render("plosive", ...only);
  expect([...of(manifests, "PodMonitor"), ...of(manifests, "PrometheusRule")]).toEqual([]);
  expect(manifests.filter(isDashboards)).toEqual([]);
});

it("monitors the metrics ports of operator, run endpoint and API with the job labels that rules and dashboards use", async () => {
  const manifests = await render(
    "blue",
    ...all,
    "metrics.podMonitors.labels.release=prom",
    "metrics.podMonitors.interval=15s",
    ...only,
  );
  const monitors = of(manifests, "PodMonitor");
  expect(monitors.map(({ metadata }) => metadata.name)).toEqual([
    "blue-plosive-api",
    "blue-plosive-operator",
  ]);
  for (const { metadata, spec } of monitors) {
    expect(metadata.labels.release).toBe("prom");
    const { matchLabels, matchExpressions = [] } = spec!.selector!;
    const selected = of(manifests, "Deployment").filter(({ spec }) => {
      const { labels } = spec!.template!.metadata;
      return (
        Object.entries(matchLabels).every(([key, text]) => labels[key] === text) &&
        matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
      );
    });
    const isOperator = metadata.name === "blue-plosive-operator";
    expect(selected.map((deployment) => deployment.metadata.name).sort()).toEqual(
      isOperator ? ["blue-plosive-operator", "blue-plosive-runs"] : [metadata.name],
    );
    const [endpoint] = spec!.podMetricsEndpoints!;
    for (const deployment of selected) {
      const ports = deployment.spec!.template!.spec.containers.flatMap((container) => container.ports ?? []);
      expect(ports.map(({ name }) => name)).toContain(endpoint!.port);
    }
    expect(endpoint).toMatchObject({
      interval: "15s",
      relabelings: [{ targetLabel: "job", replacement: metadata.name }],
    });
  }
});

it("restricts each rule to the series of its own release, and promtool accepts the rules", async () => {
  const [rule, ...others] = of(
    await render("blue", ...all, "metrics.alerts.labels.release=prom", ...only),
    "PrometheusRule",
  );
  expect(others).toEqual([]);
  expect(rule?.metadata.labels.release).toBe("prom");
  const file = parse(readFileSync(join(chart, "files/alerts.yaml"), "utf8")) as Manifest["spec"];
  const names = (spec: Manifest["spec"]) =>
    spec!.groups!.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect(names(rule?.spec)).toEqual(names(file));
  for (const { alert, expr } of rule!.spec!.groups!.flatMap(({ rules }) => rules)) {
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];
    expect(selectors.length, alert).toBeGreaterThan(0);
    for (const selector of selectors)
      expect(selector, alert).toMatch(/^\{namespace="voices",job="blue-plosive-(operator|api)"[,}]/);
  }
  const dir = mkdtempSync(join(tmpdir(), "plosive-rules-"));
  try {
    writeFileSync(join(dir, "rules.yaml"), stringify(rule?.spec));
    const said = execFileSync("promtool", ["check", "rules", join(dir, "rules.yaml")], { encoding: "utf8" });
    expect(said).toContain(`${names(file).length} rules found`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it("links each alert to its section of a copy of docs/alerts.md, if there is an address of one", async () => {
  const runbooks = "https://wiki.example.com/plosive-alerts";
  const urlsOf = async (...sets: string[]) =>
    of(await render("blue", ...all, ...sets, ...only), "PrometheusRule")
      .flatMap(({ spec }) => spec!.groups!.flatMap(({ rules }) => rules))
      .map(({ alert, annotations }) => [alert, annotations.runbook_url]);
  const linked = await urlsOf(`metrics.alerts.runbooks=${runbooks}`);
  expect(linked.length).toBeGreaterThan(20);
  for (const [alert, url] of linked) expect(url).toBe(`${runbooks}#${alert!.toLowerCase()}`);
  for (const [, url] of await urlsOf()) expect(url).toBeUndefined();
});

it("gives Grafana's sidecar every dashboard, each with its own uid", async () => {
  const maps = (
    await render("plosive", ...all, "metrics.dashboards.annotations.folder=voices", ...only)
  ).filter(isDashboards);
  expect(maps).toHaveLength(1);
  const [{ metadata, data = {} }] = maps as [Manifest];
  expect(metadata.labels.grafana_dashboard).toBe("1");
  expect(metadata.annotations).toEqual({ folder: "voices" });
  expect(Object.keys(data).sort()).toEqual(readdirSync(join(chart, "files/dashboards")).sort());
  const uids = Object.values(data).map((text) => (JSON.parse(text) as { uid: string }).uid);
  expect(new Set(uids).size).toBe(3);
});
