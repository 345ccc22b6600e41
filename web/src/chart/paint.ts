// Colours of the tokens for canvases, which know neither custom properties nor light-dark().
import { effect } from "@preact/signals";
import { theme } from "../app/theme.ts";

/** The present value of a token such as "--accent", as the element shows it. */
export function colorOf(host: Element, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const seriesColors = 6;

/** The token of the nth colour for curves or types; after the last one they begin anew. */
export const seriesToken = (n: number) => `--series-${(n % seriesColors) + 1}`;

/** Calls `paint` after each change of the colours. Returns a function that ends this. */
export function onColors(paint: () => void): () => void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // The effect of app/theme.ts must have set the attribute first.
  const later = () => requestAnimationFrame(paint);
  dark.addEventListener("change", later);
  let isFirst = true;
  const stop = effect(() => {
    void theme.value;
    if (!isFirst) later();
    isFirst = false;
  });
  return () => {
    dark.removeEventListener("change", later);
    stop();
  };
}
