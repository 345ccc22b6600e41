// Makes the mutants of a folder: Stryker's instrumenter changes TypeScript, sql.ts changes the SQL in template literals.
// String literals stay as they are: most tests compare the kind of an error and not its text. Called by main.ts.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repoDir } from "../cache.ts";
import { sqlChanges } from "./sql.ts";

export interface Mutant {
  /** Stryker's number of the switch; of an SQL mutant that of the function around it, whose coverage it shares. */
  readonly id: string | undefined;
  readonly file: string;
  readonly line: number;
  /** The line of code as it is, and the change in it; with the file they name the mutant in known.json. */
  readonly code: string;
  readonly change: string;
  /** Counts mutants of the same name, as of a line with the same call twice. */
  readonly nth: number;
  /** The whole text of the file with the mutant. Undefined: the instrumented file contains it, behind the switch `id`. */
  readonly text?: string;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Made {
  readonly files: readonly { name: string; content: string }[];
  readonly mutants: readonly {
    id: string;
    fileName: string;
    mutatorName: string;
    replacement: string;
    location: { start: Position; end: Position };
  }[];
}

const quiet = { debug: () => {}, info: () => {}, isDebugEnabled: () => false };
const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 160);
/** Calls of the log: their texts and fields are prose. */
const logCall = /\blog\??\.(?:debug|info|warn|error)\(/;

/** Returns the mutants of the files, and the text of each file with all of Stryker's mutants behind switches. */
export async function makeMutants(
  files: readonly string[],
): Promise<{ mutants: Mutant[]; instrumented: ReadonlyMap<string, string> }> {
  const sources = new Map(files.map((file) => [file, readFileSync(join(repoDir, file), "utf8")]));
  const made = await instrument(sources);
  const mutants: Mutant[] = [];
  const seen = new Map<string, number>();
  const add = (mutant: Omit<Mutant, "nth">) => {
    const nth = (seen.get(nameOf(mutant)) ?? 0) + 1;
    seen.set(nameOf(mutant), nth);
    mutants.push({ ...mutant, nth });
  };
  for (const { id, fileName: file, mutatorName, replacement, location } of made.mutants) {
    // An excluded mutator still lists its mutants, without a switch.
    if (mutatorName === "StringLiteral") continue;
    const source = sources.get(file) ?? "";
    const start = offsetOf(source, location.start);
    const code = lineAt(source, start);
    if (logCall.test(code)) continue;
    const change = `${inOneLine(source.slice(start, offsetOf(source, location.end)))} -> ${inOneLine(replacement)}`;
    add({ id, file, line: location.start.line + 1, code, change });
  }
  for (const [file, source] of sources) {
    const own = made.mutants.filter(
      ({ fileName, mutatorName }) => fileName === file && mutatorName !== "StringLiteral",
    );
    for (const { start, end, replacement } of sqlChanges(source)) {
      const around = own
        .map(({ id, location: at }) => ({
          id,
          start: offsetOf(source, at.start),
          end: offsetOf(source, at.end),
        }))
        .filter((one) => one.start <= start && end <= one.end)
        .sort((a, b) => a.end - a.start - (b.end - b.start))[0];
      add({
        id: around?.id,
        file,
        line: source.slice(0, start).split("\n").length,
        code: lineAt(source, start),
        change: `${inOneLine(source.slice(start, end))} -> ${inOneLine(replacement)}`,
        text: source.slice(0, start) + replacement + source.slice(end),
      });
    }
  }
  return { mutants, instrumented: new Map(made.files.map(({ name, content }) => [name, content])) };
}

/** Names a mutant for as long as its line of code stays the same, wherever it moves in its file. */
export const nameOf = ({ file, code, change }: Pick<Mutant, "file" | "code" | "change">) =>
  `${file}\n${code}\n${change}`;

/** Picks by the hash of seed and name, so that a change of other lines leaves the sample as it was. */
export function sampleOf(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const ranked = mutants.map((mutant) => {
    const text = `${seed}\n${mutant.nth}\n${nameOf(mutant)}`;
    return { mutant, hash: createHash("sha256").update(text).digest("hex") };
  });
  ranked.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

async function instrument(sources: ReadonlyMap<string, string>): Promise<Made> {
  const folder = join(import.meta.dirname, "npm/node_modules/@stryker-mutator/instrumenter/dist/src");
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  const [{ Instrumenter }, parsers, { print }, { transform }] = await Promise.all(
    ["instrumenter.js", "parsers/index.js", "printers/index.js", "transformers/index.js"].map(load),
  );
  const maker = new Instrumenter(quiet, parsers.createParser, print, transform);
  const files = [...sources].map(([name, content]) => ({ name, content, mutate: true }));
  return maker.instrument(files, { excludedMutations: ["StringLiteral"], ignorers: [], plugins: null });
}

function offsetOf(source: string, { line, column }: Position): number {
  let offset = 0;
  for (let i = 0; i < line; i++) offset = source.indexOf("\n", offset) + 1;
  return offset + column;
}

function lineAt(source: string, offset: number): string {
  return (source.slice(source.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "").trim();
}
