// The Content-Disposition header that makes browsers save a response under a file name. Used by storage.ts for
// presigned URLs, and by the exports of src/api.

/** Returns the header of RFC 6266: an ASCII fallback, and the real name percent-encoded. */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
