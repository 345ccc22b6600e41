// Which uploads were not finished when the page was left. The browser keeps names, sizes and the service's ids, never bytes:
// the user chooses the files again, and what the object store has already is not sent twice. Pure but for kept.ts.
import { keep, recall } from "../app/kept.ts";
import { type Item, nameOf, type Source } from "./queue.ts";

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
const most = 5_000;

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
  const kept = open.length === 0 ? null : [...open, ...all.filter((entry) => !isOpen(entry))].slice(0, most);
  keep(keyOf(tenantId, datasetId), kept && JSON.stringify(kept));
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
