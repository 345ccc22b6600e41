// /api/v1/auth/api-keys: creates, lists, rotates and revokes API keys.
import { z } from "zod";
import {
  type ApiKeyRow,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
} from "../../db/api-key.ts";
import {
  apiKeyNotFound,
  insufficientScope,
  keyAlreadyCreated,
  validationFailed,
  valueError,
} from "../../errors.ts";
import {
  apiKey,
  createApiKeyBody,
  createdApiKey,
  type KeyScope,
  mayGrant,
  rotateApiKeyBody,
} from "../../schemas/api-key.ts";
import { id } from "../../schemas/rest.ts";
import { hashApiKey, makeApiKey, prefixOf } from "../api-key-format.ts";
import { type Call, defineRoute, type Reply } from "../route.ts";
import { iso, viewOf } from "../view.ts";

const base = "/api/v1/auth/api-keys";
const params = z.object({ key_id: id("Id of the key") });
const maxExpiry = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const viewApiKey = viewOf(apiKey);

const createApiKey = defineRoute("POST", base, {
  operationId: "createApiKey",
  summary: "Create a key; only this response shows it",
  body: createApiKeyBody,
  rate: "keys",
  answer: { status: 201, description: "The key", schema: createdApiKey },
  conflicts: ["key_already_created"],
  handler: async (call) => {
    const { body, tenantId, deps } = call;
    const { scopes } = body;
    requireOwn(scopes, call.scopes);
    const expiresAt = body.expires_at == null ? null : expiryOf(body.expires_at, deps.clock.now());
    return await withNewKey(call, (key, limits) =>
      insertApiKey(deps.db, tenantId, { ...key, name: body.name, scopes, expiresAt }, limits),
    );
  },
  idempotent: refuseToShowAgain,
});

const rotateKey = defineRoute("POST", `${base}/{key_id}/rotate`, {
  operationId: "rotateApiKey",
  summary: "Replace a key by a new one; only this response shows the new key",
  description:
    "The new key has the name of the old key and, if the old key expires, the same lifetime, counted from now. The old key is revoked at once, or after overlap_seconds.",
  params,
  body: rotateApiKeyBody,
  bodyOptional: true,
  rate: "keys",
  answer: { status: 201, description: "The new key", schema: createdApiKey },
  conflicts: ["key_already_created"],
  handler: async (call) => {
    const { params, body, tenantId, deps } = call;
    return await withNewKey(call, (key, limits) => {
      const next = { ...key, overlapSeconds: body.overlap_seconds, by: call.scopes };
      return rotateApiKey(deps.db, tenantId, params.key_id, next, limits);
    });
  },
  idempotent: refuseToShowAgain,
});

/** Throws validationFailed if a key would get more scopes than the key that creates it has. */
function requireOwn(wanted: readonly KeyScope[], own: readonly string[]): void {
  if (mayGrant(own, wanted)) return;
  const why = `a key can create keys only with its own scopes: ${own.join(", ")}`;
  throw validationFailed([valueError(["body", "scopes"], why)]);
}

/** Only the first response contained the key: the database stores just its digest. */
async function refuseToShowAgain(_: unknown, [id = ""]: readonly string[]): Promise<Reply> {
  throw keyAlreadyCreated(id);
}

function limitsOf({ deps, keyId, session, request }: Pick<Call, "deps" | "keyId" | "session" | "request">) {
  return {
    max: deps.config.PLOSIVE_QUOTA_API_KEYS,
    by: { actorKeyId: keyId, session, ip: request.ip, requestId: request.id },
  };
}

/** Generates keys until `insert` accepts one: another key may have the same prefix, once in 916 million times. */
async function withNewKey(
  call: Parameters<typeof limitsOf>[0],
  insert: (
    key: Pick<NewApiKey, "prefix" | "hash">,
    limits: ReturnType<typeof limitsOf>,
  ) => Promise<ApiKeyRow | null>,
): Promise<Reply> {
  for (;;) {
    const key = makeApiKey(call.deps.random);
    const row = await insert({ prefix: prefixOf(key), hash: hashApiKey(key) }, limitsOf(call));
    if (row !== null)
      return { created: [row.id], location: `${base}/${row.id}`, body: { ...viewApiKey(row), key } };
  }
}

/** Converts to UTC: Postgres does not support offsets beyond 15:59. RFC 3339 ends with the year 9999. */
function expiryOf(text: string, now: number): string {
  const time = Date.parse(text);
  const refuse = (why: string) => validationFailed([valueError(["body", "expires_at"], why)]);
  if (time <= now) throw refuse("expires_at must be in the future");
  if (time > maxExpiry) throw refuse("expires_at must be before the year 10000 in UTC");
  return iso(time);
}

const listKeys = defineRoute("GET", base, {
  operationId: "listApiKeys",
  summary: "List all keys of the account, newest first, without the keys themselves",
  answer: { status: 200, description: "The keys", schema: z.array(apiKey) },
  handler: async ({ tenantId, deps }) => ({ body: (await listApiKeys(deps.db, tenantId)).map(viewApiKey) }),
});

const revokeKey = defineRoute("DELETE", `${base}/{key_id}`, {
  operationId: "revokeApiKey",
  summary: "Revoke a key; it becomes invalid at once and permanently",
  params,
  answer: { status: 204, description: "The key is revoked" },
  // A key has no GET and so no ETag: If-Match permits nothing but *.
  guard: async ({ params, tenantId, deps }) => {
    await lockApiKey(deps.db, tenantId, params.key_id);
    return [];
  },
  handler: async (call) => {
    const { params, tenantId, deps } = call;
    await requireOwnScopes(call, params.key_id);
    if (!(await revokeApiKey(deps.db, tenantId, params.key_id, limitsOf(call).by))) throw apiKeyNotFound();
  },
});

/** Throws insufficientScope if the other key has scopes that this one lacks, which it could not give back. */
async function requireOwnScopes({ deps, tenantId, scopes }: Call, id: string): Promise<void> {
  if (scopes.length === 0) return;
  const other = await lockApiKey(deps.db, tenantId, id);
  if (!mayGrant(scopes, other.scopes)) throw insufficientScope("all scopes of the other key", scopes);
}

export const routes = [createApiKey, listKeys, revokeKey, rotateKey];
