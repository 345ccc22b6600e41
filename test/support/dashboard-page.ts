// The dashboard, built from its present source, on the file's own API, and pages of it in a browser. Called at the top of
// test files: `const dashboard = useDashboard()`, then `await dashboard.open(client, "datasets")` inside the tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { ApiSettings } from "../../src/config.ts";
import { type Client, type TestApi, testSettings, useApi } from "./api.ts";
import { type TestBrowser, useBrowser, type Watched } from "./browser.ts";
import { buildDashboard, dashboardFolder } from "./dashboard-build.ts";
import { poll } from "./poll.ts";

export interface TestDashboard {
  readonly api: TestApi;
  readonly browser: TestBrowser;
  /** The folder of the built pages. */
  readonly dist: string;
  /** A folder for the test's own files. */
  readonly folder: string;
  /** A page at this path of the dashboard, signed in. */
  open(client: Client, path?: string, options?: Parameters<TestBrowser["page"]>[0]): Promise<Watched>;
}

export function useDashboard({
  settings = () => ({}),
  hosts = [],
}: {
  /** Read when the API starts. */
  settings?: () => Partial<ApiSettings>;
  /** Names that the browser resolves to 127.0.0.1. */
  hosts?: readonly string[];
} = {}): TestDashboard {
  const folder = mkdtempSync(join(tmpdir(), "plosive-web-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const dist = dashboardFolder();
  const api = useApi({
    get config() {
      return testSettings({ PLOSIVE_DASHBOARD_DIR: dist, ...settings() });
    },
  });
  const browser = useBrowser(hosts);
  beforeAll(async () => {
    await buildDashboard(dist);
    await api.storage.allowPages();
  });
  return {
    api,
    browser,
    dist,
    folder,
    async open(client, path = "", options = {}) {
      const watched = await browser.page({ locale: "en-GB", ...options });
      await watched.page.goto(`${api.url}/dashboard/${path}`);
      await signIn(watched.page, client.key);
      // The sign-in page has a heading too.
      await watched.page.getByRole("heading", { name: "Sign in to Plosive" }).waitFor({ state: "detached" });
      await heading(watched.page).waitFor();
      // The browser reports that there was no session at first.
      watched.complaints.splice(0);
      return watched;
    },
  };
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
}

export const heading = (page: Page, name?: string) =>
  page.getByRole("main").getByRole("heading", { level: 1, ...(name === undefined ? {} : { name }) });

/** Waits until the control with this text has the focus. */
export const focused = (page: Page, text: string) =>
  poll(
    `the focus on ${text}`,
    async () => (await page.evaluate("document.activeElement.innerText")) === text,
  );

/** Presses keys one after the other without waiting for the page: the dashboard forgets the first of two after 1.2 s. */
export const pressSequence = async (page: Page, ...keys: readonly string[]) => {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
};

export const artifactTypes = [{ name: "click" }, { name: "hum" }];

export const newDataset = async (client: Client, name = "Studio takes"): Promise<string> =>
  (await client.post("/api/v1/datasets", { name, artifact_types: artifactTypes })).body.id;
