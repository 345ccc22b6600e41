// ETags: If-None-Match saves sending what the client has, If-Match saves changes that the client has not seen (RFC 9110,
// 13.1). Used by the router, and by the routes whose writes take If-Match.
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../errors.ts";
import type { Route } from "./route.ts";

/** The strong ETag of a JSON answer: a digest of what is sent. */
export function etagOf(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}

/** The strong ETag of an annotation set with all that belongs to it. Name the form anew when the answer's form changes. */
export function etagOfSet(revision: number): string {
  return `"set-1-${revision}"`;
}

/** Whether the client has it already. Weak comparison: for reading, W/"x" is as good as "x". */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = tagsOf(ifNoneMatch);
  // A header that is no list of tags matches nothing: the client then gets the answer in full.
  return tags === "*" || (tags?.some((tag) => tag.replace(/^W\//, "") === etag) ?? false);
}

/** Whether one of the present ETags is among those that the client expects. Strong comparison: W/"x" never matches. */
export function isExpected(ifMatch: string, present: readonly string[]): boolean {
  const tags = tagsOf(ifMatch);
  // A header that is no list of tags names none of them: nothing is changed.
  return tags === "*" || (tags?.some((tag) => present.includes(tag)) ?? false);
}

const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
// Each blank can be taken in one way only: with two, a list of commas would be tried in as many ways as there are subsets.
const list = new RegExp(`^${tag}(?:[ \\t]*,(?:[ \\t]*${tag})?)*$`);

/** What the description promises; all headers of a request together may have 16 KiB. */
export const longestTagList = 12_000;

/** Before anything is done; of the two headers, those that the route looks at. */
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
