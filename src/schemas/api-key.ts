// API keys in REST (interface specification 2.7, 4.9 to 4.11).
import { z } from "zod";
import { id, sentence, time } from "./rest.ts";

const members = {
  id: id("Id of the key"),
  name: sentence("What the key is for", "build server"),
  key_prefix: z
    .string()
    .length(8)
    .describe("First 8 characters of the key")
    .meta({ examples: ["pl_8Zr4t"] }),
  scopes: z
    .array(z.string())
    .describe("Always empty: a key opens everything of its tenant")
    .meta({ examples: [[]] }),
  created_at: time("When the key was made"),
  expires_at: time("When it stops working; null: never").nullable(),
  last_used_at: time("When it was last used, to the minute; null: never").nullable(),
};

export const apiKey = z.object(members).meta({ id: "ApiKey" });

export const createdApiKey = z
  .object({ ...members, key: sentence("The key itself, shown only now", `pl_${"0".repeat(46)}`) })
  .meta({ id: "CreatedApiKey" });

export const createApiKeyBody = z
  .object({
    name: z
      .string()
      .min(1)
      .max(255)
      .describe("What the key is for")
      .meta({ examples: ["build server"] }),
    expires_at: z.iso
      .datetime({ offset: true })
      .max(64)
      .nullish()
      .describe("When it shall stop working, in the future, with offset; absent: never")
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
      .describe("How long the old key works besides the new one; 0: it is revoked at once")
      .meta({ examples: [3600] }),
  })
  .meta({ id: "RotateApiKey" });
