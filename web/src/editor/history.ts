// Changes of regions that can be undone and done again, without a limit. Pure.
import { type Region, saysSame } from "./region.ts";

/** One region before and after; undefined: it did not exist. */
export interface Edit {
  readonly before: Region | undefined;
  readonly after: Region | undefined;
}

export const created = (after: Region): Edit => ({ before: undefined, after });
export const removed = (before: Region): Edit => ({ before, after: undefined });
export const changed = (before: Region, after: Region): Edit => ({ before, after });

/** What one undo takes back. */
export interface Step {
  readonly what: string;
  readonly edits: readonly Edit[];
  readonly at: number;
}

export interface History {
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
}

export const noHistory: History = { done: [], undone: [] };

/** Nudges of one handle within this time are one step. */
const togetherMs = 700;

const keyOf = ({ before, after }: Edit) => before?.key ?? after?.key;

/** Adds a step. `mayJoin`: it continues the step before if that one changed the same region in the same way just now. */
export function record({ done }: History, step: Step, mayJoin = false): History {
  const last = done.at(-1);
  const [edit] = step.edits;
  const [former] = last?.edits ?? [];
  const joins =
    mayJoin &&
    last !== undefined &&
    edit !== undefined &&
    former !== undefined &&
    last.edits.length === 1 &&
    step.edits.length === 1 &&
    last.what === step.what &&
    keyOf(edit) === keyOf(former) &&
    step.at - last.at < togetherMs;
  if (!joins) return { done: [...done, step], undone: [] };
  const joined = { ...step, edits: [{ before: former.before, after: edit.after }] };
  return { done: [...done.slice(0, -1), joined], undone: [] };
}

export interface Moved {
  readonly history: History;
  readonly step: Step;
  /** What to do to the regions. */
  readonly edits: readonly Edit[];
}

export function undo({ done, undone }: History): Moved | undefined {
  const step = done.at(-1);
  if (step === undefined) return undefined;
  const edits = step.edits.map(({ before, after }) => ({ before: after, after: before })).reverse();
  return { history: { done: done.slice(0, -1), undone: [...undone, step] }, step, edits };
}

export function redo({ done, undone }: History): Moved | undefined {
  const step = undone.at(-1);
  if (step === undefined) return undefined;
  return { history: { done: [...done, step], undone: undone.slice(0, -1) }, step, edits: step.edits };
}

/**
 * The regions after the edits. An edit of a region that is not as the edit expects is left out (`isPartial`): somebody else has changed
 * it since, and undoing one's own step must not undo theirs.
 */
export function applied(
  regions: ReadonlyMap<string, Region>,
  edits: readonly Edit[],
): { readonly regions: Map<string, Region>; readonly isPartial: boolean } {
  const next = new Map(regions);
  let isPartial = false;
  for (const edit of edits) {
    const { before, after } = edit;
    const key = keyOf(edit);
    const now = key === undefined ? undefined : next.get(key);
    const isExpected = before === undefined || now === undefined ? before === now : saysSame(before, now);
    if (!isExpected) isPartial = true;
    else if (after !== undefined) next.set(after.key, after);
    else if (before !== undefined) next.delete(before.key);
  }
  return { regions: next, isPartial };
}
