// Which uploads were not finished when the page was left. The browser keeps names, sizes and the service's ids, never bytes:
// the user chooses the files again, and what the object store has already is not sent twice. Pure but for kept.ts.
import { keep, recall } from "../app/kept.ts";
import { type Item, nameOf, type Source } from "./queue.ts";
import type { Announcement, KeptAnnouncement } from "./steps.ts";

export interface Interrupted {
  readonly path: string;
  readonly size: number;
  readonly lastModified: number;
  readonly id?: string;
  /** It has arrived. Kept while others have not: who chooses all files again must not send it a second time. */
  readonly isDone?: boolean;
}

export const isOpen = ({ isDone }: Interrupted) => isDone !== true;

const keyOf = (tenantId: string, datasetId: string) => `uploads.${tenantId}.${datasetId}`;
const announcementKeyOf = (tenantId: string, datasetId: string) =>
  `uploads.announced.${tenantId}.${datasetId}`;
const most = 5_000;
/** The service remembers an Idempotency-Key for 24 hours. */
const rememberedMs = 23 * 3_600_000;

/** Returns whether anything is open. */
export function saveInterrupted(
  tenantId: string,
  datasetId: string,
  items: readonly Item[],
  rest: readonly Interrupted[],
): boolean {
  const present = items
    .filter(({ phase }) => phase.peek() !== "removed")
    .map(({ source: { path, size, lastModified }, id, phase }) => ({
      path,
      size,
      lastModified,
      ...(id === undefined ? {} : { id }),
      ...(phase.peek() === "done" ? { isDone: true } : {}),
    }));
  const all = [...present, ...rest];
  const open = all.filter(isOpen);
  // Of very many, those that the service does not know yet are left out first: chosen again, they are new uploads. One open
  // entry stays, because a list without one is forgotten.
  const order = (entry: Interrupted) =>
    entry === open[0] ? 0 : !isOpen(entry) ? 2 : entry.id === undefined ? 3 : 1;
  const kept = open.length === 0 ? null : all.toSorted((a, b) => order(a) - order(b)).slice(0, most);
  keep(keyOf(tenantId, datasetId), kept && JSON.stringify(kept));
  if (kept === null) keep(announcementKeyOf(tenantId, datasetId), null);
  return kept !== null;
}

export function loadInterrupted(tenantId: string, datasetId: string): readonly Interrupted[] {
  try {
    const found: unknown = JSON.parse(recall(keyOf(tenantId, datasetId)) ?? "[]");
    return Array.isArray(found) ? found.filter(isInterrupted) : [];
  } catch {
    return [];
  }
}

type Kept = Announcement & { readonly at: number };

/** Keeps the last announcement of files, because a reload can lose its answer. */
export function keptAnnouncement(tenantId: string, datasetId: string): KeptAnnouncement {
  const name = announcementKeyOf(tenantId, datasetId);
  return {
    load() {
      try {
        const { at, key, files } = JSON.parse(recall(name) ?? "{}") as Partial<Kept>;
        const isWhole = typeof key === "string" && Array.isArray(files) && typeof at === "number";
        return isWhole && Date.now() - at < rememberedMs ? { key, files } : undefined;
      } catch {
        return undefined;
      }
    },
    save: (announcement) => keep(name, JSON.stringify({ ...announcement, at: Date.now() } satisfies Kept)),
  };
}

function isInterrupted(value: unknown): value is Interrupted {
  if (typeof value !== "object" || value === null) return false;
  const { path, size, lastModified, id } = value as Record<string, unknown>;
  return (
    typeof path === "string" &&
    typeof size === "number" &&
    typeof lastModified === "number" &&
    (id === undefined || typeof id === "string")
  );
}

/**
 * Gives files that were chosen again the ids that they had, leaves out those that have arrived, and says which interrupted ones
 * are left.
 */
export function matched(
  sources: readonly Source[],
  interrupted: readonly Interrupted[],
): { sources: readonly (Source & { readonly id?: string | undefined })[]; left: readonly Interrupted[] } {
  const known = new Map(interrupted.map((entry) => [nameOf(entry), entry]));
  const found = sources.flatMap((source) => {
    const entry = known.get(nameOf(source)) ?? known.get(nameOf({ ...source, path: source.name }));
    if (entry === undefined) return [source];
    if (!isOpen(entry)) return [];
    known.delete(nameOf(entry));
    return [{ ...source, id: entry.id }];
  });
  return { sources: found, left: [...known.values()] };
}
