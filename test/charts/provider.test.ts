// The settings of an OpenID provider in the chart: what they render, and which are refused with a reason.
import { describe, expect, it } from "vitest";
import { apiConfig } from "../../src/config.ts";
import { images, oidc, one, render, tenant } from "../support/chart.ts";

describe("the chart", () => {
  it("gives the API an OpenID provider with its secret as a file, whose settings the API accepts", async () => {
    const api = one(await render(...images, ...oidc), "Deployment", "plosive-api").spec!.template!.spec;
    const env = Object.fromEntries(api.containers[0]!.env!.map(({ name, value = "" }) => [name, value]));
    const { PLOSIVE_DATABASE_URL_FILE, PLOSIVE_WEBHOOK_SECRET_KEY_FILE, ...rest } = env;
    const inPlace = Object.fromEntries(
      Object.entries({ ...rest, PLOSIVE_DATABASE_URL: "postgres://x" }).filter(
        ([name]) => !/_KEY(_ID)?_FILE$/.test(name),
      ),
    );
    expect(apiConfig(inPlace)).toMatchObject({
      PLOSIVE_PUBLIC_URL: "https://example.com/plosive",
      PLOSIVE_OIDC_SCOPES: "openid profile email",
      PLOSIVE_OIDC_ROLES: [{ value: "audio, the team", tenant, role: "labeller" }],
    });
    expect(env.PLOSIVE_OIDC_CLIENT_SECRET_FILE).toBe("/etc/plosive/oidc/client-secret");
    expect(api.volumes).toContainEqual({ name: "oidc", secret: { secretName: "provider" } });
    const open = await render(...images, ...oidc, "api.dashboard.oidc.existingSecret=");
    expect(JSON.stringify(one(open, "Deployment", "plosive-api"))).not.toContain("/etc/plosive/oidc");
    expect(JSON.stringify(await render(...images))).not.toContain("PLOSIVE_OIDC");
  });

  it.each([
    ["clientId=", /clientId/],
    ["publicUrl=", /publicUrl/],
    ["roles=null", /roles/],
    ["roles[0].role=admin", /role/],
    ["roles[0].tenant=studio", /tenant/],
    ["issuer=http://login.example.com", /issuer/],
    ["scopes={profile}", /scopes/],
    ["clientSecret=x", /clientSecret/],
  ])("refuses an OpenID provider with %s", async (set, words) => {
    await expect(render(...images, ...oidc, `api.dashboard.oidc.${set}`)).rejects.toThrow(words);
  });
});
