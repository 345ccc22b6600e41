// Tabs whose choice is in the address. Arrow keys move between them (ARIA authoring practices, "tabs").
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { query, setQuery } from "../app/router.ts";
import { oneOf } from "../app/table-state.ts";

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
  readonly note?: ComponentChildren;
}

/** The first tab is the one without a parameter in the address. */
export function useTab<Id extends string>(ids: readonly [Id, ...Id[]]): Id {
  return oneOf(query.value.get("tab"), ids) ?? ids[0];
}

export function Tabs<Id extends string>({
  label,
  tabs,
  current,
  onSelect,
  children,
}: {
  label: string;
  tabs: readonly Tab<Id>[];
  current: Id;
  onSelect?: (id: Id) => void;
  children: ComponentChildren;
}) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const select = (id: Id) => {
    if (onSelect) onSelect(id);
    else
      setQuery({
        tab: id === tabs[0]?.id ? undefined : id,
        page: undefined,
        sort: undefined,
        q: undefined,
        status: undefined,
      });
  };
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    select(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === current ? 0 : -1}
            onClick={() => select(tab.id)}
            onKeyDown={move}
          >
            {tab.label}
            {tab.note !== undefined && <span class="tab-note number">{tab.note}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current}`}>
        {children}
      </div>
    </>
  );
}
