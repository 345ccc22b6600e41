// Draws the lines of a chart with uPlot. Loaded only by pages that show curves (chart.tsx).
import "uplot/dist/uPlot.min.css";
import uPlot from "uplot";
import { colorOf, onColors, seriesToken } from "./paint.ts";
import { type Aligned, figure } from "./series.ts";

export interface Plot {
  update(data: Aligned): void;
  destroy(): void;
}

const height = 220;
/** A second sign of each line besides its colour; chart.css draws the same in the legend. */
const dashes = [[], [6, 4], [2, 3], [8, 3, 2, 3], [12, 4], [1, 4]];

const dataOf = ({ steps, values }: Aligned) =>
  [[...steps], ...values.map((list) => [...list])] as uPlot.AlignedData;

/** `onPoint` is told which step is under the pointer. */
export function draw(host: HTMLElement, data: Aligned, onPoint: (at: number | undefined) => void): Plot {
  const color = (token: string) => () => colorOf(host, token);
  const axis: uPlot.Axis = {
    stroke: color("--ink-3"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const chart = new uPlot(
    {
      width: Math.max(120, host.clientWidth),
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [
        { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 1000], size: 32 },
        { ...axis, size: 56, values: (_, ticks) => ticks.map(figure) },
      ],
      series: [
        {},
        ...data.values.map((_, n) => ({
          stroke: color(seriesToken(n)),
          width: 2,
          dash: dashes[n % dashes.length] ?? [],
          points: { show: data.steps.length < 2 },
          spanGaps: true,
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    },
    dataOf(data),
    host,
  );
  const sizes = new ResizeObserver(() => chart.setSize({ width: Math.max(120, host.clientWidth), height }));
  sizes.observe(host);
  const stop = onColors(() => chart.redraw(false, true));
  return {
    update: (next) => chart.setData(dataOf(next)),
    destroy() {
      stop();
      sizes.disconnect();
      chart.destroy();
    },
  };
}
