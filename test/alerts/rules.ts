// The chart's alert rules with shorter times, so that a trial sees all of them fire. Called by alerts.test.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { repoDir } from "../../tools/cache.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}
interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** Divides the durations of the rules. */
export const factor = 20;
/** When nothing is wrong, a sweep is quiet for up to a minute, and a watch for up to two: shorter thresholds would be false alarms. */
const shortestThreshold = (expr: string) => (expr.includes("plosive_informer_") ? 150 : 90);
/** Thresholds of at least so many seconds become shorter; the others are counts, shares, or short already. */
const longThreshold = 300;

const unitSeconds = { m: 60, h: 3600 } as const;

/** "10m" -> "30s" */
const shorter = (duration: string): string => {
  const [, count = "", unit = ""] = /^(\d+)([mh])$/.exec(duration) ?? [];
  if (count === "") throw new Error(`unexpected duration ${duration}`);
  return `${(Number(count) * unitSeconds[unit as "m" | "h"]) / factor}s`;
};

const shorterRule = (rule: Rule): Rule => ({
  ...rule,
  expr: rule.expr
    .replace(/\[(\d+[mh])\]/g, (_, duration: string) => `[${shorter(duration)}]`)
    .replace(/> (\d+)$/, (text, seconds: string) =>
      Number(seconds) < longThreshold
        ? text
        : `> ${Math.max(shortestThreshold(rule.expr), Number(seconds) / factor)}`,
    ),
  ...(rule.for === undefined ? {} : { for: shorter(rule.for) }),
});

/** Writes the rules to a file. Returns the names of the alerts. */
export function writeShorterRules(path: string): string[] {
  const text = readFileSync(join(repoDir, "charts/plosive/files/alerts.yaml"), "utf8");
  const { groups } = parse(text) as RuleFile;
  const shortened = groups.map(({ name, rules }) => ({ name, rules: rules.map(shorterRule) }));
  writeFileSync(path, stringify({ groups: shortened }));
  return shortened.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}
