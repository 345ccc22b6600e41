// The rules of the configuration that concern several variables.
import { expect, it } from "vitest";
import { adminConfig, apiConfig } from "../src/config.ts";

const env = { PLOSIVE_DATABASE_URL: "postgres://x", PLOSIVE_S3_ENDPOINT: "http://s3.example" };
const key = { PLOSIVE_S3_ACCESS_KEY_ID: "id" };
const secret = { PLOSIVE_S3_SECRET_ACCESS_KEY: "secret" };

const tenant = "018F2A60-0000-7000-8000-000000000001";
const provider = {
  PLOSIVE_OIDC_ISSUER: "https://login.example.com/realms/studio",
  PLOSIVE_OIDC_CLIENT_ID: "plosive",
  PLOSIVE_PUBLIC_URL: "https://example.com/plosive/",
  PLOSIVE_OIDC_ROLES: JSON.stringify([{ value: "studio", tenant, role: "owner" }]),
};

it("takes an OpenID provider with all that it needs", () => {
  expect(apiConfig(env).PLOSIVE_OIDC_ISSUER).toBeUndefined();
  expect(apiConfig({ ...env, ...provider })).toMatchObject({
    PLOSIVE_PUBLIC_URL: "https://example.com/plosive",
    PLOSIVE_OIDC_ROLES: [{ value: "studio", tenant: tenant.toLowerCase(), role: "owner" }],
  });
  for (const name of Object.keys(provider).filter((name) => name !== "PLOSIVE_OIDC_ISSUER"))
    expect(() => apiConfig({ ...env, ...provider, [name]: "" })).toThrow("needs PLOSIVE_OIDC_CLIENT_ID");
});

it.each([
  ["PLOSIVE_OIDC_ISSUER", "http://login.example.com"],
  ["PLOSIVE_OIDC_ISSUER", "http://localhost.example.com"],
  ["PLOSIVE_OIDC_ISSUER", "http://localhost:80@login.example.com"],
  ["PLOSIVE_OIDC_SCOPES", "profile"],
  ["PLOSIVE_PUBLIC_URL", "https://example.com/?x"],
  ["PLOSIVE_OIDC_ROLES", "studio: owner"],
  ["PLOSIVE_OIDC_ROLES", "{}"],
  ["PLOSIVE_OIDC_ROLES", `[{"value":"","tenant":"${tenant}","role":"owner"}]`],
  ["PLOSIVE_OIDC_ROLES", `[{"value":"x","tenant":"studio","role":"owner"}]`],
  ["PLOSIVE_OIDC_ROLES", `[{"value":"x","tenant":"${tenant}","role":"admin"}]`],
])("refuses %s=%s", (name, value) => {
  expect(() => apiConfig({ ...env, ...provider, [name]: value })).toThrow(name);
});

it("takes both keys of the object store or, for a workload identity, neither", () => {
  expect(apiConfig({ ...env, ...key, ...secret }).PLOSIVE_S3_ACCESS_KEY_ID).toBe("id");
  expect(apiConfig(env).PLOSIVE_S3_ACCESS_KEY_ID).toBeUndefined();
  for (const half of [key, secret]) expect(() => apiConfig({ ...env, ...half })).toThrow("set both");
  expect(adminConfig({ ...env, ...key })).toEqual({ PLOSIVE_DATABASE_URL: "postgres://x" });
});
