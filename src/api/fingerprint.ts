// Fingerprint of a request, by which a repeated request with the same Idempotency-Key is recognized. Pure: body/read.ts
// computes it in a worker thread for large bodies. Used by idempotency.ts too.
import { createHash } from "node:crypto";

/**
 * Returns 32 bytes. `body` is parsed but not validated: validation adds defaults, and a later release with other
 * defaults must still recognize the same request.
 */
export const fingerprintOf = (body: unknown, querystring: string) => digest([canonical(body), querystring]);

export function digest(parts: readonly string[]): Buffer {
  // JSON keeps the parts apart: plain concatenation could turn two different lists into the same text.
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** Returns JSON with the members of every object sorted by name. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, member: unknown) => {
      if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
      return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? ""
  );
}
