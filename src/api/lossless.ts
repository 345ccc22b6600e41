// Finds JSON values that JavaScript would silently change: integers beyond 2^53, numbers that become infinite, and
// members named __proto__. The schemas check such values themselves, except in records, where clients store data of
// their own: there this file refuses them. Called by validate.ts for bodies that have any of these values.
import type { z } from "zod";
import { addFault, type Faults, valueError } from "../errors.ts";

/** Placeholder for a number that cannot be stored exactly. It contains NUL, which no stored text may contain. */
const inexact = "\0altered";

const prototypeFault = "a member must not be named __proto__";
const numberFault = "the number cannot be stored exactly; send it as a string";

// A regular expression, because JSON.parse with source text access takes ten times as long.
const number = /-?\d[\d.]*(?:[eE][+-]?\d+)?/g;

/** Adds the faults in the values of all records of the schema, at any depth. `json` is well-formed JSON. */
export function addAltered(faults: Faults, schema: z.ZodType, json: string, loc: (string | number)[]): void {
  checkRecords(schema, JSON.parse(withPlaceholders(json)), loc, faults);
}

/** Replaces each number that cannot be stored exactly by the placeholder. */
function withPlaceholders(json: string): string {
  const parts: string[] = [];
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    const between = json.slice(at, end);
    parts.push(between.replace(number, (found) => (isInexact(found) ? JSON.stringify(inexact) : found)));
    at = quote < 0 ? end : endOfText(json, quote);
    parts.push(json.slice(end, at));
  }
  return parts.join("");
}

/**
 * Returns the offset after the string that begins with this quote. A loop, because a long string with many escapes
 * exceeds what a regular expression can match.
 */
function endOfText(json: string, quote: number): number {
  for (let at = quote + 1; at < json.length; at++) {
    const sign = json[at];
    if (sign === '"') return at + 1;
    if (sign === "\\") at += 1;
  }
  return json.length;
}

function isInexact(source: string): boolean {
  if (source.length < 4) return false;
  const value = Number(source);
  if (!Number.isFinite(value)) return true;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !/^-?\d+$/.test(source)) return false;
  return BigInt(source) !== BigInt(value);
}

/** Finds the records of a schema, and checks the value there. */
function checkRecords(schema: z.ZodType, value: unknown, loc: (string | number)[], faults: Faults): void {
  if (typeof value !== "object" || value === null) return;
  const def = schema.def as {
    type: string;
    innerType?: z.ZodType;
    in?: z.ZodType;
    element?: z.ZodType;
    shape?: Record<string, z.ZodType>;
  };
  const inner = def.innerType ?? def.in;
  if (inner !== undefined) checkRecords(inner, value, loc, faults);
  else if (def.type === "record") checkRecord(value, loc, faults);
  else if (def.element !== undefined && Array.isArray(value))
    for (const [i, item] of value.entries()) checkRecords(def.element, item, [...loc, i], faults);
  else
    for (const [name, member] of Object.entries(def.shape ?? {}))
      if (Object.hasOwn(value, name))
        checkRecords(member, (value as Record<string, unknown>)[name], [...loc, name], faults);
}

/** Checks a value in a record. `loc` is the location of `value`; the recursion extends it and restores it. */
function checkRecord(value: unknown, loc: (string | number)[], faults: Faults): void {
  const fault = (why: string) => addFault(faults, () => valueError([...loc], why));
  if (value === inexact) fault(numberFault);
  if (typeof value !== "object" || value === null) return;
  for (const name in value) {
    if (name === "__proto__") {
      fault(prototypeFault);
      continue;
    }
    loc.push(Array.isArray(value) ? Number(name) : name);
    checkRecord((value as Record<string, unknown>)[name], loc, faults);
    loc.pop();
  }
}

/**
 * The same check for a value whose JSON text is no longer available. Refuses every number beyond 2^53, because its text
 * may have been a different number. Returns the fault as a clause, or null.
 */
export function faultOfParsed(value: unknown, levels = 20): string | null {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? numberFault : null;
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return "it nests too deeply";
  if (Object.hasOwn(value, "__proto__")) return prototypeFault;
  for (const member of Object.values(value)) {
    const fault = faultOfParsed(member, levels - 1);
    if (fault !== null) return fault;
  }
  return null;
}
