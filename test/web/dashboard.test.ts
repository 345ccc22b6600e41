// The dashboard in a real browser, on the API that serves it: sign in, datasets, keys, the drawer of API
// calls, and nothing secret in the browser.
import type { Route } from "playwright-core";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { execute } from "../support/api.ts";
import {
  focused,
  heading,
  newDataset,
  pressSequence,
  signIn,
  useDashboard,
} from "../support/dashboard-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;

describe("signing in", () => {
  it("refuses a wrong key with words, and opens the page that was asked for with a right one", async () => {
    const client = await api.tenant();
    const { page, complaints } = await dashboard.browser.page();
    await page.goto(`${api.url}/dashboard/settings/usage`);
    await signIn(page, `pl_${"0".repeat(46)}`);
    await page.getByText("Check that the key is complete").waitFor();
    expect(await page.getByLabel("API key", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await signIn(page, client.key);
    await heading(page, "Usage").waitFor();
    await page.getByText("Annotations per set").waitFor();
    // The refused requests are errors of the console too.
    expect(complaints.filter((text) => !text.includes("status of 401"))).toEqual([]);
    await page.close();
  });

  it("leaves nothing secret in the browser, and keeps the session over a reload", async () => {
    const client = await api.tenant();
    const { page } = await dashboard.open(client);
    const kept = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
    expect(kept).not.toContain(client.key);
    expect(kept).not.toContain("plosive_session");
    await page.reload();
    await heading(page, "Overview").waitFor();
    await page.getByRole("button", { name: "Account" }).or(page.locator(".account-button")).first().click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Plosive" }).waitFor();
    await page.close();
  });
});

describe("datasets", () => {
  it("are created by a key that is pressed as soon as the page shows its heading", async () => {
    const { page } = await dashboard.open(await api.tenant(), "datasets");
    await page.reload({ waitUntil: "commit" });
    await page.evaluate(`new Promise((done) => {
      const press = () => {
        if (document.querySelector("main h1") === null) return;
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "c", bubbles: true, cancelable: true }));
        done();
      };
      new MutationObserver(press).observe(document, { childList: true, subtree: true });
      press();
    })`);
    await page.getByRole("dialog", { name: "Create a dataset" }).waitFor();
    await page.context().close();
  });

  it("are created, renamed and deleted with the keyboard alone", async () => {
    const client = await api.tenant();
    const { page, complaints } = await dashboard.open(client, "datasets");
    await page.getByText("No datasets yet").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "Create a dataset" }).waitFor();
    await page.keyboard.type("Evening takes");
    await page.keyboard.press("Tab");
    await page.keyboard.type("click, hum");
    await page.keyboard.press("Enter");
    await heading(page, "Evening takes").waitFor();
    await page.getByText("Not ready to train yet").waitFor();

    await pressSequence(page, "g", "d");
    await page.getByRole("link", { name: "Evening takes" }).waitFor();
    const actions = page.getByRole("button", { name: "Actions for Evening takes" });
    await actions.focus();
    await page.keyboard.press("Enter");
    await focused(page, "Edit");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Edit the dataset" }).waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Morning takes");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Morning takes" }).waitFor();

    await page.getByRole("button", { name: "Actions for Morning takes" }).focus();
    await page.keyboard.press("Enter");
    await focused(page, "Edit");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Delete the dataset" });
    await dialog.waitFor();
    expect(await dialog.getByRole("button", { name: "Delete dataset" }).isDisabled()).toBe(true);
    await page.keyboard.type("Morning takes");
    await page.keyboard.press("Enter");
    await page.getByText("No datasets yet").waitFor();
    expect((await client.get("/api/v1/datasets")).body.total).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("keep search and order in the address", async () => {
    const client = await api.tenant();
    for (const name of ["take 10", "take 9", "other"]) await newDataset(client, name);
    const { page } = await dashboard.open(client, "datasets?q=take&sort=name");
    const names = () => page.locator("tbody .row-link").allInnerTexts();
    await poll("the rows", async () => (await names()).length === 2);
    expect(await names()).toEqual(["take 9", "take 10"]);
    await page.getByRole("link", { name: "take 9" }).focus();
    await page.keyboard.press("ArrowDown");
    await focused(page, "take 10");
    await page.getByRole("button", { name: "Name" }).click();
    await poll("the other order", async () => (await names())[0] === "take 10");
    expect(new URL(page.url()).search).toBe("?q=take&sort=-name");
    await page.reload();
    await poll("the rows", async () => (await names()).join() === "take 10,take 9");
    await page.close();
  });
});

describe("Settings > API Keys", () => {
  it("creates a key that is shown once and works, and revokes it", async () => {
    const client = await api.tenant();
    const { page, complaints } = await dashboard.open(client, "settings/api-keys");
    await page.getByText("This session").waitFor();
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.locator("dialog input:focus").waitFor();
    await page.keyboard.type("build server");
    await page.keyboard.press("Enter");
    const key = await page.locator("[data-secret]").innerText();
    const row = page.getByRole("row", { name: /build server/ });
    await row.getByText("Never used").waitFor();
    expect((await api.as(key).get("/api/v1/datasets")).status).toBe(200);
    await page.getByRole("button", { name: "I have copied it" }).click();
    expect(await page.locator("body").innerText()).not.toContain(key);

    await row.getByRole("button", { name: "Actions for the key build server" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await poll("the row to go", async () => (await row.count()) === 0);
    expect((await api.as(key).get("/api/v1/datasets")).status).toBe(401);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("warns before the key of the session is revoked, and shows the signed-out page then", async () => {
    const client = await api.tenant();
    const { page } = await dashboard.open(client, "settings/api-keys");
    await page.getByRole("button", { name: "Actions for the key test" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByText("You are signed in with this key").waitFor();
    const revoke = page.getByRole("button", { name: "Revoke and sign out" });
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByLabel("I have another key").check();
    await revoke.click();
    await page.getByText("You have revoked the key").waitFor();
    expect((await client.get("/api/v1/datasets")).status).toBe(401);
    await page.close();
  });

  it("stays signed in when a refusal of the session before arrives late", async () => {
    const client = await api.tenant();
    const other = (await client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const keys = (await client.get("/api/v1/auth/api-keys")).body as { id: string; name: string }[];
    await newDataset(client);
    const { page } = await dashboard.open(client, "models");
    const { promise: held, resolve: hold } = Promise.withResolvers<Route>();
    await page.route(/\/api\/v1\/training-jobs/, hold, { times: 1 });
    await page.getByRole("link", { name: "Training" }).click();
    const late = await held;
    await client.delete(`/api/v1/auth/api-keys/${keys.find(({ name }) => name === "test")?.id}`);
    await page.getByText("Your session has ended").waitFor();
    await signIn(page, other.key);
    await page.locator(".account-button").waitFor();
    const refused = page.waitForResponse((response) => response.url().includes("/training-jobs"));
    await late.fulfill({ status: 401, json: { detail: "The session has ended", code: "invalid_api_key" } });
    await refused;
    // Data that arrive after the refusal; a signed-out user sees the sign-in page.
    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("link", { name: "Studio takes" }).waitFor();
    expect(await page.getByText("Your session has ended").count()).toBe(0);
    await page.close();
  });

  it("says so when a key is revoked elsewhere, and goes on at the same place with another one", async () => {
    const client = await api.tenant();
    const other = (await client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const { page } = await dashboard.open(client, "settings/usage");
    const own = (await client.get("/api/v1/auth/api-keys")).body.find(
      ({ name }: { name: string }) => name === "test",
    );
    await api.as(other.key).delete(`/api/v1/auth/api-keys/${own.id}`);
    // The event stream ends with the session, so the page knows without a click.
    await page.getByText("Your session has ended. Sign in").waitFor();
    await signIn(page, other.key);
    await heading(page, "Usage").waitFor();
    await page.close();
  });

  it("does not offer what the scopes of the key do not allow", async () => {
    const client = await api.tenant();
    const { key } = (await client.post("/api/v1/auth/api-keys", { name: "reader", scopes: ["read"] })).body;
    const { page } = await dashboard.open(api.as(key), "settings/api-keys");
    await page.getByText("Your key may not manage keys").waitFor();
    await page.getByRole("link", { name: "Datasets" }).click();
    await heading(page, "Datasets").waitFor();
    const create = page.getByRole("button", { name: /Create dataset/ }).first();
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await page.close();
  });
});

describe("Settings > Webhooks", () => {
  it("creates a webhook, shows its secret once, and lists and repeats its deliveries", async () => {
    const client = await api.tenant();
    const { page, complaints } = await dashboard.open(client, "settings/webhooks");
    await page.getByText("No webhooks yet").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "Create a webhook" }).waitFor();
    await page.keyboard.type("https://hooks.example.com/plosive");
    await page.getByLabel("Only these:").check();
    await page.getByLabel("model.created").check();
    await page.getByRole("button", { name: "Create webhook" }).last().click();
    expect(await page.locator("[data-secret]").innerText()).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "I have copied it" }).click();
    const [webhook] = (await client.get("/api/v1/webhooks")).body.items;
    expect(webhook).toMatchObject({ url: "https://hooks.example.com/plosive", types: ["model.created"] });

    await page.getByRole("link", { name: webhook.url }).click();
    await page.getByText("No deliveries yet").waitFor();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page.getByRole("row", { name: /webhook\.test.*Pending/ }).waitFor();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("The delivery is sent again").waitFor();
    // Nothing tells the page about deliveries: it reads the list again, also with a filter that was chosen meanwhile.
    await page.getByLabel("Status", { exact: true }).selectOption("pending");
    await page
      .getByRole("row", { name: /Pending/ })
      .first()
      .waitFor();
    await execute(
      api.db,
      sql.fragment`update webhook_deliveries set status = 'delivered', next_attempt_at = null, last_status = 200
        where webhook_id = ${webhook.id}`,
    );
    await page.getByText("No such deliveries").waitFor();
    await page.getByLabel("Status", { exact: true }).selectOption("");
    await page
      .getByRole("row", { name: /Delivered/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Disable" }).click();
    await page.locator(".page-note").getByText("Disabled").waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe("a dialog", () => {
  it("gives the focus back to the button that opened it", async () => {
    const { page } = await dashboard.open(await api.tenant(), "datasets");
    const opener = page.getByRole("main").getByRole("button", { name: "Create dataset" }).first();
    for (const close of ["Escape", "Cancel"]) {
      await opener.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      if (close === "Escape") await page.keyboard.press(close);
      else await page.getByRole("dialog").getByRole("button", { name: close }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
    }
    await page.close();
  });

  it("that is open when the session ends leaves the focus to the sign-in page, and goes on afterwards", async () => {
    const client = await api.tenant();
    const other = (await client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const keys = (await client.get("/api/v1/auth/api-keys")).body as { id: string; name: string }[];
    const { page } = await dashboard.open(client, "datasets");
    const opener = page.getByRole("main").getByRole("button", { name: "Create dataset" }).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("Takes");
    await api.as(other.key).delete(`/api/v1/auth/api-keys/${keys.find(({ name }) => name === "test")?.id}`);
    await page.getByText("Your session has ended").waitFor();
    await poll("the focus on the key", () =>
      page.getByLabel("API key", { exact: true }).evaluate((input) => input === document.activeElement),
    );
    await page.keyboard.type(other.key);
    await page.keyboard.press("Enter");
    expect(await page.getByRole("dialog").getByLabel("Name", { exact: true }).inputValue()).toBe("Takes");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.close();
  });
});

describe("a search field", () => {
  it("keeps what is typed while an earlier part of it is searched for", async () => {
    const client = await api.tenant();
    await newDataset(client);
    const { page } = await dashboard.open(client, "datasets");
    const search = page.getByRole("searchbox", { name: "Search by name" });
    // The page learns of the first part of the search after the next key.
    await page.evaluate(`globalThis.hooked = new Promise((resolve) => {
      const { pushState, replaceState } = history;
      const typed = (real) => function (...args) {
        const input = document.querySelector("input[type=search]");
        input.value += " ta";
        input.dispatchEvent(new InputEvent("input", { bubbles: true }));
        Object.assign(history, { pushState, replaceState });
        const result = real.apply(this, args);
        resolve();
        return result;
      };
      history.pushState = typed(pushState);
      history.replaceState = typed(replaceState);
    }); undefined`);
    await search.fill("Studio");
    await page.evaluate("hooked");
    await page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))");
    await search.pressSequentially("kes");
    await poll(
      "the search",
      () => page.url().endsWith("q=Studio+takes") || page.url().endsWith("q=Studio%20takes"),
    );
    expect(await search.inputValue()).toBe("Studio takes");
    await page.close();
  });
});

describe("the drawer of API calls", () => {
  it("shows the requests of the page as commands that work", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await dashboard.open(client, `datasets/${id}`);
    await page.getByRole("button", { name: "API calls of this page" }).click();
    const drawer = page.getByRole("complementary", { name: "API calls" });
    await drawer.getByRole("button", { name: /^GET \/datasets\/… 200/ }).click();
    const text = await drawer.locator("pre").innerText();
    expect(text).toBe(`curl -H "X-API-Key: $API_KEY" \\\n  '${api.url}/api/v1/datasets/${id}'`);
    await drawer.getByRole("tab", { name: "TypeScript" }).click();
    expect(await drawer.locator("pre").innerText()).toContain('client.GET("/api/v1/datasets/{dataset_id}"');
    await page.close();
  });
});
