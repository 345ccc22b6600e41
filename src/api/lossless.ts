// JSON that JavaScript would keep otherwise than it was sent: whole numbers beyond 2^53, numbers beyond all bounds, members
// named __proto__. Where a schema says what a value is, it says that too; where a client stores what it likes, nothing of
// it may change in silence. Called by validate.ts for bodies that have any of these.
import type { z } from "zod";
import { type ValidationItem, valueError } from "../errors.ts";

/** Takes the place of a number that cannot be kept. No text that is stored has a NUL. */
const altered = "\0altered";

const prototypeFault = "a member must not be named __proto__";
const numberFault = "the number cannot be kept exactly; send it as a string";

// JSON.parse could tell how a number is written too, at ten times the cost.
const number = /-?\d[\d.]*(?:[eE][+-]?\d+)?/g;

/** Nobody reads more, and a body has room for a million. */
const most = 100;

/** The faults of what is to be stored as it is: of all values of records, at any depth. `json` is well formed. */
export function faultsOfAltered(schema: z.ZodType, json: string, loc: (string | number)[]): ValidationItem[] {
  const faults: ValidationItem[] = [];
  lookInSchema(schema, JSON.parse(marked(json)), loc, faults);
  return faults;
}

/** With a mark in place of each number that cannot be kept. */
function marked(json: string): string {
  const parts: string[] = [];
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    const between = json.slice(at, end);
    parts.push(between.replace(number, (found) => (isAltered(found) ? JSON.stringify(altered) : found)));
    at = quote < 0 ? end : endOfText(json, quote);
    parts.push(json.slice(end, at));
  }
  return parts.join("");
}

/** Behind the text that begins with this quote. By hand: a long text with many escapes is too much for an expression. */
function endOfText(json: string, quote: number): number {
  for (let at = quote + 1; at < json.length; at++) {
    const sign = json[at];
    if (sign === '"') return at + 1;
    if (sign === "\\") at += 1;
  }
  return json.length;
}

function isAltered(source: string): boolean {
  if (source.length < 4) return false;
  const value = Number(source);
  if (!Number.isFinite(value)) return true;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !/^-?\d+$/.test(source)) return false;
  return BigInt(source) !== BigInt(value);
}

/** Looks for the records of a schema, and only there at the value. */
function lookInSchema(
  schema: z.ZodType,
  value: unknown,
  loc: (string | number)[],
  faults: ValidationItem[],
): void {
  if (typeof value !== "object" || value === null) return;
  const def = schema.def as {
    type: string;
    innerType?: z.ZodType;
    in?: z.ZodType;
    element?: z.ZodType;
    shape?: Record<string, z.ZodType>;
  };
  const inner = def.innerType ?? def.in;
  if (inner !== undefined) lookInSchema(inner, value, loc, faults);
  else if (def.type === "record") lookAt(value, loc, faults);
  else if (def.element !== undefined && Array.isArray(value))
    for (const [i, item] of value.entries()) lookInSchema(def.element, item, [...loc, i], faults);
  else
    for (const [name, member] of Object.entries(def.shape ?? {}))
      if (Object.hasOwn(value, name))
        lookInSchema(member, (value as Record<string, unknown>)[name], [...loc, name], faults);
}

/** `loc` is where `value` is; changed on the way down and back again on the way up. */
function lookAt(value: unknown, loc: (string | number)[], faults: ValidationItem[]): void {
  if (faults.length === most) return;
  const fault = (why: string) => faults.push(valueError([...loc], why));
  if (value === altered) fault(numberFault);
  if (typeof value !== "object" || value === null) return;
  for (const name in value) {
    if (name === "__proto__") {
      fault(prototypeFault);
      continue;
    }
    loc.push(Array.isArray(value) ? Number(name) : name);
    lookAt((value as Record<string, unknown>)[name], loc, faults);
    loc.pop();
  }
}

/**
 * Why a value cannot be kept as it was sent, where the text that it was parsed from is gone: a whole number beyond 2^53 may
 * have been another one. Null when it can.
 */
export function faultOfParsed(value: unknown, levels = 20): string | null {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? numberFault : null;
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return "it nests too deep";
  if (Object.hasOwn(value, "__proto__")) return prototypeFault;
  for (const member of Object.values(value)) {
    const fault = faultOfParsed(member, levels - 1);
    if (fault !== null) return fault;
  }
  return null;
}
