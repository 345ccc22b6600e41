// The dashboard behind a proxy: below a path prefix, and where TLS ends at the proxy. Every page, sound, downloads, the event
// stream and the commands of the drawer work there.
import { readFileSync } from "node:fs";
import { createServer, request as forward, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { numberEvents } from "../../src/db/event.ts";
import { heading, signIn, useDashboard } from "../support/dashboard-page.ts";
import { press, wave } from "../support/editor-page.ts";
import { makeEveryPage, show } from "../support/every-page.ts";
import { poll } from "../support/poll.ts";
import { makeCertificate } from "../support/receiver.ts";

const name = "plosive.test";
const dashboard = useDashboard({
  settings: () => ({ PLOSIVE_TRUSTED_PROXIES: 1 }),
  hosts: [name],
});
const { api } = dashboard;

/** A proxy that removes the path prefix and says how the request arrived. */
async function startProxy(prefix: string, isSecure: boolean) {
  const { port } = new URL(api.url);
  const listener: RequestListener = (request, response) => {
    const { url = "", method, headers } = request;
    if (!url.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
    const added = {
      "x-forwarded-proto": isSecure ? "https" : "http",
      "x-forwarded-for": request.socket.remoteAddress,
    };
    const forwarded = forward(
      { port, path: url.slice(prefix.length), method, headers: { ...headers, ...added } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(forwarded.once("error", () => response.destroy()));
    response.once("close", () => forwarded.destroy());
  };
  const server = isSecure ? createSecureServer(makeCertificate(name), listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: proxyPort } = server.address() as AddressInfo;
  return {
    base: `${isSecure ? `https://${name}` : "http://127.0.0.1"}:${proxyPort}${prefix}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("behind a proxy", () => {
  it.each([
    ["with a path prefix", "/tools/voice", false],
    ["that ends TLS", "", true],
    ["that ends TLS, with a path prefix", "/voice", true],
  ])("%s, every page works", async (_, prefix, isSecure) => {
    const client = await api.tenant();
    const world = await makeEveryPage(api, client);
    const { base, stop } = await startProxy(prefix, isSecure);
    const { page, complaints, requests } = await dashboard.browser.page({ ignoreHTTPSErrors: true });
    // An address deep inside is asked for first.
    await page.goto(`${base}/dashboard/datasets/${world.datasetId}?tab=types`);
    await signIn(page, client.key);
    const cookie = await poll("the session", async () => (await page.context().cookies(base))[0]);
    await heading(page).waitFor();
    expect(cookie).toMatchObject({ name: "__Host-plosive_session", secure: true, httpOnly: true, path: "/" });
    complaints.splice(0);
    for (const path of world.paths) {
      await show(page, path);
      expect(new URL(page.url()).pathname.startsWith(`${prefix}/dashboard/`)).toBe(true);
    }

    await show(page, world.editor);
    await wave(page).focus();
    await press(page, "Home", " ");
    await poll(
      "the time to move",
      async () => !/^0:00\.0/.test(await page.locator(".editor-time").innerText()),
    );
    await press(page, " ");
    await show(page, `inference/${world.jobs[0]}`);
    await page.getByRole("button", { name: "Play click at 0:02.000" }).click();
    await poll(
      "the sound",
      async () => Number(await page.evaluate("document.querySelector('audio').currentTime")) > 1.6,
    );
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "CSV" }).click(),
    ]);
    expect(readFileSync(await download.path(), "utf8")).toContain("click,");

    await page.getByRole("link", { name: "Overview" }).click();
    await page.waitForURL(`${base}/dashboard/`);
    await poll("an event of the stream", async () => {
      await client.post("/api/v1/auth/api-keys", { name: "later" });
      while ((await numberEvents(api.pool))?.more !== false);
      return (await page.locator(".feed .is-new").count()) > 0;
    });
    await page.getByRole("button", { name: "API calls of this page" }).click();
    await page.locator(".drawer pre").getByText(`${base}/api/v1/`, { exact: false }).waitFor();
    await page.reload();
    await heading(page, "Overview").waitFor();

    const store = api.storage.publicOrigin;
    const strangers = requests.filter(
      (url) => !url.startsWith(`${base}/dashboard/`) && !url.startsWith(store) && !/^(data|blob):/.test(url),
    );
    // The test's object store has no TLS.
    const others = complaints.filter((text) => !text.startsWith("Mixed Content"));
    expect([strangers, others]).toEqual([[], []]);
    await page.close();
    await stop();
  });
});
