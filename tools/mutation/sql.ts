// Finds small changes of the SQL in a file's template literals: a comparison, a condition left out, an order, a lock.
// Stryker leaves tagged templates alone, and most rules of src/db are written in them. Pure. Called by mutants.ts.

export interface SqlChange {
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const value = String.raw`(?:\$\{[^{}]*\}|'[^']*'|[\w.]+)`;
/** Each pattern changes one place of a statement. `$1` and so on are its groups. */
const rules: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\band [\w.]+ (?:=|<>|<|<=|>|>=) ${value}(?! *[-+(])`, "g"), ""],
  [/\band [\w.]+ is (?:not )?null\b/g, ""],
  [/(?<=\b(?:where|and|or|on|when) [\w.]+) = /g, " <> "],
  [/ <> /g, " = "],
  [/ < /g, " <= "],
  [/ <= /g, " < "],
  [/ > /g, " >= "],
  [/ >= /g, " > "],
  [/\bis not null\b/g, "is null"],
  [/\bis null\b/g, "is not null"],
  [/\bnot exists\b/g, "exists"],
  [/(?<!not |if )\bexists(?= \()/g, "not exists"],
  [/\bfor (?:no key )?update skip locked\b/g, ""],
  [/\bfor (?:no key |key )?(?:update|share)\b(?! skip)/g, ""],
  [/ desc\b/g, ""],
  [/(\border by [\w.]+)(?! desc\b|[\w.])/g, "$1 desc"],
  [/\bor\b/g, "and"],
  [/\bdistinct /g, ""],
  [/\bleast\(/g, "greatest("],
  [/\bgreatest\(/g, "least("],
  [/\bmax\(/g, "min("],
  [/\bmin\(/g, "max("],
  [/ \+ /g, " - "],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
];

export function sqlChanges(source: string): SqlChange[] {
  return templates(source).flatMap(({ start, end }) => {
    const text = source.slice(start, end);
    const code = depths(text);
    return rules.flatMap(([pattern, replacement]) =>
      [...text.matchAll(pattern)]
        .filter((match) => code[match.index] === 0)
        .map((match) => ({
          start: start + match.index,
          end: start + match.index + match[0].length,
          replacement: replacement.replace("$1", match[1] ?? ""),
        })),
    );
  });
}

/** The contents of templates that a tag of sql begins. */
function templates(source: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (const match of source.matchAll(/\bsql\.(?:fragment|type|unsafe|typeAlias)\b/g)) {
    let at = match.index + match[0].length;
    if (source[at] === "(") at = closing(source, at, "(", ")") + 1;
    if (source[at] !== "`") continue;
    const start = at + 1;
    for (at = start; at < source.length && source[at] !== "`"; at++)
      if (source.startsWith("${", at)) at = closing(source, at + 1, "{", "}");
    found.push({ start, end: at });
  }
  return found;
}

function closing(source: string, open: number, left: string, right: string): number {
  let depth = 0;
  for (let at = open; at < source.length; at++) {
    if (source[at] === left) depth++;
    if (source[at] === right && --depth === 0) return at;
  }
  return source.length;
}

/** For each place of a statement how deep it lies in ${}; 1 in a literal or a comment. */
function depths(text: string): number[] {
  let depth = 0;
  let quoted = false;
  return [...text].map((letter, at) => {
    if (letter === "'" && depth === 0) quoted = !quoted;
    if (text.startsWith("${", at)) depth++;
    const inside = depth + Number(quoted);
    if (letter === "}" && depth > 0) depth--;
    return inside;
  });
}
