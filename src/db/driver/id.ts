// Row ids: UUID version 7, so that new rows are adjacent in the index. Used by the insert functions of src/db.
import { createHash, randomBytes } from "node:crypto";

let lastMs = 0;
let counter = 0;
/** Random bytes for many ids: requesting them for each id takes ten times as long. */
let random = Buffer.alloc(0);
let used = 0;
/** Reused for every id: a new buffer per id would be most of the garbage of a bulk insert. */
const bytes = Buffer.alloc(16);

/** Returns a new id. Within one process each id is greater than the previous one, even in the same millisecond. */
export function newId(): string {
  const now = Date.now();
  // RFC 9562, 6.2 method 1: a 12-bit counter in place of rand_a; on overflow it borrows from the next millisecond.
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else {
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  if (used === random.length) {
    random = randomBytes(4096);
    used = 0;
  }
  random.copy(bytes, 8, used, used + 8);
  used += 8;
  return textOf(bytes);
}

/** Returns the id that follows from a text: whoever repeats an interrupted step gets the same one. UUID version 8. */
export function derivedId(text: string): string {
  const digest = createHash("sha256").update(text).digest().subarray(0, 16);
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  return textOf(digest);
}

function textOf(id: Buffer): string {
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = id.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
