// Signs a delivery as Standard Webhooks 1.0 defines it. Called by sender.ts for each attempt, because the timestamp is
// that of the attempt: receivers can refuse replayed requests.
import { createHmac } from "node:crypto";

/**
 * Returns the headers, with one signature for each secret: two while a secret is being rotated. `body` is signed as is.
 */
export function signatureHeaders(
  messageId: string,
  nowMs: number,
  body: string,
  secrets: readonly Buffer[],
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signed = `${messageId}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`,
  );
  return {
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
