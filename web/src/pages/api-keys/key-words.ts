// Words for API keys. Pure.
import type { ApiKey } from "../../../../client/schema.ts";

export const scopeWords = {
  read: ["Read", "See datasets, jobs, models and events"],
  write: ["Write", "Create, change, delete and run"],
  admin: ["Admin", "Manage API keys and webhooks"],
} as const;

export type Scope = keyof typeof scopeWords;
export const scopes = Object.keys(scopeWords) as Scope[];

export function expiryOf(
  { expires_at: at }: Pick<ApiKey, "expires_at">,
  now: number,
): "never" | "later" | "soon" | "over" {
  if (at === null) return "never";
  const leftMs = Date.parse(at) - now;
  if (leftMs <= 0) return "over";
  return leftMs < 14 * 86_400_000 ? "soon" : "later";
}

export const lifetimes = [
  { id: "never", label: "Never", days: undefined },
  { id: "7", label: "In 7 days", days: 7 },
  { id: "30", label: "In 30 days", days: 30 },
  { id: "90", label: "In 90 days", days: 90 },
  { id: "365", label: "In a year", days: 365 },
  { id: "date", label: "On a date…", days: undefined },
] as const;

export type Lifetime = (typeof lifetimes)[number]["id"];

/** When a key expires: the end of the chosen day where the user is; null: never; undefined: no date is chosen yet. */
export function expiresAt(lifetime: Lifetime, date: string, now: number): string | null | undefined {
  if (lifetime === "never") return null;
  if (lifetime === "date") {
    const end = new Date(`${date}T23:59:59`).getTime();
    return Number.isNaN(end) || end <= now ? undefined : new Date(end).toISOString();
  }
  return new Date(now + Number(lifetime) * 86_400_000).toISOString();
}
