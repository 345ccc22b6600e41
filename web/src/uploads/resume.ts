// Which uploads were not finished when the page was left. The browser keeps names, sizes and the service's ids, never bytes:
// the user chooses the files again, and what the object store has already is not sent twice. Pure but for kept.ts.
import { keep, recall } from "../app/kept.ts";
import { type Item, isActive, nameOf, type Source } from "./queue.ts";

export interface Interrupted {
  readonly path: string;
  readonly size: number;
  readonly lastModified: number;
  readonly id?: string;
}

const keyOf = (tenantId: string, datasetId: string) => `uploads.${tenantId}.${datasetId}`;
const most = 5_000;

export function saveInterrupted(
  tenantId: string,
  datasetId: string,
  items: readonly Item[],
  rest: readonly Interrupted[],
): void {
  const open = items
    .filter(({ phase }) => isActive(phase.peek()) || phase.peek() === "failed")
    .map(({ source: { path, size, lastModified }, id }) => ({
      path,
      size,
      lastModified,
      ...(id === undefined ? {} : { id }),
    }));
  const all = [...open, ...rest].slice(0, most);
  keep(keyOf(tenantId, datasetId), all.length === 0 ? null : JSON.stringify(all));
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

/** Gives files that were chosen again the ids that they had, and says which interrupted ones are left. */
export function matched(
  sources: readonly Source[],
  interrupted: readonly Interrupted[],
): { sources: readonly (Source & { readonly id?: string | undefined })[]; left: readonly Interrupted[] } {
  const open = new Map(interrupted.map((entry) => [nameOf(entry), entry]));
  const found = sources.map((source) => {
    const entry = open.get(nameOf(source)) ?? open.get(nameOf({ ...source, path: source.name }));
    if (entry === undefined) return source;
    open.delete(nameOf(entry));
    return { ...source, id: entry.id };
  });
  return { sources: found, left: [...open.values()] };
}
