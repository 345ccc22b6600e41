// Pictures of the chart's dashboards with the data of a Prometheus, drawn from their own queries: Grafana's interface is not
// among the packages that this project installs. Called by alerts.test.ts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { launchBrowser } from "../../tools/pictures/browser.ts";
import { writePicture } from "../../tools/pictures/film.ts";
import { filled, type Panel, type Place, readDashboards } from "../metrics/questions.ts";
import type { Prometheus } from "../support/prometheus.ts";

/** A panel as the dashboards of the chart describe it. */
interface DrawnPanel extends Panel {
  readonly type: "stat" | "timeseries";
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: { expr: string; legendFormat: string }[];
}

interface Line {
  readonly label: string;
  readonly values: (number | null)[];
}

/** Seconds since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Matrix {
  readonly result: {
    readonly metric: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [at: number, value: string])[];
  }[];
}

const stepSeconds = 5;
/** Pixels of one of the 24 columns, and of a row, of a dashboard. */
const cell = { width: 60, height: 30 };

/**
 * Writes `monitoring-NAME.png` for each dashboard into the folder, with what Prometheus has of this time. Returns the titles of
 * the panels that show more than zeros.
 */
export async function drawDashboards(
  prometheus: Prometheus,
  place: Place,
  { start, end }: Span,
  folder: string,
): Promise<string[]> {
  const steps = Math.floor((end - start) / stepSeconds) + 1;
  const times = Array.from({ length: steps }, (_, step) => start + step * stepSeconds);
  const moved: string[] = [];
  const browser = await launchBrowser();
  try {
    const page = await openPage(await browser.newPage({ locale: "en-GB", timezoneId: "UTC" }));
    for (const { title, panels } of readDashboards()) {
      const drawn = await Promise.all(
        (panels as DrawnPanel[]).map(async ({ title, type, gridPos, fieldConfig, targets }) => {
          const found = await Promise.all(
            targets.map(({ expr, legendFormat }) => linesOf(filled(expr, place), legendFormat)),
          );
          return { title, type, gridPos, unit: fieldConfig.defaults.unit, lines: found.flat() };
        }),
      );
      await page.evaluate(`draw(${JSON.stringify({ times, panels: drawn, cell })})`);
      for (const { title, lines } of drawn)
        if (lines.some(({ values }) => values.some((one) => one !== null && one !== 0))) moved.push(title);
      const name = title.toLowerCase().replace("plosive ", "monitoring-");
      await writePicture(await page.screenshot({ fullPage: true }), join(folder, `${name}.png`));
    }
  } finally {
    await browser.close();
  }
  return moved;

  async function linesOf(expr: string, legend: string): Promise<Line[]> {
    const query = new URLSearchParams({
      query: expr,
      start: `${start}`,
      end: `${end}`,
      step: `${stepSeconds}`,
    });
    const { result } = await prometheus.get<Matrix>(`/query_range?${query}`);
    return result.map(({ metric, values }) => {
      const at = new Map(values.map(([time, value]) => [time, Number(value)]));
      return {
        label: legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ""),
        // A quotient without events is not a number.
        values: times.map((time) => at.get(time) ?? null).map((one) => (Number.isFinite(one) ? one : null)),
      };
    });
  }
}

async function openPage(page: Page): Promise<Page> {
  await page.setViewportSize({ width: 24 * cell.width, height: 800 });
  await page.setContent(`<style>
    body { margin: 0; background: #f4f5f5; color: #24292e; font: 12px system-ui, sans-serif; position: relative }
    section { position: absolute; box-sizing: border-box; background: #fff; border: 1px solid #dcdfe3; overflow: hidden }
    h2 { font-size: 12px; font-weight: 600; margin: 5px 8px 0 }
    section > p { font-size: 28px; margin: 12px 0; text-align: center }
    ul { list-style: none; margin: 0 8px; padding: 0; font-size: 10px; line-height: 14px; height: 28px; overflow: hidden }
    li { display: inline-block; margin-right: 10px; white-space: nowrap }
    li::before { content: ""; display: inline-block; width: 10px; height: 3px; margin-right: 4px; background: var(--colour); vertical-align: middle }
  </style><body></body>`);
  const folder = dirname(createRequire(import.meta.url).resolve("uplot/package.json"));
  await page.addStyleTag({ content: readFileSync(join(folder, "dist/uPlot.min.css"), "utf8") });
  for (const script of [join(folder, "dist/uPlot.iife.min.js"), join(import.meta.dirname, "draw.js")])
    await page.addScriptTag({ content: readFileSync(script, "utf8") });
  return page;
}
