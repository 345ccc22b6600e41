// The state of a table in the query of the address: search, filters, order, page. Pure; used by pages with tables.

export interface Sort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** "name" and "-name" in the address. */
export function parseSort(text: string | null, columns: readonly string[], fallback: Sort): Sort {
  const isDescending = text?.startsWith("-") === true;
  const column = isDescending ? text.slice(1) : text;
  return column !== null && columns.includes(column) ? { column, isDescending } : fallback;
}

export const writeSort = ({ column, isDescending }: Sort) => (isDescending ? `-${column}` : column);

/** The order after a click on a column's header: first the column's natural direction, then the other one. */
export const toggled = (sort: Sort, column: string, descendsFirst = false): Sort => ({
  column,
  isDescending: sort.column === column ? !sort.isDescending : descendsFirst,
});

export function parsePage(text: string | null): number {
  const page = Number(text ?? 1);
  return Number.isSafeInteger(page) && page >= 1 ? page : 1;
}

/** Accepts only a value that the page knows; addresses come from anywhere. */
export const oneOf = <T extends string>(text: string | null, values: readonly T[]): T | undefined =>
  values.find((value) => value === text);

export type SortValue = string | number | null;

/** Rows in the order of a column; rows without a value come last, and equal rows keep their places. */
export function sorted<T>(rows: readonly T[], value: (row: T) => SortValue, isDescending: boolean): T[] {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    const order =
      typeof x === "number" && typeof y === "number" ? x - y : collator.compare(String(x), String(y));
    return isDescending ? -order : order;
  });
}
