// The rules of the configuration that concern several variables.
import { expect, it } from "vitest";
import { adminConfig, apiConfig } from "../src/config.ts";

const env = { PLOSIVE_DATABASE_URL: "postgres://x", PLOSIVE_S3_ENDPOINT: "http://s3.example" };
const key = { PLOSIVE_S3_ACCESS_KEY_ID: "id" };
const secret = { PLOSIVE_S3_SECRET_ACCESS_KEY: "secret" };

it("takes both keys of the object store or, for a workload identity, neither", () => {
  expect(apiConfig({ ...env, ...key, ...secret }).PLOSIVE_S3_ACCESS_KEY_ID).toBe("id");
  expect(apiConfig(env).PLOSIVE_S3_ACCESS_KEY_ID).toBeUndefined();
  for (const half of [key, secret]) expect(() => apiConfig({ ...env, ...half })).toThrow("set both");
  expect(adminConfig({ ...env, ...key })).toEqual({ PLOSIVE_DATABASE_URL: "postgres://x" });
});
