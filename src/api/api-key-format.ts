// How an API key is written: `pl_`, 40 random Base62 characters, 6 Base62 digits of their CRC-32. Used by the API's
// authentication, by the route that makes keys, and by the bootstrap Job. Secret scanners know keys by this form.
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^pl_[0-9A-Za-z]{46}$/;

/** A new key from `random`, a source of random bytes. 40 characters carry 238 bits. */
export function makeApiKey(random: (size: number) => Uint8Array): string {
  let text = "pl_";
  while (text.length < 43) {
    for (const byte of random(64)) {
      // 248 = 4 x 62: bytes above it would make the first characters of the alphabet more likely.
      if (byte < 248 && text.length < 43) text += alphabet[byte % 62];
    }
  }
  return text + checksum(text);
}

/** Whether the text can be a key at all: costs no query. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, 43)) === text.slice(43);
}

/** What the database keeps in place of the key. */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** What the database keeps so that people can tell keys apart. */
export function prefixOf(key: string): string {
  return key.slice(0, 8);
}

/** CRC-32 (IEEE) as a number in base 62, zero-padded to 6 digits. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
