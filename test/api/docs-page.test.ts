// /docs in a real browser: it shows the description, sends requests with a key, loads nothing from elsewhere, and can
// be disabled.
import { describe, expect, it } from "vitest";
import { testSettings, useApi } from "../support/api.ts";
import { useBrowser } from "../support/browser.ts";

const api = useApi();
const browser = useBrowser();

describe("the /docs page", () => {
  it.each(["light", "dark"] as const)(
    "shows every operation in %s colours, without console errors and without requests to other origins",
    async (colorScheme) => {
      const { page, complaints, requests } = await browser.page({ colorScheme });
      await page.goto(`${api.url}/docs`);
      await page.getByText("/api/v1/training-jobs", { exact: true }).first().waitFor();
      const description = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: object };
      const operations = Object.values(description.paths).flatMap((path) => Object.keys(path));
      expect(await page.locator(".opblock").count()).toBe(operations.length);
      expect(await page.evaluate("document.documentElement.className")).toBe(
        colorScheme === "dark" ? "dark-mode" : "",
      );
      expect(requests.filter((url) => !url.startsWith(`${api.url}/`) && !url.startsWith("data:"))).toEqual(
        [],
      );
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  it("sends requests with the key that the user entered, and forgets the key when the page is loaded again", async () => {
    const client = await api.tenant();
    await client.post("/api/v1/datasets", { name: "seen through the page" });
    const { page, complaints } = await browser.page();
    await page.goto(`${api.url}/docs#/Datasets/listDatasets`);
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.locator(".auth-container input").fill(client.key);
    await page.locator(".auth-container").getByRole("button", { name: "Apply credentials" }).click();
    await page.getByRole("button", { name: "Close" }).click();
    const operation = page.locator("#operations-Datasets-listDatasets");
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    await operation.getByText("seen through the page").first().waitFor();
    expect(complaints).toEqual([]);
    const kept = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
    expect(kept).not.toContain(client.key);

    await page.reload();
    await operation.getByRole("button", { name: "Try it out" }).click();
    const refused = page.waitForResponse((response) =>
      response.url().startsWith(`${api.url}/api/v1/datasets`),
    );
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = await refused;
    expect([answer.status(), await answer.request().headerValue("x-api-key")]).toEqual([401, null]);
    await page.close();
  });

  it("has a content security policy without inline scripts, other origins and frames", async () => {
    const answer = await fetch(`${api.url}/docs`);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(await answer.text()).not.toMatch(/<script>|\son\w+=|style=/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("answers 304 for a current ETag, 405 for other methods and 404 for other names", async () => {
    const first = await fetch(`${api.url}/docs/swagger-ui.css`);
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${api.url}/docs/swagger-ui.css`, { headers: { "If-None-Match": etag } });
    expect([first.status, again.status]).toEqual([200, 304]);
    const posted = await fetch(`${api.url}/docs`, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    for (const name of ["", "toString", "swagger-ui.css.map", "..%2fpackage.json", "%2e%2e/app.ts"])
      expect((await fetch(`${api.url}/docs/${name}`)).status, name).toBe(404);
  });
});

describe("with PLOSIVE_DOCS_ENABLED=false", () => {
  const quiet = useApi({ config: { ...testSettings(), PLOSIVE_DOCS_ENABLED: false } });

  it("the API serves neither the page nor the description", async () => {
    for (const path of ["/docs", "/docs/start.js", "/openapi.json", "/api/v1/openapi.json"]) {
      const answer = await fetch(quiet.url + path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.json()).toEqual({ detail: "Not Found", code: "route_not_found" });
    }
  });
});
