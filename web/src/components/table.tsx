// Tables. Their state is in the address, so a link shows what its sender saw. Arrow keys move between the rows. On narrow
// screens each row becomes a card; the explicit roles keep it a table for assistive technology.
import type { ComponentChildren } from "preact";
import { count } from "../app/format.ts";
import { query, setQuery } from "../app/router.ts";
import {
  parsePage,
  parseSort,
  type Sort,
  type SortValue,
  sorted,
  toggled,
  writeSort,
} from "../app/table-state.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

export interface Column<T> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: T) => ComponentChildren;
  /** What the column is sorted by in the browser; undefined: it cannot be sorted there. */
  readonly by?: (row: T) => SortValue;
  readonly isNumber?: boolean;
  /** The first click shows the largest or newest first. */
  readonly descendsFirst?: boolean;
  /** The header is for screen readers only, as for a column of buttons. */
  readonly isHeaderHidden?: boolean;
  /** Left out where the page is narrow, though not on phones, where rows are cards. */
  readonly isExtra?: boolean;
  /** May be narrower than its text. */
  readonly isFlexible?: boolean;
}

/** The order that the address asks for. */
export const useSort = (columns: readonly string[], fallback: Sort): Sort =>
  parseSort(query.value.get("sort"), columns, fallback);

export const usePage = (): number => parsePage(query.value.get("page"));

export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
  sort,
  serverSorted = [],
  isOld,
}: {
  /** What the table lists; read aloud, not shown. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  sort?: Sort;
  /** Columns that the service sorts; the rows come in their order. */
  serverSorted?: readonly string[];
  /** The rows belong to the state before; new ones are on their way. */
  isOld?: boolean;
}) {
  const by = columns.find((column) => column.id === sort?.column)?.by;
  const shown =
    by === undefined || sort === undefined || serverSorted.includes(sort.column)
      ? rows
      : sorted(rows, by, sort.isDescending);
  return (
    <table class="table" role="table" aria-busy={isOld} onKeyDown={moveBetweenRows}>
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Header
              key={column.id}
              column={column}
              sort={sort}
              isSortable={column.by !== undefined || serverSorted.includes(column.id)}
            />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {shown.map((row) => (
          <tr role="row" key={keyOf(row)}>
            {columns.map((column) => (
              <td
                role="cell"
                key={column.id}
                data-label={column.isHeaderHidden ? undefined : column.header}
                class={classOf(column)}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const classOf = <T,>({ isNumber, isFlexible, isHeaderHidden, isExtra }: Column<T>) =>
  [isNumber && "number end", isFlexible && "flexible", isHeaderHidden && "tools", isExtra && "extra"]
    .filter(Boolean)
    .join(" ");

function Header<T>({
  column,
  sort,
  isSortable,
}: {
  column: Column<T>;
  sort: Sort | undefined;
  isSortable: boolean;
}) {
  const isSorted = sort?.column === column.id;
  if (!isSortable || sort === undefined)
    return (
      <th role="columnheader" scope="col" class={classOf(column)}>
        {column.isHeaderHidden ? <span class="visually-hidden">{column.header}</span> : column.header}
      </th>
    );
  const next = toggled(sort, column.id, column.descendsFirst);
  return (
    <th
      role="columnheader"
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined}
    >
      <button type="button" class="sort" onClick={() => setQuery({ sort: writeSort(next), page: undefined })}>
        <span>{column.header}</span>
        <Icon name={isSorted ? (sort.isDescending ? "down" : "up") : "both"} size={12} />
      </button>
    </th>
  );
}

function moveBetweenRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const target = event.target as HTMLElement;
  if (step === undefined || target.matches("input, select, textarea, [role=menuitem]")) return;
  const rows = [...(target.closest("table")?.tBodies[0]?.rows ?? [])];
  const row = target.closest("tr");
  const at = row === null ? -1 : rows.indexOf(row);
  if (at === -1) return;
  const column = target.closest("td")?.cellIndex ?? 0;
  const next = rows[at + step];
  const goal =
    next?.cells[column]?.querySelector<HTMLElement>("a, button") ??
    next?.querySelector<HTMLElement>("a, button");
  if (!goal) return;
  event.preventDefault();
  goal.focus();
}

/** The page of a list that the service pages. */
export function Pager({
  page,
  pageSize,
  total,
  what,
}: {
  page: number;
  pageSize: number;
  total: number;
  what: string;
}) {
  if (total <= pageSize && page === 1) return null;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const go = (to: number) => setQuery({ page: to === 1 ? undefined : String(to) });
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span class="muted number">
        {page > pages
          ? `Page ${count(page)} does not exist`
          : `${count((page - 1) * pageSize + 1)}–${count(Math.min(total, page * pageSize))} of ${count(total)}`}
      </span>
      <IconButton
        icon="left"
        label="Previous page"
        disabled={page <= 1}
        onClick={() => go(Math.min(page - 1, pages))}
      />
      <IconButton icon="right" label="Next page" disabled={page >= pages} onClick={() => go(page + 1)} />
    </nav>
  );
}
