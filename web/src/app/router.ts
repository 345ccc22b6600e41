// The address bar as a signal. Pages read `location`, and change it with navigate() and setQuery(); ordinary links work
// too, because clicks on links into the dashboard are handled here.
import { computed, signal } from "@preact/signals";
import { basePath, href } from "./base.ts";

const read = () => ({
  path: `/${window.location.pathname.slice(basePath.length)}`,
  search: window.location.search,
});

export const location = signal(read());
export const path = computed(() => location.value.path);
export const query = computed(() => new URLSearchParams(location.value.search));

/** Why leaving the present page would lose something; undefined: it would not. Set by pages with unsaved input. */
export const unsaved = signal<string | undefined>(undefined);

/** Unsaved input belongs to a page, or to a tab of one. */
const pageOf = ({ pathname, searchParams }: URL) => `${pathname} ${searchParams.get("tab") ?? ""}`;

export function navigate(to: string, { replace = false } = {}): void {
  const before = location.peek();
  const target = new URL(href(to), window.location.href);
  if (target.href === window.location.href) return;
  const isOtherPage = pageOf(target) !== pageOf(new URL(window.location.href));
  if (isOtherPage && !mayLeave()) return;
  window.history[replace ? "replaceState" : "pushState"](null, "", target);
  location.value = read();
  if (location.value.path !== before.path) window.scrollTo(0, 0);
}

export type Navigate = typeof navigate;

/** Returns a function that says whether the user is still on the present page, and on its tab. */
export function here(): () => boolean {
  const page = () => pageOf(new URL(window.location.href));
  const from = page();
  return () => page() === from;
}

/** For the end of a request: `navigate`, unless the user has gone to another page since. */
export function navigateFromHere(): Navigate {
  const isHere = here();
  return (to, options) => {
    if (isHere()) navigate(to, options);
  };
}

/** Changes parameters of the present page's query. Undefined and "" remove one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const next = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(path.peek() + (text === "" ? "" : `?${text}`), { replace: true });
}

function mayLeave(): boolean {
  const reason = unsaved.peek();
  if (reason !== undefined && !window.confirm(`${reason}\n\nLeave the page and lose it?`)) return false;
  unsaved.value = undefined;
  return true;
}

export function startRouter(): void {
  let shown = window.location.href;
  window.addEventListener("popstate", () => {
    const isOtherPage = pageOf(new URL(shown)) !== pageOf(new URL(window.location.href));
    if (isOtherPage && !mayLeave()) {
      window.history.pushState(null, "", shown);
      return;
    }
    location.value = read();
  });
  location.subscribe(() => {
    shown = window.location.href;
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    // A place on the same page, such as the content: the browser moves the focus there.
    if (link.hash !== "" && link.pathname === window.location.pathname) return;
    if (link.origin !== window.location.origin || !link.pathname.startsWith(basePath)) return;
    event.preventDefault();
    navigate(`/${link.pathname.slice(basePath.length)}${link.search}`);
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved.peek() !== undefined) event.preventDefault();
  });
}
