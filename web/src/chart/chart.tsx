// A chart of curves with its twin, a table of the same values. The library that draws is loaded with the first chart.
import "./chart.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Plot } from "./plot.ts";
import { aligned, figure, type Group, summaryOf } from "./series.ts";

export function Chart({ group: { title, series } }: { group: Group }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const [at, setAt] = useState<number>();
  const [isFailed, setFailed] = useState(false);
  const data = aligned(series);
  const latest = useRef(data);
  latest.current = data;
  // Other curves are another chart; more points are not.
  const shape = series.map(({ name }) => name).join("\n");
  useEffect(() => {
    let isLeft = false;
    import("./plot.ts").then(
      ({ draw }) => {
        if (!isLeft && host.current !== null) plot.current = draw(host.current, latest.current, setAt);
      },
      () => setFailed(true),
    );
    return () => {
      isLeft = true;
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  const points = data.values.map((list) => list.filter((value) => value !== null).length).join();
  useEffect(() => plot.current?.update(latest.current), [points, data.steps.at(-1)]);
  const inSentence = title.charAt(0).toLowerCase() + title.slice(1);
  const shown = at === undefined ? undefined : data.steps[at];
  return (
    <figure class="chart">
      <figcaption class="row apart">
        <span class="strong">{title}</span>
        <span class="chart-legend">
          {series.map(({ name }, n) => (
            <span key={name} class="chart-key">
              {series.length > 1 && <Line n={n} />}
              {series.length > 1 && name}
              {shown !== undefined && at !== undefined && (
                <span class="number">{figureOf(data.values[n]?.[at])}</span>
              )}
            </span>
          ))}
          {shown !== undefined && <span class="faint number">epoch {shown}</span>}
        </span>
      </figcaption>
      {!isFailed && (
        <div
          ref={host}
          class="chart-plot"
          role="img"
          aria-label={`${series.map(summaryOf).join(". ")}. The table below has all values.`}
        />
      )}
      <details class="more" open={isFailed}>
        <summary>Values of {inSentence}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys. */}
        <div class="chart-values" tabIndex={0} role="region" aria-label={`Values of ${inSentence}`}>
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Epoch</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.steps.map((step, i) => (
                <tr key={step}>
                  <th scope="row" class="number">
                    {step}
                  </th>
                  {series.map(({ name }, n) => (
                    <td key={name} class="number end">
                      {figureOf(data.values[n]?.[i])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const figureOf = (value: number | null | undefined) => (value == null ? "–" : figure(value));

const Line = ({ n }: { n: number }) => (
  <svg width="22" height="8" viewBox="0 0 22 8" aria-hidden="true" class={`chart-line line-${(n % 6) + 1}`}>
    <path d="M1 4h20" />
  </svg>
);
