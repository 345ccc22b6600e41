// The chart's README lists all values of values.yaml with their comments.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readmeOf, sectionsOf } from "../../tools/chart-readme.ts";
import { root } from "../support/chart.ts";

const chart = (name: string) => readFileSync(join(root, "charts/plosive", name), "utf8");

it("is current: `make gen` writes it", () => {
  expect(chart("README.md")).toBe(readmeOf(chart("values.yaml")));
});

it("has every value once, with its default", () => {
  const defaults = new Map(
    sectionsOf(chart("values.yaml"))
      .flatMap(({ values }) => values)
      .filter(({ fallback }) => fallback !== "")
      .map(({ path, fallback }) => [path, JSON.parse(fallback)]),
  );
  let all: unknown = {};
  for (const [path, value] of defaults) {
    const nested = path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    all = merge(all, nested);
  }
  expect(all).toEqual(parse(chart("values.yaml")));
});

it("takes comments from above a key, from above the first key of a map, and joins their lines", () => {
  const found = sectionsOf("# One\n# sentence.\none:\n  # First.\n  a: 1\n  b: { c: x }\n# Two.\ntwo: []\n");
  expect(found).toEqual([
    {
      name: "one",
      isMap: true,
      description: "One sentence.",
      values: [
        { path: "one.a", fallback: "1", description: "First." },
        { path: "one.b", fallback: '{"c":"x"}', description: "" },
      ],
    },
    {
      name: "two",
      isMap: false,
      description: "",
      values: [{ path: "two", fallback: "[]", description: "Two." }],
    },
  ]);
});

function merge(left: unknown, right: unknown): unknown {
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null) return right;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  const of = (side: object, key: string) => (side as Record<string, unknown>)[key];
  return Object.fromEntries(
    [...keys].map((key) => [key, key in right ? merge(of(left, key), of(right, key)) : of(left, key)]),
  );
}
