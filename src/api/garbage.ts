// Collects the buffers of large bodies and responses before they count as old. Called by body/receive.ts and send.ts.

const everyBytes = 2 * 1024 * 1024;
let bytesSince = 0;

/**
 * Collects young garbage after every 2 MiB of buffers, which takes about a millisecond. Left alone, they bring on major
 * collections, which delay all requests by 10 to 30 ms. Needs --expose-gc (images/server/Dockerfile).
 */
export function collectGarbageAfter(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < everyBytes) return;
  bytesSince = 0;
  globalThis.gc?.({ execution: "sync", type: "minor" });
}
