// Runs the queries of the chart's dashboards and alert rules on a Prometheus. Called by prometheus.test.ts, by
// the end-to-end test and by the trial of the alerts.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { repoDir, tool } from "../../tools/cache.ts";
import { poll } from "../support/poll.ts";
import type { Prometheus } from "../support/prometheus.ts";

const chart = join(repoDir, "charts/plosive");

export type Panel = { title: string; targets: { expr: string }[] };
export type Variable = { name: string; type: string; definition?: string };
export type Dashboard = { title: string; panels: Panel[]; templating: { list: Variable[] } };
export type Rule = { alert: string; expr: string };
/** The values of the dashboards' variables. */
export type Place = { namespace: string; operator: string; api: string };

export function readDashboards(): Dashboard[] {
  const folder = join(chart, "files/dashboards");
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Dashboard);
}

/** The rules of a file, by default the chart's. */
export function readRules(path = join(chart, "files/alerts.yaml")): Rule[] {
  const file = parse(readFileSync(path, "utf8")) as { groups: { rules: Rule[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

/** Writes the rules as the chart renders them for a release called plosive in this namespace. Returns `path`. */
export function renderRules(namespace: string, path: string): string {
  const images = ["server", "worker", "trainer", "postgres", "s3"].map(
    (name) => `images.${name}=test/${name}:1`,
  );
  const args = ["--namespace", namespace, "--kube-version=1.36.0", "--set", images.join(",")];
  const only = ["--show-only=templates/monitoring.yaml", "--set=metrics.alerts.enabled=true"];
  const manifest = execFileSync(tool("helm"), ["template", "plosive", chart, ...args, ...only], {
    encoding: "utf8",
  });
  writeFileSync(path, stringify((parse(manifest) as { spec: object }).spec));
  return path;
}

/** The expression as Grafana sends it. */
export function filled(expr: string, place: Place): string {
  const values = {
    $__rate_interval: "1m",
    $namespace: place.namespace,
    $operator: place.operator,
    $api: place.api,
  };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

/**
 * Waits until every panel has data; Prometheus rejects invalid queries. `empty`: metrics that have no
 * series in this installation. It is an error if one has, so that the list does not become stale.
 */
export async function askPanels(
  prometheus: Prometheus,
  { panels }: Dashboard,
  place: Place,
  empty: readonly string[] = [],
): Promise<void> {
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const ask = async () => (await prometheus.query(filled(expr, place))).length;
      if (!empty.some((metric) => expr.includes(`${metric}{`)))
        await poll(`${title}: ${filled(expr, place)}`, async () => (await ask()) > 0);
      else if ((await ask()) > 0) throw new Error(`${title} has an answer, though it is excused: ${expr}`);
    }
  }
}

/** Waits until each selector of the rule, with all its matchers, has series. Returns the values that it alerts on. */
export async function askRule(prometheus: Prometheus, { alert, expr }: Rule): Promise<number[]> {
  const selectors = expr.match(/[a-z_:]+\{[^}]*\}/g) ?? [];
  if (selectors.length === 0) throw new Error(`${alert} asks for nothing`);
  for (const selector of selectors)
    await poll(`${alert}: ${selector}`, async () => (await prometheus.query(selector)).length > 0);
  return (await prometheus.query(expr)).map(({ value }) => Number(value[1]));
}
