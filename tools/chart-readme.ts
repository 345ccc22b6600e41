// `make gen`: writes charts/plosive/README.md, the table of all values with the comments of values.yaml. tools/testing/clean-diff.ts
// checks that it is current.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";
import { repoDir } from "./cache.ts";

interface Value {
  readonly path: string;
  readonly fallback: string;
  readonly description: string;
}

interface Section {
  readonly name: string;
  /** Otherwise its only value is the section itself. */
  readonly isMap: boolean;
  readonly description: string;
  readonly values: readonly Value[];
}

if (import.meta.main) {
  const chart = join(repoDir, "charts/plosive");
  writeFileSync(join(chart, "README.md"), readmeOf(readFileSync(join(chart, "values.yaml"), "utf8")));
}

export function readmeOf(values: string): string {
  const sections = sectionsOf(values);
  const single = sections.filter(({ isMap }) => !isMap).flatMap((section) => section.values);
  const general = { name: "General", description: "", values: single };
  return `<!-- Written by \`make gen\` from values.yaml. Do not edit. -->
# The chart of Plosive

It installs the REST API, the operator and, for evaluation, a database and an object store. [docs/install.md](../../docs/install.md) is the guide: images, Secrets, upgrades, Argo CD and Flux. This page lists all values. \`values.schema.json\` refuses unknown ones.

${[general, ...sections.filter(({ isMap }) => isMap)].map(textOf).join("\n")}`;
}

export function sectionsOf(values: string): Section[] {
  const document = parseDocument(values);
  if (!isMap(document.contents)) throw new Error("values.yaml is not a map");
  // The comment above the first key belongs to the document.
  const first = document.commentBefore ?? "";
  return document.contents.items.map((pair, index) => {
    const name = nameOf(pair);
    const description = commentOf(pair, document.contents as YAMLMap, index) || (index === 0 ? first : "");
    const own = { path: name, fallback: jsonOf(pair), description: oneLine(description) };
    return isNested(pair)
      ? { name, isMap: true, description: own.description, values: valuesOf(pair.value as YAMLMap, name) }
      : { name, isMap: false, description: "", values: [own] };
  });
}

function valuesOf(map: YAMLMap, parent: string): Value[] {
  return map.items.flatMap((pair, index) => {
    const path = `${parent}.${nameOf(pair)}`;
    const description = oneLine(commentOf(pair, map, index));
    if (!isNested(pair)) return [{ path, fallback: jsonOf(pair), description }];
    const nested = valuesOf(pair.value as YAMLMap, path);
    return description === "" ? nested : [{ path, fallback: "", description }, ...nested];
  });
}

/** Maps in braces and resources are one value each. */
function isNested(pair: Pair): boolean {
  return isMap(pair.value) && !pair.value.flow && nameOf(pair) !== "resources";
}

function nameOf({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key);
}

function jsonOf({ value }: Pair): string {
  return JSON.stringify((value as { toJSON(): unknown } | null)?.toJSON() ?? null);
}

/** The parser gives the comment above the first key to the map. */
function commentOf({ key }: Pair, map: YAMLMap, index: number): string {
  const own = isScalar(key) ? key.commentBefore : undefined;
  return own ?? (index === 0 ? map.commentBefore : undefined) ?? "";
}

function oneLine(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

function textOf({ name, description, values }: Omit<Section, "isMap">): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/<(\w)/g, "\\<$1");
  const rows = values.map(
    ({ path, fallback, description: text }) =>
      `| \`${path}\` | ${fallback === "" ? "" : `\`${cell(fallback)}\``} | ${cell(text)} |`,
  );
  const head = ["| value | default | description |", "|---|---|---|"];
  return `## ${name}\n\n${description === "" ? "" : `${cell(description)}\n\n`}${[...head, ...rows].join("\n")}\n`;
}
