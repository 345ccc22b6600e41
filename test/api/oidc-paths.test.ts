// The paths of the OpenID provider: their methods, and that pages of other sites get nowhere.
import { describe, expect, it } from "vitest";
import { serveApi, testDeps, testSettings } from "../support/api.ts";
import { send } from "../support/dashboard.ts";
import { refusalIn, useOidc } from "../support/oidc-sign-in.ts";

const oidc = useOidc();
const { api, provider } = oidc;

describe("a page of another site", () => {
  it("begins no sign-in, which could switch the account, and ends none", async () => {
    for (const site of ["cross-site", "same-site"]) {
      const begun = await oidc.start("?tenant=x", { "Sec-Fetch-Site": site });
      expect([site, begun.status, refusalIn(begun)]).toEqual([site, 303, "cross_site_request"]);
      expect(begun.headers["set-cookie"]).toBeUndefined();
      const ended = await send(api.url, "GET", "/dashboard/oidc/end", {
        headers: { "Sec-Fetch-Site": site },
      });
      expect(ended.headers.location).toMatch(/^\.\.\//);
    }
    for (const site of ["same-origin", "none"]) {
      const begun = await oidc.start("", { "Sec-Fetch-Site": site });
      expect(begun.headers.location).toContain(provider.issuer);
    }
  });
});

describe("the paths of the provider", () => {
  it("take GET only, and are unknown without a provider", async () => {
    for (const method of ["POST", "HEAD", "DELETE"]) {
      const headers = { "Sec-Fetch-Site": "same-origin" };
      expect((await fetch(`${api.url}/dashboard/oidc/callback`, { method, headers })).status).toBe(405);
    }
    expect((await send(api.url, "GET", "/dashboard/oidc/other")).status).toBe(404);
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config: testSettings() });
    for (const path of ["start", "callback", "end"])
      expect((await send(own.url, "GET", `/dashboard/oidc/${path}`)).status).toBe(404);
    await own.stop();
  });
});
