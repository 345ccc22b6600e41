// Draws training curves as text with braille dots, 2 x 4 per character. Pure. Called by report.ts.
export type Point = readonly [step: number, value: number];

export interface CurveOptions {
  /** Width of the plot in characters, without the axis. */
  readonly width: number;
  readonly height: number;
  /** Fixed range of the value axis; by default the range of the points. */
  readonly min?: number;
  readonly max?: number;
}

const dots: readonly (readonly number[])[] = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/**
 * Draws the points in order and connects them by lines; prints the value range at the left and the first and last step
 * below.
 */
export function drawCurve(title: string, points: readonly Point[], options: CurveOptions): string {
  if (points.length === 0) return `${title}: no points`;
  const values = points.map(([, value]) => value);
  const min = options.min ?? Math.min(...values);
  const max = options.max ?? Math.max(...values);
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
  const [columns, rows] = [options.width * 2, options.height * 4];
  const x = (step: number) =>
    last === first ? 0 : Math.round(((step - first) / (last - first)) * (columns - 1));
  const y = (value: number) => {
    const share = max === min ? 0.5 : (Math.min(max, Math.max(min, value)) - min) / (max - min);
    return Math.round((1 - share) * (rows - 1));
  };

  const cells = Array.from({ length: options.height }, () => new Array<number>(options.width).fill(0));
  const set = (column: number, row: number) => {
    const line = cells[row >> 2];
    const at = column >> 1;
    if (line?.[at] !== undefined) line[at] |= dots[row & 3]?.[column & 1] ?? 0;
  };
  const pixels = points.map(([step, value]) => [x(step), y(value)] as const);
  pixels.forEach(([column, row], i) => {
    const [fromColumn, fromRow] = pixels[i - 1] ?? [column, row];
    const length = Math.max(Math.abs(column - fromColumn), Math.abs(row - fromRow), 1);
    for (let k = 0; k <= length; k++)
      set(
        Math.round(fromColumn + ((column - fromColumn) * k) / length),
        Math.round(fromRow + ((row - fromRow) * k) / length),
      );
  });

  const labels = [max.toFixed(3), min.toFixed(3)];
  const margin = Math.max(...labels.map((label) => label.length));
  const lines = cells.map((line, i) => {
    const label = i === 0 ? labels[0] : i === cells.length - 1 ? labels[1] : "";
    return `${(label ?? "").padStart(margin)} ┤${line.map((bits) => String.fromCodePoint(0x2800 + bits)).join("")}`;
  });
  const axis = `${" ".repeat(margin)} └${"─".repeat(options.width)}`;
  const ends = `${" ".repeat(margin + 2)}${String(first)}${String(last).padStart(options.width - String(first).length)}`;
  const final = values.at(-1)?.toFixed(3);
  return [`${title} (last ${final})`, ...lines, axis, ends].join("\n");
}
