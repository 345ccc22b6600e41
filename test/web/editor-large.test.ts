// The editor with a file of two hours and 2,000 regions. It measures with Chromium's tracing.
import { expect, it } from "vitest";
import { useDashboard } from "../support/dashboard-page.ts";
import { editorOf, longestTaskMs, longestTasks, moveAbout, rows, wave } from "../support/editor-page.ts";

const dashboard = useDashboard();
const { addLongFile, world } = editorOf(dashboard);

it("a file of two hours with 2,000 regions opens and moves without long tasks", async () => {
  const made = await world();
  const file = await addLongFile(made);
  const { page } = await dashboard.open(made.client, made.path(file));
  await page.getByRole("listbox", { name: "2,000 regions of the file" }).waitFor();
  await wave(page).focus();
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "toplevel"] });
  await moveAbout(page);
  const longest = longestTasks((await browser?.stopTracing()) ?? Buffer.from("{}"));
  expect(longest.length).toBeGreaterThan(20);
  expect(longest[0]).toBeLessThan(longestTaskMs);
  expect(await rows(page).count()).toBeLessThan(60);
  await page.close();
});
