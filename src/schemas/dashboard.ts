// The session of the dashboard (docs/dashboard.md). Not part of the REST interface, so the OpenAPI description does not
// have it.
import { z } from "zod";
import { id, sentence, time } from "./rest.ts";
import { permissions, roles } from "./role.ts";

export const dashboardSession = z.object({
  tenant_id: id("Id of the account"),
  tenant_name: sentence("Name of the account", "North Studio"),
  key_id: id("Id of the key that the session is bound to; null: it is bound to a user").nullable(),
  key_prefix: sentence("First 8 characters of the key", "pl_8Zr4t").nullable(),
  key_name: sentence("Purpose of the key", "labelling").nullable(),
  user_name: sentence("Name of the user; null: the session is bound to a key", "Ada Lovelace").nullable(),
  role: z.enum(roles).nullable().describe("Role of the user"),
  accounts: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .describe("Other accounts in which the user has a role"),
  scopes: z.array(z.enum(permissions)).describe("What the key or the user may do; empty: everything"),
  key_expires_at: time("When the key expires; null: never, or there is no key").nullable(),
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
