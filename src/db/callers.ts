// Batches look-ups of API keys: requests with the same key that arrive during a look-up share the next one. A busy
// client costs a fraction of the round trips. Every look-up begins after its requests arrived, so a revoked key fails
// on the very next request. Made by src/api/app.ts, called by authenticate.ts.
import { type CallerRow, manyCallers, type RatesOfRequest } from "./api-key.ts";
import type { Db } from "./driver/page.ts";

/** Returns the owner of the key with this digest, or null when the key is unknown or revoked. */
export type FindCaller = (hash: Buffer, rates: RatesOfRequest) => Promise<CallerRow | null>;

interface Waiting {
  readonly rates: RatesOfRequest;
  readonly resolve: (caller: CallerRow | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch locks one row, the rate limits of the key's tenant. A larger batch would hold that lock for too long. */
const maxBatch = 50;

export function makeFindCaller(db: Db): FindCaller {
  /** For each key with a look-up in progress: the requests that arrived since it began. */
  const waiting = new Map<string, Waiting[]>();

  const lookUp = async (key: string, hash: Buffer, batch: readonly Waiting[]): Promise<void> => {
    try {
      const callers = await manyCallers(
        db,
        hash,
        batch.map(({ rates }) => rates),
      );
      for (const [i, { resolve }] of batch.entries()) resolve(callers[i] ?? null);
    } catch (error) {
      // Rejects the waiting requests too: batch by batch they would wait for the same failure, for minutes if the
      // database does not respond.
      const rest = waiting.get(key)?.splice(0) ?? [];
      for (const { reject } of [...batch, ...rest]) reject(error);
    }
    const next = waiting.get(key)?.splice(0, maxBatch) ?? [];
    if (next.length === 0) waiting.delete(key);
    else void lookUp(key, hash, next);
  };

  return (hash, rates) =>
    new Promise((resolve, reject) => {
      const key = hash.toString("latin1");
      const request = { rates, resolve, reject };
      const others = waiting.get(key);
      if (others !== undefined) others.push(request);
      else {
        waiting.set(key, []);
        void lookUp(key, hash, [request]);
      }
    });
}
