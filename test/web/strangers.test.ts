// Pages of other sites, and addresses with the ids of other accounts, get nowhere in the dashboard.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { useDashboard } from "../support/dashboard-page.ts";
import { makeEveryPage, show } from "../support/every-page.ts";
import { poll } from "../support/poll.ts";

const dashboard = useDashboard();
const { api } = dashboard;

describe("an address with ids of another account", () => {
  it("shows that there is nothing, on every page, and nothing of the other account", async () => {
    const secret = "Unreleased album";
    const owner = await makeEveryPage(api, await api.tenant(), secret);
    const client = await api.tenant();
    await makeEveryPage(api, client);
    const { page, complaints } = await dashboard.open(client);
    const seen: string[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/api/") && response.status() < 300)
        void response.text().then(
          (text) => text.includes(secret) && seen.push(response.url()),
          () => {},
        );
    });
    for (const path of owner.ofResources) {
      await show(page, path);
      const main = page.getByRole("main");
      const words = "it belongs to another account";
      await poll(`“${words}” on /${path}`, async () => (await main.innerText()).includes(words), 20_000);
      expect(await main.innerText()).not.toContain(secret);
      expect(await page.title()).not.toContain(secret);
    }
    expect(seen).toEqual([]);
    expect(complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
    await page.close();
  });
});

describe("a page of another site", () => {
  it("can neither act as the person who is signed in, nor read, nor show the dashboard in itself", async () => {
    const client = await api.tenant();
    const { page } = await dashboard.open(client);
    const datasets = `${api.url}/dashboard/api/v1/datasets`;
    const body = JSON.stringify({ name: "made by a stranger" });
    const other = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(`<!doctype html><iframe name="inside-1"></iframe><iframe name="inside-2"></iframe><iframe id="framed" src="${api.url}/dashboard/"></iframe>
        <form id="form" method="post" enctype="text/plain" target="inside-1" action="${datasets}"><input name='${body.slice(0, -1)},"x":"' value='"}'></form>
        <form id="end" method="post" target="inside-2" action="${api.url}/dashboard/session"></form>`);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    // Another site than 127.0.0.1.
    const site = `http://localhost:${(other.address() as AddressInfo).port}/`;
    const [attacker] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate(`void open("${site}")`),
    ]);
    await attacker.waitForLoadState();
    const outcome = (await attacker.evaluate(`(async () => {
      const tried = (url, init) => fetch(url, { credentials: "include", ...init }).then((r) => r.type + " " + r.status, () => "refused");
      const json = { method: "POST", body: ${JSON.stringify(body)}, headers: { "Content-Type": "application/json" } };
      const plain = { method: "POST", mode: "no-cors", body: ${JSON.stringify(body)} };
      const loads = (tag, url) => new Promise((resolve) => {
        const element = document.createElement(tag);
        element.onload = () => resolve("loaded"); element.onerror = () => resolve("refused");
        element.src = url; document.body.append(element);
      });
      for (const id of ["form", "end"]) document.getElementById(id).submit();
      return {
        read: await tried("${datasets}"),
        json: await tried("${datasets}", json),
        plain: await tried("${datasets}", plain),
        end: await tried("${api.url}/dashboard/session", { method: "DELETE" }),
        script: await loads("script", "${datasets}"),
        image: await loads("img", "${datasets}"),
      };
    })()`)) as Record<string, unknown>;
    expect(outcome).toEqual({
      read: "refused",
      json: "refused",
      plain: expect.stringMatching(/refused|opaque 0/),
      end: "refused",
      script: "refused",
      image: "refused",
    });
    await attacker.evaluate(`void (globalThis.opened = open("${api.url}/dashboard/"))`);
    await poll(
      "the window to be out of reach",
      async () => (await attacker.evaluate("opened.closed")) === true,
    );
    const framed = attacker
      .frames()
      .find((frame) => frame !== attacker.mainFrame() && !frame.name().startsWith("inside"));
    await poll("the frame to be refused", () => /^(chrome-error:|about:neterror)/.test(framed?.url() ?? ""));
    // The person is still signed in, and nothing was made.
    await show(page, "datasets");
    await page.getByText("No datasets yet").waitFor();
    expect((await client.get("/api/v1/datasets")).body.total).toBe(0);
    await page.context().close();
    await new Promise((resolve) => other.close(resolve));
  });
});
