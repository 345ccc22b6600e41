// Keys: single letters and sequences such as "g d". They can be switched off (WCAG 2.1.4), do nothing while somebody types
// or a dialog is open, and the list of them is the help dialog.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { keep, recall } from "./kept.ts";
import { session } from "./session.ts";

export interface Shortcut {
  /** "a", "?", "g d", or "mod+k", which also works while somebody types. */
  readonly keys: string;
  readonly what: string;
  readonly run: () => void;
}

export const shortcuts = signal<readonly Shortcut[]>([]);
export const areOn = signal(recall("shortcuts") !== "off");

export function switchShortcuts(on: boolean): void {
  areOn.value = on;
  keep("shortcuts", on ? null : "off");
}

/** `keys` undefined: no shortcut now. */
export function useShortcut(keys: string | undefined, what: string, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  // Before the page is painted: whoever sees it may press the key.
  useLayoutEffect(() => {
    if (keys === undefined) return;
    const shortcut = { keys, what, run: () => latest.current() };
    shortcuts.value = [...shortcuts.peek(), shortcut];
    return () => {
      shortcuts.value = shortcuts.peek().filter((other) => other !== shortcut);
    };
  }, [keys, what]);
}

const sequenceMs = 1_200;

export function startShortcuts(): void {
  let begun = "";
  let begunAt = 0;
  document.addEventListener("keydown", (event) => {
    if (session.peek() === undefined || event.defaultPrevented || event.isComposing || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.metaKey || event.ctrlKey) return run(`mod+${key}`, event);
    if (!areOn.peek() || isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    const sequence = event.timeStamp - begunAt < sequenceMs && begun !== "" ? `${begun} ${key}` : key;
    begun = "";
    if (run(sequence, event)) return;
    if (shortcuts.peek().some(({ keys }) => keys.startsWith(`${key} `))) {
      begun = key;
      begunAt = event.timeStamp;
    }
  });
}

/** The shortcut that was added last wins: a page's own before the shell's. */
function run(keys: string, event: Event): boolean {
  const found = shortcuts.peek().findLast((shortcut) => shortcut.keys === keys);
  if (found === undefined) return false;
  event.preventDefault();
  found.run();
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  const isText = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select";
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(isText));
}
