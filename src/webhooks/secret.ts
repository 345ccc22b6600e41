// Encrypts the signing secrets of webhooks and the URLs of uploads. Both are needed in plain text, so hashing is not possible.
// With a key from the configuration they are stored encrypted (AES-256-GCM): a copy of the database alone is not enough to use
// them. Used by the routes, by sender.ts and by src/uploads.
import { createCipheriv, createDecipheriv } from "node:crypto";

export interface SecretBox {
  seal(secret: Buffer, webhookId: string): Buffer;
  /** Throws if the secret was sealed with another key or for another webhook. */
  open(stored: Buffer, webhookId: string): Buffer;
}

export type Random = (size: number) => Uint8Array;

const plain = 0;
const sealed = 1;
const ivBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

/** `key`: 32 bytes in base64. Without a key, secrets are stored in plain text; with one, those stay readable. */
export function makeSecretBox(key: string | undefined, random: Random): SecretBox {
  const bytes = key === undefined ? undefined : Buffer.from(key, "base64");
  if (bytes !== undefined && bytes.length !== 32)
    throw new Error("the key for webhook secrets must have 32 bytes");
  return {
    seal: (secret, webhookId) => {
      if (bytes === undefined) return Buffer.concat([Buffer.of(plain), secret]);
      const iv = random(ivBytes);
      const cipher = createCipheriv(algorithm, bytes, iv, { authTagLength: tagBytes });
      // Binds the secret to its webhook: if it is copied to another row of the database, decryption fails.
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

/** Formats a secret for the owner of the webhook, as Standard Webhooks defines it. */
export const formatSecret = (secret: Buffer): string => `whsec_${secret.toString("base64")}`;
