// The demo's output: progress bars, tables and curves as text.
import { describe, expect, test } from "vitest";
import { barLine, makeBar } from "../../../tools/demo/bar.ts";
import { drawCurve } from "../../../tools/demo/curve.ts";
import { renderTable } from "../../../tools/demo/table.ts";

function record(isTTY: boolean) {
  const written: string[] = [];
  return { written, out: { isTTY, columns: 80, write: (text: string) => written.push(text) } };
}

describe("a progress bar", () => {
  test("is full at 1, empty at 0, and never wider than the terminal", () => {
    expect(barLine("x", 0, "", 120)).toBe(`x ${"░".repeat(28)}   0 % `);
    expect(barLine("x", 1, "", 120)).toBe(`x ${"█".repeat(28)} 100 % `);
    expect(barLine("x", 7, "n", 120)).toBe(`x ${"█".repeat(28)} 100 % n`);
    expect(barLine("x", 0.5, "a long note ".repeat(20), 60)).toHaveLength(60);
  });

  test("shows 100 % only when everything is done", () => {
    expect(barLine("x", 0.999, "", 120)).toContain(" 99 %");
  });

  test("is redrawn on one line of a terminal", () => {
    const { out, written } = record(true);
    const bar = makeBar(out, "up");
    bar.update(0.1, "a");
    bar.update(0.2, "b");
    bar.end();
    expect(written).toHaveLength(3);
    expect(written[1]).toMatch(/^\r.*up .* 20 % b$/);
    expect(written[2]).toBe("\n");
  });

  test("prints plain lines into a pipe: one per tenth, and always the last state", () => {
    const { out, written } = record(false);
    const bar = makeBar(out, "up");
    for (const share of [0, 0.01, 0.02, 0.11, 0.12, 0.13]) bar.update(share, `n${share}`);
    bar.end();
    expect(written).toEqual(["up 0 % n0\n", "up 11 % n0.11\n", "up 13 % n0.13\n"]);
  });
});

test("a table is as wide as its widest cells, with numbers aligned to the right", () => {
  const rows = [
    { name: "click", count: 7 },
    { name: "mouth_click", count: 112 },
  ];
  const text = renderTable(
    [
      { title: "type", align: "left", cell: (row) => row.name },
      { title: "n", align: "right", cell: (row) => `${row.count}` },
    ],
    rows,
  );
  expect(text).toBe("type           n\n───────────  ───\nclick          7\nmouth_click  112");
});

describe("a curve", () => {
  const rising = Array.from({ length: 20 }, (_, i) => [i, i / 19] as const);

  test("starts at the bottom left and ends at the top right when the values rise", () => {
    const lines = drawCurve("f1", rising, { width: 20, height: 4, min: 0, max: 1 }).split("\n");
    expect(lines[0]).toBe("f1 (last 1.000)");
    expect(lines[1]).toMatch(/^1\.000 ┤⠀+.*[^⠀]$/u);
    expect(lines[4]).toMatch(/^0\.000 ┤[^⠀]/u);
    expect(lines[4]).toMatch(/⠀$/u);
    expect(lines.at(-1)?.trim()).toMatch(/^0 +19$/);
  });

  test("has a dot in every column, also between distant points", () => {
    const lines = drawCurve(
      "loss",
      [
        [0, 5],
        [10, 0],
      ],
      { width: 30, height: 5 },
    )
      .split("\n")
      .slice(1, 6);
    for (let column = 0; column < 30; column++) {
      expect(lines.some((line) => [...line.slice(7)][column] !== "⠀")).toBe(true);
    }
  });

  test.each([
    { name: "one point", points: [[3, 1]] as const },
    {
      name: "equal values",
      points: [
        [0, 2],
        [1, 2],
        [2, 2],
      ] as const,
    },
    {
      name: "values beyond a fixed scale",
      points: [
        [0, -5],
        [1, 5],
      ] as const,
    },
  ])("of $name stays inside the plot", ({ points }) => {
    const lines = drawCurve("x", points, { width: 10, height: 3, min: 0, max: 1 }).split("\n");
    expect(lines.slice(1, 4).every((line) => [...line].length === 5 + 2 + 10)).toBe(true);
    expect(lines.slice(1, 4).join("")).toMatch(/[\u2801-\u28ff]/u);
  });

  test("without points is replaced by a message", () => {
    expect(drawCurve("x", [], { width: 10, height: 3 })).toBe("x: no points");
  });
});
