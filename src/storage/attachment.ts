// The Content-Disposition header that makes browsers save an answer under a name. Used for signed URLs here, and by the
// exports of src/api.

/** RFC 6266: an ASCII stand-in, and the real name percent-encoded. */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
