// A table of hostile strings in every name and message, on every page: shown as text, never run, never wider than the window, and
// never turning around the text beside them.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useDashboard } from "../support/dashboard-page.ts";
import { makeEveryPage, show } from "../support/every-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;

const hostile: readonly (readonly [what: string, text: string])[] = [
  [
    "elements",
    `"></script><script>hit()</script><svg onload=hit()><img src=x onerror="hit()">&lt;b&gt;&#x3c;i&#62;`,
  ],
  ["an attribute", `' onmouseover='hit()' autofocus onfocus='hit()' style='position:fixed;inset:0`],
  ["a URL and templates", "javascript:hit()//data:text/html,{{7*7}}$" + "{7*7}<%= 7*7 %>#{7*7}%7B%s%d%00"],
  ["a member of each object", "constructor"],
  ["the prototype", "__proto__"],
  ["an override of the direction", "\u202egnp.exe\u2067 \u05d0\u05d1 abc"],
  ["characters without a width", "\u200b\u200d\ufeff\u2060\u00ad"],
  ["255 characters without a space", "W".repeat(255)],
  [
    "control and combining characters",
    `a\u0001\u0007\u001b[31mb\u0085\u2028cZ${"\u0300\u0331\u0308".repeat(60)}`,
  ],
];

/** Pages without a name: the tenant's is in the navigation. */
const silent = /^$|usage|nowhere|new=1|tab=agreement|^inference\/new$/;

/** Text that follows the hostile one in the same line without an isolation between them, which could turn it around. */
const leaks = (text: string) => `(() => {
  const text = ${JSON.stringify(text)};
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(text);
    if (at === -1 || !node.parentElement.checkVisibility() || node.parentElement.closest(".visually-hidden")) continue;
    let box = node.parentElement;
    while (getComputedStyle(box).display === "inline" && getComputedStyle(box).unicodeBidi === "normal") box = box.parentElement;
    const range = document.createRange();
    range.setStart(node, at + text.length);
    range.setEnd(box, box.childNodes.length);
    if (range.toString().trim() !== "") found.push(box.outerHTML.slice(0, 300));
  }
  return found;
})()`;

async function faultsOf(page: Page, text: string): Promise<readonly string[]> {
  const faults = (await page.evaluate(`[
    ...violations.splice(0).map((directive) => "refused by " + directive),
    ...(hits > 0 ? ["a script ran"] : []),
    ...[...document.querySelectorAll("main img, main script, main iframe, main i:not([class]), [onerror], [onload], [onfocus], [onmouseover], [href^='javascript:' i], main [style*='fixed']")].map((e) => "an element: " + e.outerHTML.slice(0, 200)),
    ...(document.title.includes("49") ? ["a template ran"] : []),
  ]`)) as string[];
  for (const width of [1440, 320]) {
    await page.setViewportSize({ width, height: 720 });
    const excess = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
    if (excess > 0) faults.push(`${excess} px too wide at ${width}: ${await page.evaluate(widest)}`);
  }
  if (text.includes("\u202e"))
    faults.push(
      ...((await page.evaluate(leaks(text))) as string[]).map((html) => `turns around text: ${html}`),
    );
  return faults;
}

/** The innermost elements that reach beyond the window. */
const widest = `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth)
  .filter((e, _, all) => !all.some((other) => other !== e && e.contains(other))).map((e) => e.outerHTML.slice(0, 90) + " in " + e.parentElement.outerHTML.slice(0, 60)).slice(0, 4).join(" | ")`;

/** What the page shows, in its text and in its fields. */
const shown = `document.querySelector("main").textContent +
  [...document.querySelectorAll("main input, main textarea")].map(({ value }) => value).join()`;

describe("names and messages", () => {
  it.each(hostile)("with %s are text on every page", async (_, text) => {
    const client = await api.tenant();
    const { paths } = await makeEveryPage(api, client, text);
    const { page, complaints } = await dashboard.browser.page({ viewport: { width: 1440, height: 720 } });
    await page.addInitScript(`globalThis.hits = 0; globalThis.hit = () => hits++; globalThis.violations = [];
      addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => violations.push(effectiveDirective + " " + blockedURI))`);
    await page.goto(`${api.url}/dashboard/`);
    await page.getByLabel("API key", { exact: true }).fill(client.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("main").getByRole("heading", { name: "Overview" }).waitFor();
    complaints.splice(0);
    const faults: string[] = [];
    for (const path of paths) {
      await show(page, path);
      if (!silent.test(path))
        await poll(
          `the text on /${path}`,
          async () => String(await page.evaluate(shown)).includes(text),
          10_000,
        ).catch((error) => faults.push(`/${path}: ${error.message}`));
      faults.push(...(await faultsOf(page, text)).map((fault) => `/${path}: ${fault}`));
    }
    // Dialogs and menus show names too.
    await show(page, "datasets");
    await page
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText(text).first().waitFor({ state: "attached" });
    faults.push(...(await faultsOf(page, text)).map((fault) => `the dialog: ${fault}`));
    await page.keyboard.press("Escape");
    // So do the short messages.
    await page
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.locator(".toast").getByText(text).waitFor({ state: "attached" });
    faults.push(...(await faultsOf(page, text)).map((fault) => `the message: ${fault}`));
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByText(text).first().waitFor({ state: "attached" });
    faults.push(...(await faultsOf(page, text)).map((fault) => `the palette: ${fault}`));
    expect([faults, complaints]).toEqual([[], []]);
    await page.close();
  });
});
