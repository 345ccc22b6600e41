// Chooses when the leading operator is killed: just before one of its writes, or when the write is done and the answer
// is not forwarded yet. Write points are discovered during the run; the point with the fewest kills is next. Called by
// the proxies.

export type Moment = "before" | "after";

export interface Strikes {
  /** Called by a proxy at each write. True: the process is dead and nothing may be forwarded any more. */
  due(replica: object, label: string, moment: Moment): boolean;
  /** Kills this replica at the next suitable write. */
  arm(replica: object, kill: () => void): void;
  disarm(): void;
  /** Kills so far, by write point. */
  hits(): ReadonlyMap<string, number>;
}

/**
 * Upper bound of the writes that a leader makes before it can be killed. Without them no leader would get beyond its
 * first writes.
 */
const mostBefore = 60;
/** After this many further writes any write point is accepted, since some points occur only with certain jobs. */
const patience = 100;

/** `random` returns numbers from 0 to 1. */
export function makeStrikes(random: () => number): Strikes {
  const hits = new Map<string, number>();
  const dead = new WeakSet<object>();
  let armed: { replica: object; kill: () => void; skip: number; left: number } | undefined;

  return {
    due(replica, label, moment) {
      if (dead.has(replica)) return true;
      const point = `${moment} ${label}`;
      const count = hits.get(point) ?? 0;
      hits.set(point, count);
      if (armed === undefined || armed.replica !== replica) return false;
      if (armed.skip-- > 0) return false;
      armed.left--;
      if (count > Math.min(...hits.values()) && armed.left > 0) return false;
      hits.set(point, count + 1);
      dead.add(replica);
      armed.kill();
      armed = undefined;
      return true;
    },
    arm: (replica, kill) => {
      armed = { replica, kill, skip: Math.floor(random() * mostBefore), left: patience };
    },
    disarm: () => {
      armed = undefined;
    },
    hits: () => hits,
  };
}
