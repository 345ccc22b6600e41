// axe on every page of the dashboard, in both themes, on a narrow screen and zoomed; no page is wider than its window.
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { newDataset, useDashboard } from "../support/dashboard-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;

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
      const { page } = await dashboard.open(client, "", { ...look, bypassCSP: true });
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
