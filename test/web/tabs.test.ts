// Several tabs of one browser share one session and one event stream: none acts on an account that it does not show, and none
// misses a change when another one closes.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { heading, newDataset, signIn, useDashboard } from "../support/dashboard-page.ts";

const dashboard = useDashboard();
const { api } = dashboard;

async function secondTab(page: Page, path: string): Promise<Page> {
  const opened = page.waitForEvent("popup");
  await page.evaluate(`void open("${api.url}/dashboard/${path}")`);
  const tab = await opened;
  await heading(tab).waitFor();
  return tab;
}

const accountOf = (page: Page) => page.locator(".account-button");
const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in to Plosive" });

describe("signing in to another account in a second tab", () => {
  it("signs the first one out, and shows the other account in it", async () => {
    const [one, other] = [await api.tenant(), await api.tenant()];
    await newDataset(one, "Of the one");
    await newDataset(other, "Of the other");
    const { page } = await dashboard.open(one, "datasets");
    await page.getByRole("link", { name: "Of the one" }).waitFor();
    const tab = await secondTab(page, "settings/usage");
    await accountOf(tab).click();
    // Until the new document is there, the old one shows a sign-in page too; a key typed there is lost.
    await Promise.all([
      tab.waitForURL(/\/dashboard\/$/),
      tab.getByRole("menuitem", { name: "Sign out" }).click(),
    ]);
    await signInHeading(page).waitFor();
    await signInHeading(tab).waitFor();
    await signIn(tab, other.key);
    await heading(page, "Overview").waitFor();
    await page.goto(`${api.url}/dashboard/datasets`);
    await page.getByRole("link", { name: "Of the other" }).waitFor();
    expect(await page.getByText("Of the one").count()).toBe(0);
    await page.context().close();
  });

  it("lets the first one change nothing there, even if it has not heard of it", async () => {
    const [one, other] = [await api.tenant(), await api.tenant()];
    const { page } = await dashboard.open(one, "datasets");
    await page.keyboard.press("c");
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("For the one");
    // A tab that was frozen hears nothing.
    await page.route("**/events/stream", (route) => route.abort());
    const answer = await page.context().request.post(`${api.url}/dashboard/session`, {
      data: { api_key: other.key },
      headers: { "Sec-Fetch-Site": "same-origin" },
    });
    expect(answer.status()).toBe(201);
    await page.getByRole("dialog").getByRole("button", { name: "Create dataset" }).click();
    await heading(page, "Overview").waitFor();
    for (const client of [one, other]) expect((await client.get("/api/v1/datasets")).body.total).toBe(0);
    await page.context().close();
  });
});

describe("the event stream", () => {
  it("goes on in another tab, which reads again what it shows", async () => {
    const client = await api.tenant();
    const { page } = await dashboard.open(client, "datasets");
    const tab = await secondTab(page, "datasets");
    await tab.getByText("No datasets yet").waitFor();
    // What happens between the end of the first stream and the begin of the second is in neither.
    const again = tab.waitForResponse(/\/api\/v1\/datasets\?/);
    await page.goto("about:blank");
    await again;
    await tab.context().close();
  });
});
