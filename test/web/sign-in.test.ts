// Signing in through an OpenID provider in a real browser, at another site, behind a proxy that adds a path prefix: the role is
// shown and enforced, signing out ends at the provider, and what goes wrong is said.

import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "../../src/schemas/role.ts";
import { adminOf } from "../support/admin.ts";
import { addAxe } from "../support/axe.ts";
import { heading, newDataset, signIn, useDashboard } from "../support/dashboard-page.ts";
import { useProvider } from "../support/oidc-provider.ts";

const provider = useProxy();
const roles: { value: string; tenant: string; role: Role }[] = [];
const dashboard = useDashboard({
  settings: () => ({
    PLOSIVE_PUBLIC_URL: publicUrl(),
    PLOSIVE_OIDC_ISSUER: provider.issuer,
    PLOSIVE_OIDC_NAME: 'the "Studio" <login>',
    PLOSIVE_OIDC_CLIENT_ID: "public",
    PLOSIVE_OIDC_SCOPES: "openid profile groups",
    PLOSIVE_OIDC_ROLES: roles,
  }),
});
const { api } = dashboard;
const { admin } = adminOf(api);

let proxy: Server;
/** The provider is at 127.0.0.1, so for the browser this is another site. */
function publicUrl(): string {
  return `http://localhost:${(proxy.address() as AddressInfo).port}/audio`;
}

function useProxy() {
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      const { port } = new URL(api.url);
      const path = request.url?.replace(/^\/audio/, "");
      const options = { port, path, method: request.method, headers: request.headers };
      const forwarded = forward(options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded.once("error", () => response.destroy()));
      response.once("close", () => forwarded.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "localhost", resolve));
  });
  afterAll(() => proxy.closeAllConnections());
  return useProvider(publicUrl);
}

const link = (page: Page) => page.getByRole("link", { name: 'Sign in with the "Studio" <login>' });
/** The next page begins at the site of the provider, so the browser sends it no Strict cookie. */
async function signInThere(page: Page): Promise<void> {
  await link(page).click();
  await page.getByRole("link", { name: "Sign in there" }).click();
}
const signInHeading = (page: Page) => page.getByRole("heading", { name: "Sign in to Plosive" });
/** The first request of a page that is not signed in is refused, and the browser reports it. */
const unexpected = (complaints: readonly string[]) =>
  complaints.filter((text) => !text.includes("status of 401"));

beforeEach(() => {
  roles.splice(0);
  provider.user = { sub: "ada", name: "Ada Lovelace", groups: ["studio"] };
});

async function opened(role: Role, path = "") {
  const client = await api.tenant();
  roles.push({ value: "studio", tenant: client.tenantId, role });
  const watched = await dashboard.browser.page({ locale: "en-GB" });
  await watched.page.goto(`${publicUrl()}/dashboard/${path}`);
  return { client, ...watched };
}

