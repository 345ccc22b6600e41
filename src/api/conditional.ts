// ETags and conditional requests (RFC 9110, 13.1). If-None-Match avoids sending what the client already has; If-Match
// avoids overwriting changes that the client has not seen. Used by answer.ts, and by the routes whose writes accept
// If-Match.
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../errors.ts";
import type { Route } from "./route.ts";

/** Returns the strong ETag of a JSON response: a digest of its text. Quoted. */
export function etagOf(body: unknown): string {
  const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}

/**
 * Returns the strong ETag of an annotation set with its annotations. Raise the 2 if the form of the response changes.
 */
export function etagOfSet(revision: number): string {
  return `"set-2-${revision}"`;
}

/** Whether If-None-Match contains the ETag. Weak comparison: for reads, W/"x" equals "x". */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = tagsOf(ifNoneMatch);
  // A malformed header matches nothing, so the client gets the full response.
  return tags === "*" || (tags?.some((tag) => tag.replace(/^W\//, "") === etag) ?? false);
}

/** Whether If-Match contains one of the current ETags. Strong comparison: W/"x" never matches. */
export function isExpected(ifMatch: string, present: readonly string[]): boolean {
  const tags = tagsOf(ifMatch);
  // A malformed header matches nothing, so nothing is changed.
  return tags === "*" || (tags?.some((tag) => present.includes(tag)) ?? false);
}

const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
// Only one part of the pattern can match each blank. If two could, a long list of commas would take exponential time.
const list = new RegExp(`^${tag}(?:[ \\t]*,(?:[ \\t]*${tag})?)*$`);

/** Upper bound of a header's length, as the OpenAPI description documents it. All headers together may have 16 KiB. */
export const longestTagList = 12_000;

/** Throws invalidRequest if If-Match or If-None-Match is too long. Ignores a header that the route does not use. */
export function refuseLongTagLists(
  route: Pick<Route, "conditional" | "guard">,
  headers: IncomingHttpHeaders,
) {
  const given = [route.conditional && headers["if-none-match"], route.guard && headers["if-match"]];
  if (given.some((header) => typeof header === "string" && header.length > longestTagList))
    throw invalidRequest(`a list of entity tags has more than ${longestTagList} characters`);
}

function tagsOf(header: string): "*" | string[] | undefined {
  const text = header.trim();
  if (text === "*") return "*";
  return list.test(text) ? (text.match(new RegExp(tag, "g")) ?? undefined) : undefined;
}
