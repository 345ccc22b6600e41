// Makes untrusted text storable in Postgres: termination messages, progress messages, cancellation reasons. If Postgres
// refused such a text, the write would be retried for ever and block everything behind it. Used by the statements that
// write such text.

/**
 * Removes NUL, which Postgres text cannot hold, and replaces lone surrogates (from truncation), which jsonb refuses.
 */
export function storable<T extends string | null | undefined>(text: T): T {
  return (typeof text === "string" ? text.replaceAll("\0", "").toWellFormed() : text) as T;
}

/** Serializes a value as JSON, with all its strings made storable. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? storable(part) : part));
}
