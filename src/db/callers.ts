// Looks up keys for many requests at once: those with one key that come while its last look-up is under way are looked up
// together in the next one. Each look-up begins after its request came, so a revoked key is dead on the very next request
// as ever, but a busy client costs a fraction of the round trips. Made by src/api/app.ts, called by authenticate.ts.
import { type CallerRow, manyCallers, type RatesOfRequest } from "./api-key.ts";
import type { Db } from "./page.ts";

/** The owner of the key with this digest, or null when it is unknown or revoked. */
export type FindCaller = (hash: Buffer, rates: RatesOfRequest) => Promise<CallerRow | null>;

interface Waiting {
  readonly rates: RatesOfRequest;
  readonly resolve: (caller: CallerRow | null) => void;
  readonly reject: (error: unknown) => void;
}

/** More in one statement would hold the row of the tenant's rates for long. All are of one key: one such row. */
const most = 50;

export function makeFindCaller(db: Db): FindCaller {
  /** Of each key with a look-up under way: who came since. */
  const waiting = new Map<string, Waiting[]>();

  const look = async (key: string, hash: Buffer, together: readonly Waiting[]): Promise<void> => {
    try {
      const callers = await manyCallers(
        db,
        hash,
        together.map(({ rates }) => rates),
      );
      for (const [i, { resolve }] of together.entries()) resolve(callers[i] ?? null);
    } catch (error) {
      // Those who wait too: one after the other each would wait for what just failed, minutes where nothing answers.
      const rest = waiting.get(key)?.splice(0) ?? [];
      for (const { reject } of [...together, ...rest]) reject(error);
    }
    const next = waiting.get(key)?.splice(0, most) ?? [];
    if (next.length === 0) waiting.delete(key);
    else void look(key, hash, next);
  };

  return (hash, rates) =>
    new Promise((resolve, reject) => {
      const key = hash.toString("latin1");
      const request = { rates, resolve, reject };
      const others = waiting.get(key);
      if (others !== undefined) others.push(request);
      else {
        waiting.set(key, []);
        void look(key, hash, [request]);
      }
    });
}
