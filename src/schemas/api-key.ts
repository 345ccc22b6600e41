// API keys in REST.
import { z } from "zod";
import { id, sentence, time } from "./rest.ts";

/** What a key may do. */
export const keyScopes = ["read", "write", "admin"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Whether a key with the scopes `own` may give these scopes to another key. An empty list means everything. */
export const mayGrant = (own: readonly string[], wanted: readonly KeyScope[]) =>
  own.length === 0 || (wanted.length > 0 && wanted.every((scope) => own.includes(scope)));

const scopes = z
  .array(z.enum(keyScopes))
  .describe(
    "What the key may do: `read` data, `write` (create, change, delete and run) data, `admin`: read and change API keys and webhooks. Empty: everything",
  )
  .meta({ examples: [["read"]] });

const members = {
  id: id("Id of the key"),
  name: sentence("Purpose of the key", "build server"),
  key_prefix: z
    .string()
    .length(8)
    .describe("First 8 characters of the key")
    .meta({ examples: ["pl_8Zr4t"] }),
  scopes,
  created_at: time("When the key was created"),
  expires_at: time("When the key expires; null: never").nullable(),
  last_used_at: time("When the key was last used, accurate to the minute; null: never").nullable(),
};

export const apiKey = z.object(members).meta({ id: "ApiKey" });

export const createdApiKey = z
  .object({ ...members, key: sentence("The key itself; no later response shows it", `pl_${"0".repeat(46)}`) })
  .meta({ id: "CreatedApiKey" });

export const createApiKeyBody = z
  .object({
    name: z
      .string()
      .min(1)
      .max(255)
      .describe("Purpose of the key")
      .meta({ examples: ["build server"] }),
    scopes: scopes
      .max(keyScopes.length)
      .refine((list) => new Set(list).size === list.length, "a scope is named twice")
      .meta({ uniqueItems: true })
      .default([]),
    expires_at: z.iso
      .datetime({ offset: true })
      .max(64)
      .nullish()
      .describe("When the key expires: a time in the future, with offset; absent: never")
      .meta({ examples: ["2099-12-31T23:59:59+01:00"] }),
  })
  .meta({ id: "CreateApiKey" });

export const rotateApiKeyBody = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(0)
      .describe("Seconds for which the old key keeps working; 0: it is revoked at once")
      .meta({ examples: [3600] }),
  })
  .meta({ id: "RotateApiKey" });
