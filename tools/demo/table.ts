// Text tables for a terminal. Pure. Called by report.ts.
export interface Column<Row> {
  readonly title: string;
  readonly align: "left" | "right";
  readonly cell: (row: Row) => string;
}

/** Returns a header line, a rule and one line per row; columns are as wide as their widest cell. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const widths = columns.map((column, i) =>
    Math.max(column.title.length, ...cells.map((line) => line[i]?.length ?? 0)),
  );
  const pad = (text: string, i: number) =>
    columns[i]?.align === "right" ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0);
  const line = (texts: readonly string[]) => texts.map(pad).join("  ").trimEnd();
  return [
    line(columns.map((c) => c.title)),
    widths.map((w) => "─".repeat(w)).join("  "),
    ...cells.map(line),
  ].join("\n");
}
