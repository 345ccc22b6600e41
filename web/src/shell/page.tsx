// The frame of a page: where it is, its heading, its actions. The heading gets the focus when the page is opened, so that
// screen readers say where one has arrived.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { href } from "../app/base.ts";
import { IconButton } from "../components/button.tsx";
import { isDrawerOpen } from "../components/code-drawer-state.ts";

export interface Crumb {
  readonly label: string;
  /** Absent: a group without a page of its own. */
  readonly to?: string;
}

let pagesOpened = 0;

export function Page({
  title,
  crumbs = [],
  note,
  actions,
  children,
}: {
  title: string;
  crumbs?: readonly Crumb[];
  /** One line under the heading. */
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the first frame: later, it would take the focus from what the user has gone to.
  useLayoutEffect(() => {
    // When the dashboard opens, the focus stays at the start of the document.
    if (pagesOpened++ > 0 && !document.querySelector("dialog[open]"))
      heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${[title, ...crumbs.map(({ label }) => label).reverse()].join(" · ")} · Plosive`;
  }, [title]);
  return (
    <div class="page">
      {crumbs.length > 0 && (
        <nav aria-label="Breadcrumb" class="crumbs">
          <ol>
            {crumbs.map(({ label, to }) => (
              <li key={label}>{to === undefined ? label : <a href={href(to)}>{label}</a>}</li>
            ))}
            <li aria-current="page">{title}</li>
          </ol>
        </nav>
      )}
      <div class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1} class="break">
            {title}
          </h1>
          {note && <div class="page-note muted">{note}</div>}
        </div>
        <div class="row">
          <IconButton
            icon="code"
            label="API calls of this page"
            aria-expanded={isDrawerOpen.value}
            onClick={() => {
              isDrawerOpen.value = !isDrawerOpen.peek();
            }}
          />
          {actions}
        </div>
      </div>
      {children}
    </div>
  );
}
