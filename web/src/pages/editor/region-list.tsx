// The regions as a list: the twin of the pictures for everybody who does not see or point. Only the rows in view exist, so
// thousands of regions cost nothing.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { count, plural } from "../../app/format.ts";
import { Icon } from "../../components/icon.tsx";
import type { Controller } from "../../editor/controller.ts";
import { clockOf, wordsOf } from "../../editor/times.ts";

const rowHeight = 30;
const more = 6;

interface Row {
  readonly key: string;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly isSuggestion?: boolean;
}

export function rowsOf({ document, suggestions }: Controller): readonly Row[] {
  const regions = document.autosave.regions.value.list;
  const open = suggestions.value;
  if (open.length === 0) return regions;
  return [...regions, ...open.map(({ id, ...rest }) => ({ ...rest, key: id, isSuggestion: true }))].sort(
    (a, b) => a.startMs - b.startMs,
  );
}

export function RegionList({ controller }: { controller: Controller }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  const rows = rowsOf(controller);
  const open = controller.suggestions.value.length;
  const selected = controller.selected.value;
  const at = rows.findIndex(({ key }) => key === selected);
  const faults = controller.document.autosave.faults.value;
  const laneOf = new Map(controller.types.value.map((name, i) => [name, i]));

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || at === -1) return;
    const y = at * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = y + rowHeight - element.clientHeight;
  }, [at, selected]);

  const first = Math.max(0, Math.floor(top / rowHeight) - more);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + more);
  const shown = rows.slice(first, last).map((row, i) => ({ row, i: first + i }));
  const current = rows[at];
  // The selected row is there for aria-activedescendant, also when it is scrolled away.
  if (current !== undefined && (at < first || at >= last)) shown.push({ row: current, i: at });

  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at === -1 ? rows.length - 1 : at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (next !== undefined) controller.select(next.key);
  };

  return (
    <section class="region-list" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} class="row apart">
        Regions
        <span class="number faint small">
          {count(rows.length - open)}
          {open > 0 && ` · ${plural(open, "suggestion")}`}
        </span>
      </h2>
      {rows.length === 0 && (
        <p class="muted small region-none">
          No regions yet. Drag over the waveform, or press <kbd>[</kbd> where one begins and <kbd>]</kbd>{" "}
          where it ends.
        </p>
      )}
      <div
        ref={box}
        hidden={rows.length === 0}
        class="region-rows"
        role="listbox"
        tabIndex={0}
        aria-label={`${plural(rows.length, "region")} of the file`}
        aria-activedescendant={at === -1 ? undefined : `${id}-${at}`}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" class="region-space" style={{ height: `${rows.length * rowHeight}px` }}>
          {shown.map(({ row, i }) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the list keeps the focus.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys.
            <div
              key={row.key}
              id={`${id}-${i}`}
              role="option"
              aria-selected={row.key === selected}
              aria-setsize={rows.length}
              aria-posinset={i + 1}
              class={row.isSuggestion ? "region-row suggested" : "region-row"}
              style={{ transform: `translateY(${i * rowHeight}px)` }}
              onClick={() => controller.select(row.key)}
              onDblClick={() => controller.select(row.key, { plays: true })}
            >
              <span class="visually-hidden">{spoken(row, faults.get(row.key))}</span>
              <span class={`type-mark type-${(laneOf.get(row.type) ?? 0) % 8}`} aria-hidden="true">
                {(laneOf.get(row.type) ?? 9) < 9 ? (laneOf.get(row.type) ?? 0) + 1 : ""}
              </span>
              <span class="clip" aria-hidden="true">
                {row.type}
              </span>
              {faults.has(row.key) && <Icon name="error" size={13} />}
              <span class="number" aria-hidden="true">
                {row.isSuggestion ? `${percent(row.confidence)} · ` : ""}
                {clockOf(row.startMs)}
              </span>
              <span class="number faint" aria-hidden="true">{`${row.endMs - row.startMs} ms`}</span>
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}

const spoken = ({ type, startMs, endMs, isSuggestion, confidence }: Row, fault: string | undefined) =>
  [
    wordsOf(type, startMs, endMs),
    isSuggestion ? `suggestion, ${percent(confidence)}` : "",
    fault === undefined ? "" : `refused: ${fault}`,
  ]
    .filter((part) => part !== "")
    .join(", ");

const percent = (share: number) => `${Math.round(share * 100)} %`;
