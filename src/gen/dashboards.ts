// Makes the chart's Grafana dashboards from panels.ts: adds what all panels share, and lays the panels out. Called by
// main.ts, which writes the files to charts/plosive/files/dashboards.
import { type DashboardOf, dashboards, type PanelOf } from "./panels.ts";

const own = { operator: 'namespace="$namespace",job="$operator"', api: 'namespace="$namespace",job="$api"' };

/** File name -> dashboard, in Grafana's JSON form. */
export function makeDashboards(): Record<string, object> {
  return Object.fromEntries(dashboards.map((one) => [`${one.uid}.json`, dashboardOf(one)]));
}

const source = { type: "prometheus", uid: "$datasource" };

function dashboardOf({ uid, title, description, of, panels }: DashboardOf): object {
  const known = { operator: "plosive_jobs", api: "plosive_http_requests_total" }[of];
  const variable = (name: string, query: string) => ({
    name,
    type: "query",
    datasource: source,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
  });
  const width = (panel: PanelOf) => (panel.isOneNumber ? 4 : 8);
  let x = 0;
  let y = 0;
  return {
    uid,
    title,
    description,
    tags: ["plosive"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus" },
        variable("namespace", `label_values(${known}, namespace)`),
        variable(of, `label_values(${known}{namespace="$namespace"}, job)`),
      ],
    },
    panels: panels.map((panel, index) => {
      if (x + width(panel) > 24) {
        x = 0;
        y += panels[index - 1]?.isOneNumber ? 4 : 8;
      }
      const gridPos = { x, y, w: width(panel), h: panel.isOneNumber ? 4 : 8 };
      x += width(panel);
      return {
        id: index + 1,
        type: panel.isOneNumber ? "stat" : "timeseries",
        title: panel.title,
        description: panel.description,
        datasource: source,
        gridPos,
        fieldConfig: {
          defaults: { unit: panel.unit, min: 0 },
          overrides: [],
        },
        targets: panel.queries.map(([expr, legendFormat], n) => ({
          refId: String.fromCharCode(65 + n),
          datasource: source,
          expr: withLabels(expr, own[of]),
          legendFormat: legendFormat === "" ? "__auto" : legendFormat,
        })),
      };
    }),
  };
}

function withLabels(expr: string, labels: string): string {
  return expr.replace(/\{([^}]*)\}/g, (_, more: string) => `{${labels}${more === "" ? "" : `,${more}`}}`);
}
