// What of a file is not saved yet, as the browser keeps it over a reload: only the changes, each with what it was made on.
// Pure but for kept.ts.
import { keep, recall, recallAll } from "../app/kept.ts";
import { type Base, type Merged, merge, opsOf, type RegionMap, type Saved } from "./merge.ts";
import { isSamePlace, type Region } from "./region.ts";

interface Change {
  readonly key: string;
  readonly id?: string | undefined;
  readonly before?: Region | undefined;
  readonly after?: Region | undefined;
}

export interface Kept {
  readonly changes: readonly Change[];
  /** New regions of requests without an answer. */
  readonly sent: readonly Region[];
}

export function keptOf(base: Base, regions: RegionMap, sent: RegionMap): Kept {
  const { creates, changes, deletes } = opsOf(base, regions);
  return {
    changes: [
      ...creates.map((after) => ({ key: after.key, after })),
      ...changes.map(({ id, region }) => ({
        key: region.key,
        id,
        before: base.get(region.key)?.region,
        after: region,
      })),
      ...deletes.map(({ id, region }) => ({ key: region.key, id, before: region })),
    ],
    sent: [...sent.values()],
  };
}

/** Puts kept changes onto what the service has now. */
export function restored(kept: Kept, theirs: readonly Saved[]): Merged {
  const changed = new Map(kept.changes.map((change) => [change.id ?? change.key, change]));
  const base = new Map<string, Saved>();
  const regions = new Map<string, Region>();
  for (const saved of theirs)
    if (!changed.has(saved.id)) {
      base.set(saved.id, { ...saved, region: { ...saved.region, key: saved.id } });
      regions.set(saved.id, { ...saved.region, key: saved.id });
    }
  const sent = new Map(kept.sent.map((region) => [region.key, region]));
  // What the service may have added without an answer must not count as unchanged labels of others.
  for (const saved of theirs)
    if (!changed.has(saved.id) && isSent(saved, kept)) {
      base.delete(saved.id);
      regions.delete(saved.id);
    }
  for (const { key, id, before, after } of kept.changes) {
    if (id !== undefined && before !== undefined) base.set(key, { id, region: before });
    if (after !== undefined) regions.set(key, after);
  }
  return merge(base, regions, theirs, sent);
}

const isSent = ({ region }: Saved, { changes, sent }: Kept) =>
  [...sent, ...changes.flatMap(({ id, after }) => (id === undefined && after ? [after] : []))].some((other) =>
    isSamePlace(other, region),
  );

/** Names of what is kept begin with this, so that a set's page can list its files. */
export const placeOfKept = (tenantId: string, setId: string, fileId = "") =>
  `labels.${tenantId}.${setId}.${fileId}`;

export function saveKept(name: string, kept: Kept): void {
  keep(name, kept.changes.length + kept.sent.length === 0 ? null : JSON.stringify(kept));
}

export function loadKept(name: string): Kept | undefined {
  try {
    const value: unknown = JSON.parse(recall(name) ?? "null");
    return isKept(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The files of a set of which this browser keeps changes, with the names of these. */
export function filesWithKept(tenantId: string, setId: string): ReadonlyMap<string, readonly string[]> {
  const prefix = placeOfKept(tenantId, setId);
  const files = new Map<string, string[]>();
  for (const name of recallAll(prefix)) {
    const [fileId = ""] = name.slice(prefix.length).split(".");
    files.set(fileId, [...(files.get(fileId) ?? []), name]);
  }
  return files;
}

export const dropKept = (name: string) => keep(name, null);

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { changes, sent } = value as Record<string, unknown>;
  return (
    Array.isArray(changes) &&
    Array.isArray(sent) &&
    sent.every(isRegion) &&
    changes.every(
      (change: Record<string, unknown> | null) =>
        typeof change?.key === "string" &&
        (change.id === undefined || typeof change.id === "string") &&
        (change.before === undefined || isRegion(change.before)) &&
        (change.after === undefined || isRegion(change.after)),
    )
  );
}

function isRegion(value: unknown): value is Region {
  if (typeof value !== "object" || value === null) return false;
  const { key, type, startMs, endMs, confidence, annotator, extraData } = value as Record<string, unknown>;
  return (
    typeof key === "string" &&
    typeof type === "string" &&
    Number.isFinite(startMs) &&
    Number.isFinite(endMs) &&
    Number.isFinite(confidence) &&
    (annotator === null || typeof annotator === "string") &&
    typeof extraData === "object" &&
    extraData !== null
  );
}
