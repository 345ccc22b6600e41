// Names that nothing else has, for Idempotency-Key. crypto.randomUUID() exists only on pages that came over https.

export function uniqueName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
