// Text from outside as Postgres can keep it. A worker's last words, a report's message or a reason for a cancel may hold
// anything; one that could not be written would be tried again for ever, and everything behind it would wait. Used by the
// statements that write such text.

/** Without NUL, which no text may hold, and without half characters, which jsonb refuses: a cut makes those. */
export function storable<T extends string | null | undefined>(text: T): T {
  return (typeof text === "string" ? text.replaceAll("\0", "").toWellFormed() : text) as T;
}

/** The same for all texts of a value, as JSON. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}
