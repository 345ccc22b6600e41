// Tokens of sessions and of sign-in links: 32 random bytes in base64url. The database stores only their digests. Called by
// cookie.ts, session.ts and plosive-admin.
import { hash } from "node:crypto";

export function makeToken(random: (size: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString("base64url");
}

export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

export function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
