// The dashboard in a real browser, on the API that serves it: sign in, datasets, uploads, keys, live changes, signed-out
// state; accessibility of each page; hostile names; nothing secret in the browser.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { sql } from "slonik";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { numberEvents } from "../../src/db/event.ts";
import { type Client, execute, testSettings, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { useBrowser, type Watched } from "../support/browser.ts";
import { poll } from "../support/poll.ts";

const folder = mkdtempSync(join(tmpdir(), "plosive-web-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const dist = join(folder, "dist");
const api = useApi({ config: testSettings({ PLOSIVE_DASHBOARD_DIR: dist }) });
const browser = useBrowser();

beforeAll(async () => {
  const root = join(import.meta.dirname, "../../web");
  const configFile = join(root, "vite.config.ts");
  await build({ root, configFile, logLevel: "error", build: { outDir: dist, emptyOutDir: true } });
  await api.storage.allowPages();
});

const types = [{ name: "click" }, { name: "hum" }];
const newDataset = async (client: Client, name = "Studio takes"): Promise<string> =>
  (await client.post("/api/v1/datasets", { name, artifact_types: types })).body.id;

/** A page that is signed in, at the given path. */
async function open(
  client: Client,
  path = "",
  options?: Parameters<typeof browser.page>[0],
): Promise<Watched> {
  const watched = await browser.page({ locale: "en-GB", ...options });
  await watched.page.goto(`${api.url}/dashboard/${path}`);
  await signIn(watched.page, client.key);
  await heading(watched.page).waitFor();
  // The browser reports that there was no session at first.
  watched.complaints.splice(0);
  return watched;
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Waits until the control with this text has the focus. */
const focused = (page: Page, text: string) =>
  poll(
    `the focus on ${text}`,
    async () => (await page.evaluate("document.activeElement.innerText")) === text,
  );

const heading = (page: Page, name?: string) =>
  page.getByRole("main").getByRole("heading", { level: 1, ...(name === undefined ? {} : { name }) });

/** Files of different lengths in a folder. */
function files(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `take-${i + 1}.wav`);
    writeFileSync(path, wav({ durationMs: 200 + i }));
    return path;
  });
}

const chooseFiles = (page: Page, paths: readonly string[]) =>
  page.locator("input[data-files]").setInputFiles([...paths]);

describe("signing in", () => {
  it("refuses a wrong key with words, and opens the page that was asked for with a right one", async () => {
    const client = await api.tenant();
    const { page, complaints } = await browser.page();
    await page.goto(`${api.url}/dashboard/settings/usage`);
    await signIn(page, `pl_${"0".repeat(46)}`);
    await page.getByText("Check that the key is complete").waitFor();
    expect(await page.getByLabel("API key", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await signIn(page, client.key);
    await heading(page, "Usage").waitFor();
    await page.getByText("Annotations per set").waitFor();
    // The refused requests are errors of the console too.
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
    await page.close();
  });

  it("leaves nothing secret in the browser, and keeps the session over a reload", async () => {
    const client = await api.tenant();
    const { page } = await open(client);
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
  it("are created, renamed and deleted with the keyboard alone", async () => {
    const client = await api.tenant();
    const { page, complaints } = await open(client, "datasets");
    await page.getByText("No datasets yet").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "Create a dataset" }).waitFor();
    await page.keyboard.type("Evening takes");
    await page.keyboard.press("Tab");
    await page.keyboard.type("click, hum");
    await page.keyboard.press("Enter");
    await heading(page, "Evening takes").waitFor();
    await page.getByText("Not ready to train yet").waitFor();

    await page.keyboard.press("g");
    await page.keyboard.press("d");
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
    const { page } = await open(client, "datasets?q=take&sort=name");
    const names = () => page.locator("tbody .row-link").allInnerTexts();
    await poll("the rows", async () => (await names()).length === 2);
    expect(await names()).toEqual(["take 9", "take 10"]);
    await page.getByRole("button", { name: "Name" }).click();
    await poll("the other order", async () => (await names())[0] === "take 10");
    expect(new URL(page.url()).search).toBe("?q=take&sort=-name");
    await page.reload();
    await poll("the rows", async () => (await names()).join() === "take 10,take 9");
    await page.close();
  });

  it("show a change of somebody else to the artifact types instead of overwriting it", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await open(client, `datasets/${id}?tab=types`);
    await page.getByLabel("Name", { exact: true }).first().fill("mouth click");
    await client.patch(`/api/v1/datasets/${id}`, { artifact_types: [...types, { name: "breath" }] });
    await page.getByRole("button", { name: "Save types" }).click();
    await page.getByText("Somebody else changed this meanwhile").waitFor();
    const names = (await client.get(`/api/v1/datasets/${id}`)).body.artifact_types;
    expect(names.map(({ name }: { name: string }) => name)).toEqual(["click", "hum", "breath"]);
    await page.close();
  });

  it("show hostile names as text", async () => {
    const client = await api.tenant();
    const name = `<img src=x onerror="document.title='hit'">{{7*7}}\u202e`;
    const id = await newDataset(client, name);
    const { page, complaints } = await open(client, "datasets");
    await page.getByText("<img src=x", { exact: false }).first().waitFor();
    await page.goto(`${api.url}/dashboard/datasets/${id}`);
    await page.getByRole("heading", { level: 1 }).getByText("{{7*7}}").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    // The stream ended with the first page.
    expect(complaints.filter((text) => !text.includes("/events/stream"))).toEqual([]);
    await page.close();
  });
});

describe("uploads", () => {
  it("send many files with their digests, and the dataset counts them by the event stream", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page, complaints } = await open(client, `datasets/${id}/upload`);
    await chooseFiles(page, files(7));
    await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
    const { items } = (await client.get(`/api/v1/datasets/${id}/audio`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(Array(7).fill("processing"));
    expect(items.every((item: { checksum_sha256: string | null }) => item.checksum_sha256 !== null)).toBe(
      true,
    );

    await page.getByRole("link", { name: "Back to the dataset" }).click();
    const row = page.getByRole("row", { name: /take-1\.wav/ });
    await row.getByText("Processing").waitFor();
    const file = items.find(({ filename }: { filename: string }) => filename === "take-1.wav");
    await execute(
      api.db,
      sql.fragment`update audio_files set status = 'ready', embedding_status = 'completed', duration_ms = 200
        where id = ${file.id}`,
    );
    while ((await numberEvents(api.pool))?.more !== false);
    await row.getByText("Embedded").waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("say why a file is refused, and leave out what is no audio", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await open(client, `datasets/${id}/upload`);
    const [broken, text] = [join(folder, "broken.wav"), join(folder, "notes.txt")];
    writeFileSync(broken, "this is no audio at all, but it has the name of some");
    writeFileSync(text, "notes");
    await chooseFiles(page, [broken, text]);
    await page.getByText("Left out 1 file").waitFor();
    await page.getByRole("heading", { name: "1 file failed" }).waitFor();
    const [file] = (await client.get(`/api/v1/datasets/${id}/audio`)).body.items;
    await page.locator(".upload.failed").getByText(file.error_message, { exact: false }).waitFor();
    await page.getByRole("button", { name: "Cancel the upload of broken.wav" }).click();
    await poll(
      "the file to be deleted",
      async () => (await client.get(`/api/v1/datasets/${id}/audio`)).body.total === 0,
    );
    await page.close();
  });

  it("go on after a reload when the same files are chosen again, without a second record", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await open(client, `datasets/${id}/upload`);
    const store = new URL(await api.storage.presignGet("x", { expiresSeconds: 60, audience: "client" }))
      .origin;
    await page.route(`${store}/**`, () => {});
    const chosen = files(2);
    await chooseFiles(page, chosen);
    await poll(
      "both records",
      async () => (await client.get(`/api/v1/datasets/${id}/audio`)).body.total === 2,
    );
    await poll("the list to be kept", async () =>
      String(await page.evaluate("JSON.stringify(localStorage)")).includes("take-2.wav"),
    );
    await page.unroute(`${store}/**`);
    page.on("dialog", (dialog) => dialog.accept());
    await page.reload();
    await page.getByText("2 uploads were interrupted").waitFor();
    await chooseFiles(page, chosen);
    await page.getByRole("heading", { name: "All files are uploaded" }).waitFor();
    expect(await page.getByText("interrupted").count()).toBe(0);
    const { items } = (await client.get(`/api/v1/datasets/${id}/audio`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(["processing", "processing"]);
    await page.close();
  });
});

describe("Settings > API Keys", () => {
  it("creates a key that is shown once and works, and revokes it", async () => {
    const client = await api.tenant();
    const { page, complaints } = await open(client, "settings/api-keys");
    await page.getByText("This session").waitFor();
    await page.getByRole("button", { name: "Create API key" }).click();
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
    const { page } = await open(client, "settings/api-keys");
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

  it("says so when a key is revoked elsewhere, and goes on at the same place with another one", async () => {
    const client = await api.tenant();
    const other = (await client.post("/api/v1/auth/api-keys", { name: "other" })).body;
    const { page } = await open(client, "settings/usage");
    const own = (await client.get("/api/v1/auth/api-keys")).body.find(
      ({ name }: { name: string }) => name === "test",
    );
    await api.as(other.key).delete(`/api/v1/auth/api-keys/${own.id}`);
    // The event stream ends with the session, so the page knows without a click.
    await page.getByText("Your session has ended").waitFor();
    await signIn(page, other.key);
    await heading(page, "Usage").waitFor();
    await page.close();
  });

  it("does not offer what the scopes of the key do not allow", async () => {
    const client = await api.tenant();
    const { key } = (await client.post("/api/v1/auth/api-keys", { name: "reader", scopes: ["read"] })).body;
    const { page } = await open(api.as(key), "settings/api-keys");
    await page.getByText("Your key may not manage keys").waitFor();
    await page.getByRole("link", { name: "Datasets" }).click();
    await heading(page, "Datasets").waitFor();
    const create = page.getByRole("button", { name: /Create dataset/ }).first();
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    await page.close();
  });
});

describe("the drawer of API calls", () => {
  it("shows the requests of the page as commands that work", async () => {
    const client = await api.tenant();
    const id = await newDataset(client);
    const { page } = await open(client, `datasets/${id}`);
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

describe("accessibility", () => {
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  const looks = [
    { colorScheme: "light", viewport: { width: 1440, height: 900 } },
    { colorScheme: "dark", viewport: { width: 1440, height: 900 } },
    { colorScheme: "light", viewport: { width: 320, height: 720 } },
    // 200 % zoom of a window of 1440 pixels.
    { colorScheme: "dark", viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  ] as const;

  it.each(looks)(
    "no page has a fault that axe finds, and none is wider than its window: %j",
    async (look) => {
      const client = await api.tenant();
      const id = await newDataset(
        client,
        "A name that is long, as names of datasets are when people describe what is in them",
      );
      await client.post(`/api/v1/datasets/${id}/annotation-sets`, {});
      await client.post("/api/v1/auth/api-keys", {
        name: "reader",
        scopes: ["read"],
        expires_at: "2099-01-01T00:00:00Z",
      });
      // The content security policy would refuse axe.
      const { page } = await open(client, "", { ...look, bypassCSP: true });
      const paths = [
        "",
        "datasets",
        "datasets?new=1",
        `datasets/${id}`,
        `datasets/${id}?tab=types`,
        `datasets/${id}?tab=sets`,
        `datasets/${id}/upload`,
        "settings/api-keys",
        "settings/api-keys?new=1",
        "settings/webhooks",
        "settings/webhooks?new=1",
        "settings/usage",
        "components",
        "nowhere",
      ];
      const found: string[] = [];
      for (const path of paths) {
        await page.goto(`${api.url}/dashboard/${path}`);
        await page.locator("main h1, main h2").first().waitFor();
        await poll(
          "the page",
          async () => (await page.locator("[aria-busy=true]").count()) === 0 || path === "components",
        );
        const width = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (Number(width) > 0) found.push(`/${path} is ${width} px too wide`);
        await page.addScriptTag({ path: axe });
        const faults = (await page.evaluate(
          `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
          violations.map(({ id, impact, nodes }) => id + " (" + impact + "): " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`,
        )) as string[];
        found.push(...faults.map((fault) => `/${path}: ${fault}`));
      }
      expect(found).toEqual([]);
      await page.close();
    },
  );
});
