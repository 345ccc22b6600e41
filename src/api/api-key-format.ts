// Format of API keys: `pl_`, 40 random Base62 characters, 6 Base62 digits of the CRC-32 of the text before. Used by the
// API's authentication, by the routes that create keys, and by the bootstrap Job. Secret scanners recognize this
// format.
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^pl_[0-9A-Za-z]{46}$/;

/** Makes a new key. `random(size)` returns `size` random bytes. The 40 random characters have 238 bits of entropy. */
export function makeApiKey(random: (size: number) => Uint8Array): string {
  let text = "pl_";
  while (text.length < 43) {
    for (const byte of random(64)) {
      // 248 = 4 x 62: bytes from 248 upwards would make the first characters of the alphabet more likely.
      if (byte < 248 && text.length < 43) text += alphabet[byte % 62];
    }
  }
  return text + checksum(text);
}

/** Whether the text has the format and the checksum of a key. Needs no query. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, 43)) === text.slice(43);
}

/** Returns the SHA-256 digest that the database stores instead of the key. */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Returns the first 8 characters, which the database stores so that people can tell keys apart. */
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
