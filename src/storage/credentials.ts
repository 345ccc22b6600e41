// Credentials of the object store that last long enough for presigned URLs, which end with them. Used by storage.ts.

interface Provided {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Absent: they do not end. */
  readonly expiration?: Date;
}

/** Of the URLs that worker pods and uploads get. Longer ones, of exports, end early with temporary credentials. */
const lastingMs = 30 * 60_000;
/** Where the source fails or issues no newer credentials yet, it is asked no more often than this. */
const retryMs = 60_000;

/**
 * Returns credentials with at least half an hour left, if their source issues such. `provide` remembers its result and
 * renews it five minutes before its end, or with `forceRefresh`.
 */
export function lastingCredentials(
  provide: (options?: { forceRefresh?: boolean }) => Promise<Provided>,
): () => Promise<Provided> {
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const known = await provide();
    const now = Date.now();
    if (known.expiration === undefined || known.expiration.getTime() - now > lastingMs) return known;
    if (now - askedAt < retryMs) return known;
    askedAt = now;
    return await provide({ forceRefresh: true }).catch(() => known);
  };
}
