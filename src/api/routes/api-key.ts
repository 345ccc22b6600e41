// /api/v1/auth/api-keys: keys are made and revoked with a key (interface specification 4.9 to 4.11).
import { z } from "zod";
import { type ApiKeyRow, countApiKeys, insertApiKey, listApiKeys, revokeApiKey } from "../../db/api-key.ts";
import {
  apiKeyNotFound,
  keyAlreadyCreated,
  quotaExceeded,
  validationFailed,
  valueError,
} from "../../errors.ts";
import { apiKey, createApiKeyBody, createdApiKey } from "../../schemas/api-key.ts";
import { id } from "../../schemas/rest.ts";
import { hashApiKey, makeApiKey, prefixOf } from "../api-key-format.ts";
import { defineRoute } from "../route.ts";
import { iso, isoOrNull } from "../view.ts";

const maxKeys = 100;
const maxExpiry = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export const createApiKey = defineRoute({
  method: "POST",
  path: "/api/v1/auth/api-keys",
  operationId: "createApiKey",
  summary: "Make a key; the answer is the only one that shows it",
  tag: "API keys",
  body: createApiKeyBody,
  rate: "keys",
  answer: { status: 201, description: "The key", schema: createdApiKey },
  conflicts: ["key_already_created"],
  handler: async ({ body, tenantId, deps }) => {
    const expiresAt = body.expires_at == null ? null : expiryOf(body.expires_at, deps.clock.now());
    if ((await countApiKeys(deps.db, tenantId)) >= maxKeys)
      throw quotaExceeded(`An account has at most ${maxKeys} API keys; revoke one first`);
    for (;;) {
      const key = makeApiKey(deps.random);
      const hash = hashApiKey(key);
      const row = await insertApiKey(deps.db, tenantId, {
        name: body.name,
        prefix: prefixOf(key),
        hash,
        expiresAt,
      });
      // Null: another key of the tenant has the same first 8 characters, once in 916 million.
      if (row !== null)
        return {
          created: [row.id],
          location: `/api/v1/auth/api-keys/${row.id}`,
          body: { ...viewApiKey(row), key },
        };
    }
  },
  // Nobody but the first answer has the key.
  idempotent: async (_, [id = ""]) => {
    throw keyAlreadyCreated(id);
  },
});

/** In UTC, as every answer gives it: Postgres knows no offsets beyond 15:59, and year 10000 is no RFC 3339. */
function expiryOf(text: string, now: number): string {
  const time = Date.parse(text);
  const refuse = (why: string) => validationFailed([valueError(["body", "expires_at"], why)]);
  if (time <= now) throw refuse("expires_at must be in the future");
  if (time > maxExpiry) throw refuse("expires_at must be before the year 10000 in UTC");
  return iso(time);
}

export const listKeys = defineRoute({
  method: "GET",
  path: "/api/v1/auth/api-keys",
  operationId: "listApiKeys",
  summary: "All keys of the account, newest first, without the keys themselves",
  tag: "API keys",
  answer: { status: 200, description: "The keys", schema: z.array(apiKey) },
  handler: async ({ tenantId, deps }) => ({ body: (await listApiKeys(deps.db, tenantId)).map(viewApiKey) }),
});

export const revokeKey = defineRoute({
  method: "DELETE",
  path: "/api/v1/auth/api-keys/{key_id}",
  operationId: "revokeApiKey",
  summary: "Revoke a key: it is invalid at once and for good",
  tag: "API keys",
  params: z.object({ key_id: id("Id of the key") }),
  answer: { status: 204, description: "The key is revoked" },
  handler: async ({ params, tenantId, deps }) => {
    if (!(await revokeApiKey(deps.db, tenantId, params.key_id))) throw apiKeyNotFound();
    return {};
  },
});

function viewApiKey(row: ApiKeyRow) {
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.key_prefix,
    scopes: [],
    created_at: iso(row.created_at),
    expires_at: isoOrNull(row.expires_at),
    last_used_at: isoOrNull(row.last_used_at),
  };
}
