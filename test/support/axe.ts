// axe on a page in a browser.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Evaluated by the browser's protocol, because the content security policy refuses added scripts. */
export const addAxe = (page: Page) => page.evaluate(`${axe}; undefined`);

export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  readonly height: number;
}

/** Light and dark, on a wide screen, on a narrow one, and zoomed to 200 % in a window of 1440 by 900 pixels. */
export const looks: readonly Look[] = (["light", "dark"] as const).flatMap((colorScheme) =>
  [
    [1440, 900],
    [320, 720],
    [720, 450],
  ].map(([width = 0, height = 0]) => ({ colorScheme, width, height })),
);

/** Faults of the page in this look, in words: what axe finds, and a page that is wider than its window. */
export async function faultsOf(page: Page, { colorScheme, width, height }: Look): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height });
  const excess = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
  const found = (await page.evaluate(
    `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => id + " (" + impact + "): " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`,
  )) as string[];
  const wide = excess > 0 ? [`the page is ${excess} px too wide`] : [];
  return [...wide, ...found].map((fault) => `${colorScheme} ${width}: ${fault}`);
}