describe("signing in through the provider", () => {
  it("comes back to the page, shows the user and the role, which is enforced, and signs out there too", async () => {
    const { client, page, complaints, requests } = await opened("viewer", "datasets?q=Studio");
    await newDataset(client);
    await signInThere(page);
    await heading(page, "Datasets").waitFor();
    await page.getByRole("link", { name: "Studio takes" }).waitFor();
    expect(page.url()).toBe(`${publicUrl()}/dashboard/datasets?q=Studio`);
    await page.locator(".account-button").getByText("Ada Lovelace · viewer").waitFor();
    const create = page.getByRole("button", { name: "Create dataset" });
    expect(await create.getAttribute("aria-disabled")).toBe("true");
    expect(await create.getAttribute("title")).toBe("Your role is “viewer”; this needs the role “owner”");
    const refused = await page.evaluate(
      `fetch("${publicUrl()}/dashboard/api/v1/datasets", { method: "POST", body: "{}" }).then((answer) => answer.json())`,
    );
    expect(refused).toMatchObject({ code: "insufficient_role" });
    expect((await page.context().cookies()).filter(({ name }) => name.includes("plosive"))).toEqual([
      expect.objectContaining({ name: "__Host-plosive_session", sameSite: "Strict", httpOnly: true }),
    ]);
    await page.reload();
    await heading(page, "Datasets").waitFor();
    await page.locator(".account-button").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign out there" }).click();
    await signInHeading(page).waitFor();
    expect(page.url()).toMatch(new RegExp(`^${publicUrl()}/dashboard/`));
    // The refused request, and the page of the provider, which has no icon.
    expect(unexpected(complaints).filter((text) => !/status of (403|404)/.test(text))).toEqual([]);
    const others = requests.filter((url) => !url.startsWith(publicUrl()) && !url.startsWith("data:"));
    expect(others.filter((url) => !url.startsWith(provider.issuer))).toEqual([]);
    await page.close();
  });

  it("lets a labeller make drafts, and neither publish nor upload", async () => {
    const { client, page } = await opened("labeller");
    const id = await newDataset(client);
    await signInThere(page);
    await heading(page, "Overview").waitFor();
    await page.goto(`${publicUrl()}/dashboard/datasets/${id}?tab=sets`);
    await page.getByRole("button", { name: "Create annotation set" }).first().click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Create/ })
      .click();
    await page.getByRole("button", { name: "Actions for version 1" }).first().click();
    const blocked = async (name: string) =>
      await page.getByRole("menuitem", { name }).first().getAttribute("aria-disabled");
    expect([await blocked("Publish"), await blocked("Delete draft"), await blocked("Copy into")]).toEqual([
      "true",
      "true",
      null,
    ]);
    const sets = await client.get(`/api/v1/datasets/${id}/annotation-sets`);
    expect(sets.body.total).toBe(1);
    await page.goto(`${publicUrl()}/dashboard/datasets/${id}?tab=sets`);
    const label = page.getByRole("button", { name: "Label version 1" });
    expect(await label.getAttribute("aria-disabled")).toBe(null);
    await page.close();
  });

  it("begins again on the same page when the session was ended, and can switch to another account", async () => {
    const { client, page } = await opened("owner", "settings/usage");
    const other = await api.tenant();
    await newDataset(other, "Of the other account");
    roles.push({ value: "studio", tenant: other.tenantId, role: "viewer" });
    await signInThere(page);
    await heading(page, "Usage").waitFor();
    await admin("sessions", "end", "--tenant", client.tenantId, "--subject", "ada");
    await page.getByText("Your session has ended. Sign in").waitFor();
    await link(page).click();
    await heading(page, "Usage").waitFor();
    await page.locator(".account-button").click();
    await page.getByRole("menuitem", { name: "Switch to test" }).click();
    await page.locator(".account-button").getByText("Ada Lovelace · viewer").waitFor();
    await page.goto(`${publicUrl()}/dashboard/datasets`);
    await page.getByRole("link", { name: "Of the other account" }).waitFor();
    await page.close();
  });
});

describe("the sign-in page", () => {
  it("says what was attempted and what to do, when the user has no role or the provider does not respond; keys work", async () => {
    const { client, page, complaints } = await opened("owner");
    provider.user = { sub: "eve", name: "Eve", groups: [] };
    await signInThere(page);
    const notice = page
      .getByRole("status")
      .filter({ hasText: 'Signing in with the "Studio" <login> failed.' });
    await notice
      .getByText(/no role in an account .* Ask its administrator .* Request id: [\w-]{36}/)
      .waitFor();
    expect(page.url()).toBe(`${publicUrl()}/dashboard/`);
    await page.goto(`${publicUrl()}/dashboard/sign-in#refused=provider_unavailable`);
    await page.getByText("It does not respond. Try again later, or sign in with an API key.").waitFor();
    await signIn(page, client.key);
    await heading(page, "Overview").waitFor();
    expect(unexpected(complaints)).toEqual([]);
    await page.close();
  });

  it("shows nothing of an address that somebody else has written, and has no fault that axe finds", async () => {
    const { page } = await dashboard.browser.page();
    await page.goto(
      `${publicUrl()}/dashboard/sign-in#refused=${encodeURIComponent("<b>Call 555")}&request=Call%20555`,
    );
    const text = await page.locator(".notice").innerText();
    expect(text).toContain("It took too long, or was begun in another window. Try again.");
    expect(text).not.toContain("555");
    await addAxe(page);
    const faults = await page.evaluate(
      `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) => violations.map(({ id }) => id))`,
    );
    expect(faults).toEqual([]);
    await page.close();
  });
});
