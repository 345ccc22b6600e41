// The session of the dashboard (docs/dashboard.md). Not part of the REST interface, so the OpenAPI description does not
// have it.
import { z } from "zod";
import { keyScopes } from "./api-key.ts";
import { id, sentence, time } from "./rest.ts";

export const dashboardSession = z.object({
  tenant_id: id("Id of the account"),
  tenant_name: sentence("Name of the account", "North Studio"),
  key_id: id("Id of the key that the session is bound to"),
  key_prefix: sentence("First 8 characters of the key", "pl_8Zr4t"),
  key_name: sentence("Purpose of the key", "labelling"),
  scopes: z.array(z.enum(keyScopes)).describe("What the key may do; empty: everything"),
  key_expires_at: time("When the key expires; null: never").nullable(),
  expires_at: time("When the session ends at the latest"),
});

export const signInBody = z
  .object({
    api_key: z.string().optional().describe("An API key of the account"),
    sign_in_token: z.string().optional().describe("The token of a link of plosive-admin sign-in-link"),
  })
  .refine(
    ({ api_key, sign_in_token }) => (api_key === undefined) !== (sign_in_token === undefined),
    "name either api_key or sign_in_token",
  );
