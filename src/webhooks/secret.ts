// Signing secrets. Signing needs them back, so they cannot be hashed; with a key from the configuration they are stored
// sealed (AES-256-GCM), and a copy of the database alone signs nothing. Used by the webhook routes and by sender.ts.
import { createCipheriv, createDecipheriv } from "node:crypto";

export interface SecretBox {
  seal(secret: Buffer, webhookId: string): Buffer;
  /** Rejects what was sealed with another key or for another webhook. */
  open(stored: Buffer, webhookId: string): Buffer;
}

export type Random = (size: number) => Uint8Array;

const plain = 0;
const sealed = 1;
const ivBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

/** `key`: 32 bytes in base64; without one secrets are stored as they are. What was stored plain stays readable. */
export function makeSecretBox(key: string | undefined, random: Random): SecretBox {
  const bytes = key === undefined ? undefined : Buffer.from(key, "base64");
  if (bytes !== undefined && bytes.length !== 32)
    throw new Error("the key for webhook secrets has not 32 bytes");
  return {
    seal: (secret, webhookId) => {
      if (bytes === undefined) return Buffer.concat([Buffer.of(plain), secret]);
      const iv = random(ivBytes);
      const cipher = createCipheriv(algorithm, bytes, iv, { authTagLength: tagBytes });
      // Bound to its webhook: a secret moved to another row in the database does not open.
      cipher.setAAD(Buffer.from(webhookId));
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([Buffer.of(sealed), iv, cipher.getAuthTag(), text]);
    },
    open: (stored, webhookId) => {
      if (stored[0] === plain) return stored.subarray(1);
      if (bytes === undefined) throw new Error("the key for webhook secrets is not configured");
      const iv = stored.subarray(1, 1 + ivBytes);
      const tag = stored.subarray(1 + ivBytes, 1 + ivBytes + tagBytes);
      const cipher = createDecipheriv(algorithm, bytes, iv, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(webhookId)).setAuthTag(tag);
      return Buffer.concat([cipher.update(stored.subarray(1 + ivBytes + tagBytes)), cipher.final()]);
    },
  };
}

/** 32 random bytes. */
export const makeSecret = (random: Random): Buffer => Buffer.from(random(32));

/** As the owner of the webhook gets to see it. */
export const showSecret = (secret: Buffer): string => `whsec_${secret.toString("base64")}`;
