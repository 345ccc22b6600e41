// The headers of a delivery by Standard Webhooks 1.0. Called by sender.ts for each attempt: the time is the attempt's,
// so that receivers can refuse what was recorded and played again.
import { createHmac } from "node:crypto";

/** One signature for each secret: while a secret is being replaced there are two. `body` is signed to the byte. */
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
