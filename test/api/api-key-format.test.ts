// The format of API keys: pure functions without a database.
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashApiKey, isApiKey, makeApiKey, prefixOf } from "../../src/api/api-key-format.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** CRC-32 (IEEE), implemented a second time from its definition, bit by bit. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

describe("an API key", () => {
  it("consists of pl_, 40 random characters and their CRC-32 as 6 base-62 digits", () => {
    for (let i = 0; i < 200; i++) {
      const key = makeApiKey(randomBytes);
      expect(key).toMatch(/^pl_[0-9A-Za-z]{46}$/);
      const value = [...key.slice(43)].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
      expect(value).toBe(crc32(key.slice(0, 43)));
      expect(isApiKey(key)).toBe(true);
    }
  });

  it("has leading zeros where its checksum is small", () => {
    const padded = Array.from({ length: 5_000 }, () => makeApiKey(randomBytes)).find(
      (key) => key[43] === "0",
    );
    expect(padded).toBeDefined();
    expect(isApiKey(padded as string)).toBe(true);
  });

  it("is invalid after a change of any single character", () => {
    const key = makeApiKey(randomBytes);
    for (let at = 3; at < key.length; at++) {
      const other = key[at] === "A" ? "B" : "A";
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
    for (const text of ["", "pl_", key.slice(1), `${key} `, `${key}\n`, key.replace("pl_", "PL_")])
      expect(isApiKey(text)).toBe(false);
  });

  it("contains every character about equally often", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++)
      for (const character of makeApiKey(randomBytes).slice(3, 43))
        counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = (2_000 * 40) / 62;
    expect(counts.size).toBe(62);
    // The bound is six standard deviations: about one false failure in ten million runs, for all 62 characters
    // together.
    for (const count of counts.values())
      expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
  });

  it("rejects random bytes out of range and draws again, so that no character is more likely", () => {
    const key = makeApiKey((size) => new Uint8Array(size).map((_, i) => (i % 2 === 0 ? 255 : 10)));
    expect(key.slice(3, 43)).toBe("A".repeat(40));
  });

  it("is stored as its SHA-256 digest and its first 8 characters", () => {
    const key = makeApiKey(randomBytes);
    expect(hashApiKey(key)).toEqual(createHash("sha256").update(key).digest());
    expect(prefixOf(key)).toBe(key.slice(0, 8));
  });
});
