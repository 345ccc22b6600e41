// Where the focus goes when the part of the page that has it goes away. Without it, the keys of the editor do nothing.
import { useLayoutEffect } from "preact/hooks";

/**
 * Gives the focus to `opener`, or to the editor or the page's heading if that has gone. Leaves it where it is unless it is in
 * `going` or nowhere.
 */
export function giveFocusBack(opener: Element | null, going?: Element | null): void {
  const others = ["[data-wave]", ".page h1"].map((part) => document.querySelector(part));
  for (const goal of [opener, ...others]) {
    const now = document.activeElement;
    const isLost = now === null || now === document.body || going?.contains(now);
    if (isLost && goal instanceof HTMLElement) goal.focus({ preventScroll: true });
  }
}

/** When the component goes, what had the focus before it gets it back. `part` is its element. */
export function useFocusBack(part: { readonly current: Element | null }): void {
  useLayoutEffect(() => {
    const [opener, going] = [document.activeElement, part.current];
    return () => giveFocusBack(opener, going);
  }, []);
}
