// What is not saved yet, and how it meets what others have saved meanwhile. Nothing is lost: where both have changed the
// same label in different ways, somebody decides. Pure; used by autosave.ts.
import { isSamePlace, type Region, saysSame } from "./region.ts";

/** A label as the service has it. */
export interface Saved {
  readonly id: string;
  readonly region: Region;
}

/** What the service had when it was last read or written, by the keys of this browser. */
export type Base = ReadonlyMap<string, Saved>;
export type RegionMap = ReadonlyMap<string, Region>;

export interface Ops {
  readonly creates: readonly Region[];
  readonly changes: readonly Saved[];
  readonly deletes: readonly Saved[];
}

export function opsOf(base: Base, regions: RegionMap): Ops {
  const [creates, changes, deletes]: [Region[], Saved[], Saved[]] = [[], [], []];
  for (const region of regions.values()) {
    const saved = base.get(region.key);
    if (saved === undefined) creates.push(region);
    // An unchanged region is the same object, as a rule: thousands are compared after each key.
    else if (saved.region !== region && !saysSame(saved.region, region))
      changes.push({ id: saved.id, region });
  }
  for (const [key, saved] of base) if (!regions.has(key)) deletes.push(saved);
  return { creates, changes, deletes };
}

export const countOps = ({ creates, changes, deletes }: Ops) =>
  creates.length + changes.length + deletes.length;

/** Both have changed the label, in different ways. Undefined: deleted. */
export interface Conflict {
  readonly key: string;
  readonly mine: Region | undefined;
  readonly theirs: Region | undefined;
}

export interface Merged {
  readonly base: Base;
  /** Mine where both have changed something, until somebody decides. */
  readonly regions: RegionMap;
  readonly conflicts: readonly Conflict[];
  /** What the labels in conflict were before both changed them: without it, a reload would forget that they conflict. */
  readonly disputed: Base;
  /** How many labels others have added, changed or deleted. */
  readonly othersChanged: number;
}

/**
 * `sent` has the new regions of requests without an answer, as they were sent: the service may have added them.
 */
export function merge(
  base: Base,
  regions: RegionMap,
  theirs: readonly Saved[],
  sent: RegionMap = new Map(),
): Merged {
  const keyOfId = new Map([...base].map(([key, { id }]) => [id, key]));
  const nextBase = new Map<string, Saved>();
  const next = new Map<string, Region>();
  const conflicts: Conflict[] = [];
  const disputed = new Map<string, Saved>();
  const dispute = (conflict: Conflict) => {
    conflicts.push(conflict);
    const before = base.get(conflict.key);
    if (before !== undefined) disputed.set(conflict.key, before);
  };
  let othersChanged = 0;
  const own = unconfirmed(base, regions, sent);
  for (const { id, region } of theirs) {
    const known = keyOfId.get(id) ?? own(region);
    const key = known ?? id;
    const now = { ...region, key };
    nextBase.set(key, { id, region: now });
    if (known === undefined) {
      othersChanged++;
      next.set(key, now);
      continue;
    }
    // A region that was sent without an answer is as it was sent.
    const before = base.get(key)?.region ?? now;
    const mine = regions.get(key);
    const haveTheyChanged = !saysSame(before, now);
    if (haveTheyChanged) othersChanged++;
    if (mine !== undefined && (saysSame(mine, now) || saysSame(mine, before))) next.set(key, now);
    else {
      if (mine !== undefined) next.set(key, mine);
      if (haveTheyChanged) dispute({ key, mine, theirs: now });
    }
  }
  for (const [key, mine] of regions) {
    if (next.has(key) || nextBase.has(key)) continue;
    const before = base.get(key)?.region;
    if (before === undefined) next.set(key, mine);
    else {
      othersChanged++;
      if (saysSame(before, mine)) continue;
      next.set(key, mine);
      dispute({ key, mine, theirs: undefined });
    }
  }
  return { base: nextBase, regions: next, conflicts, disputed, othersChanged };
}

/** Finds the key of a new region of this browser that the service has already, each at most once. */
function unconfirmed(base: Base, regions: RegionMap, sent: RegionMap) {
  const open = new Map<string, Region>();
  for (const [key, region] of [...regions, ...sent]) if (!base.has(key)) open.set(key, region);
  return (theirs: Region): string | undefined => {
    for (const [key, region] of open)
      if (isSamePlace(region, theirs)) {
        open.delete(key);
        return key;
      }
    return undefined;
  };
}

export type Choice = "mine" | "theirs" | "both";

/** The regions after the decisions. "both" keeps theirs, and mine as a new region with the key `newKey()`. */
export function decided(
  regions: RegionMap,
  conflicts: readonly Conflict[],
  choiceOf: (conflict: Conflict) => Choice,
  newKey: () => string,
): RegionMap {
  const next = new Map(regions);
  for (const conflict of conflicts) {
    const { key, theirs } = conflict;
    // It may have been changed again since.
    const mine = regions.get(key);
    const choice = choiceOf(conflict);
    if (choice === "mine") continue;
    if (theirs === undefined) next.delete(key);
    else next.set(key, theirs);
    if (choice === "both" && mine !== undefined) {
      const added = { ...mine, key: newKey() };
      next.set(added.key, added);
    }
  }
  return next;
}
