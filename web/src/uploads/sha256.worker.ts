// Computes the SHA-256 digest of a file outside of the page's thread. Called by digest.ts.
self.onmessage = async ({ data }: MessageEvent<{ id: number; bytes: Blob }>) => {
  try {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await data.bytes.arrayBuffer()));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    self.postMessage({ id: data.id, hex });
  } catch (error) {
    self.postMessage({ id: data.id, error: String(error) });
  }
};
