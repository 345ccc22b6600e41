// Every page of the dashboard for everybody: axe in both themes, on a narrow screen and zoomed; the keys alone reach everything;
// the regions of the editor are there for screen readers.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../support/api.ts";
import { addAxe, faultsOf, looks } from "../support/axe.ts";
import { useDashboard } from "../support/dashboard-page.ts";
import { press, wave } from "../support/editor-page.ts";
import { type EveryPage, makeEveryPage, show } from "../support/every-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;
let client: Client;
let world: EveryPage;
beforeAll(async () => {
  client = await api.tenant();
  world = await makeEveryPage(api, client);
});

/** Selects the region of the file, so that its handles and fields are there. */
async function selectRegion(page: Page): Promise<void> {
  await page.getByText("4 open of 4 suggestions").waitFor();
  await page.getByRole("option", { name: /1\.5 to 1\.55 s/ }).click();
  await page.getByRole("slider", { name: "Start of click" }).waitFor();
}

describe("every page", () => {
  it("has no fault that axe finds, and is never wider than its window, in any look", async () => {
    const { page } = await dashboard.open(client);
    await addAxe(page);
    const found: string[] = [];
    for (const path of [...world.paths, "components"]) {
      await page.setViewportSize({ width: 1440, height: 900 });
      // The page of the components shows one that loads.
      if (path === "components") await page.goto(`${api.url}/dashboard/components`).then(() => addAxe(page));
      else await show(page, path);
      if (path === world.editor) await selectRegion(page);
      for (const look of looks)
        found.push(...(await faultsOf(page, look)).map((fault) => `/${path} ${fault}`));
    }
    expect(found).toEqual([]);
    await page.close();
  });

  it("is reached as a whole by the Tab key, which never stays in one place, and shows where it is", async () => {
    const { page } = await dashboard.open(client, "");
    await page.evaluate(`document.addEventListener("focusin", ({ target }) => {
      goals.delete(target);
      // The page gives the focus to its heading when its data arrive; the Tab key does not reach it.
      if (target.tabIndex < 0) return;
      const isMarked = (e) => e !== null && getComputedStyle(e).outlineStyle !== "none";
      if (!isMarked(target) && !isMarked(target.closest("label")) && !isMarked(target.nextElementSibling)) unseen.push(target.outerHTML.slice(0, 100));
    }); globalThis.unseen = []; globalThis.goals = new Set();`);
    const faults: string[] = [];
    for (const path of world.paths) {
      await show(page, path);
      if (path === world.editor) await selectRegion(page);
      const count = Number(
        await page.evaluate(`(() => {
        const isGoal = (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) &&
          !(e.type === "radio" && !e.checked && document.querySelector('[name="' + e.name + '"]:checked'));
        const place = document.querySelector("dialog:modal") ?? document;
        document.activeElement?.blur();
        getSelection().removeAllRanges();
        unseen = [];
        goals = new Set([...place.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(isGoal));
        return goals.size;
      })()`),
      );
      // Data that arrives later has places of its own, so one round may be too short.
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < count + 10; i++) await page.keyboard.press("Tab");
        if (await page.evaluate("[...goals].every((e) => !e.isConnected)")) break;
      }
      const left = (await page.evaluate(
        "[...goals].filter((e) => e.isConnected).map((e) => 'not reached: ' + e.outerHTML.slice(0, 160)).concat(unseen.map((html) => 'no sign of the focus: ' + html))",
      )) as string[];
      faults.push(...left.map((fault) => `/${path} ${fault}`));
      expect(count).toBeGreaterThan(2);
    }
    expect(faults).toEqual([]);
    await page.close();
  });
});

describe("the editor", () => {
  it("says in words what its pictures show", async () => {
    const { page } = await dashboard.open(client, world.editor);
    await selectRegion(page);
    // The scale of the spectrogram comes with the samples.
    await page.getByText("8 kHz").waitFor();
    await page.locator("option", { hasText: "Voices B" }).waitFor({ state: "attached" });
    const inWords = async (part: string) =>
      (await page.locator(part).ariaSnapshot()).replace(/\d+ \w+ \d{4}/g, "DAY");
    expect(await inWords(".editor-main")).toBe(
      `- application "Waveform of A name that is long, as names are when people describe what is in them":
  - group "Type of new regions":
    - text: Type of new regions
    - button "click" [pressed]
    - button "hum"
  - separator "Height of the waveform"
  - text: 8 kHz
  - slider "Start of click"
  - slider "End of click"
- group:
  - text: "Suggestions of a model: 4 open Inference job"
  - combobox "Inference job":
    - option "None"
    - option "Voices B, DAY, 3 detections"
    - option "A name that is long, as names are when people describe what is in them, DAY, 4 detections" [selected]
  - text: At least
  - slider "At least 0 %": "0"
  - text: 0 %
  - status: 4 open of 4 suggestions`,
    );
    const side = await inWords(".editor-side");
    for (const part of [
      'listbox "5 regions of the file"',
      'option "click, 1 to 1.04 s, suggestion, 90 %"',
      'option "click, 1.5 to 1.55 s" [selected]',
      'region "Selected region"',
      'combobox "Type"',
      'button "Mark as reviewed"',
    ])
      expect(side).toContain(part);
    await wave(page).focus();
    await press(page, "j");
    await poll(
      "the next region to be selected",
      async () => !(await inWords(".editor-side")).includes('option "click, 1.5 to 1.55 s" [selected]'),
    );
    await page.close();
  });
});
