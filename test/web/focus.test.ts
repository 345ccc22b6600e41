// The focus in a real browser: it never gets lost when the part of the page that has it goes away, and Escape closes no dialog that
// holds something.
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Client } from "../support/api.ts";
import { focused, heading, newDataset, signIn, useDashboard } from "../support/dashboard-page.ts";
import { editorOf, press, wave } from "../support/editor-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;
const { world, openEditor } = editorOf(dashboard);

const hasFocus = (goal: Locator) => goal.evaluate((element) => element === document.activeElement);
/** What the page does for a key press has been done. */
const nextFrame = (page: Page) =>
  page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))");

describe("the focus", () => {
  it("comes back from the drawer of API calls, also when its opener has gone", async () => {
    const { page } = await dashboard.open(await api.tenant(), "datasets");
    const opener = page.getByRole("button", { name: "API calls of this page" });
    const drawer = page.getByRole("complementary", { name: "API calls" });
    for (const close of ["Escape", "Close"]) {
      await opener.focus();
      await page.keyboard.press("Enter");
      await focused(page, "API calls");
      if (close === "Escape") await page.keyboard.press(close);
      else await drawer.getByRole("button", { name: "Close API calls" }).click();
      await drawer.waitFor({ state: "detached" });
      expect(await hasFocus(opener)).toBe(true);
    }
    await opener.click();
    await page.getByRole("link", { name: "Models", exact: true }).click();
    await focused(page, "Models");
    await drawer.getByRole("button", { name: "Close API calls" }).click();
    await drawer.waitFor({ state: "detached" });
    expect(await hasFocus(heading(page, "Models"))).toBe(true);
    await page.close();
  });

  it("comes back from a secret that was copied", async () => {
    const { page } = await dashboard.open(await api.tenant(), "settings/api-keys");
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.locator("dialog input:focus").waitFor();
    await page.keyboard.type("build server");
    await page.keyboard.press("Enter");
    const secret = page.locator(".secret");
    await poll("the focus on the secret", () => hasFocus(secret));
    await page.getByRole("button", { name: "I have copied it" }).click();
    await secret.waitFor({ state: "detached" });
    await focused(page, "Create API key");
    await page.close();
  });

  it("is in the editor again after a sign-in in place of a session that ended", async () => {
    const made = await world();
    const other = (await made.client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const { page } = await openEditor(made);
    await revokeOwnKey(made.client, api.as(other.key));
    await page.getByText("Your session has ended. Sign in").waitFor();
    await signIn(page, other.key);
    await poll("the focus on the waveform", () => hasFocus(wave(page)));
    await press(page, "[", ".", "]");
    await poll("the label", async () => (await api.as(other.key).get(made.labels)).body.length === 1);
    await page.close();
  });
});

async function revokeOwnKey(client: Client, by: Client): Promise<void> {
  const keys = (await client.get("/api/v1/auth/api-keys")).body as { id: string; name: string }[];
  await by.delete(`/api/v1/auth/api-keys/${keys.find(({ name }) => name === "test")?.id}`);
}

describe("Escape", () => {
  it("never closes a dialog that holds something, however often it is pressed", async () => {
    const made = await world();
    const { page } = await openEditor(made);
    await press(page, "?");
    const dialog = page.getByRole("dialog", { name: "Keys of the editor" });
    const undo = dialog.getByRole("button", { name: /^Undo/ });
    await undo.click();
    const done = dialog.getByRole("button", { name: "Done" });
    await done.focus();
    for (let n = 0; n < 4; n++) {
      await page.keyboard.press("Escape");
      await nextFrame(page);
      expect([n, await dialog.isVisible(), await hasFocus(done)]).toEqual([n, true, true]);
    }
    // Nothing is held any more.
    await undo.click();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await hasFocus(wave(page))).toBe(true);
    await press(page, "?");
    await dialog.waitFor();
    await page.close();
  });
});

describe("a search field", () => {
  it("forgets what was typed last when the page clears the search", async () => {
    const client = await api.tenant();
    await newDataset(client);
    const { page } = await dashboard.open(client, "datasets?q=none");
    await page.getByRole("button", { name: "Show all datasets" }).waitFor();
    // The field's timer would end before one that begins later.
    await page.evaluate(`new Promise((done) => {
      const input = document.querySelector("input[type=search]");
      input.value += " such";
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      [...document.querySelectorAll("button")].find(({ innerText }) => innerText === "Show all datasets").click();
      setTimeout(done, 200);
    })`);
    await page.getByRole("link", { name: "Studio takes" }).waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("");
    expect(new URL(page.url()).search).toBe("");
    await page.close();
  });
});
