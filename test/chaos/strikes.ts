// When the operator that leads is killed: just before one of its writes, or when the write is done and it has not heard
// of it. The write points are found while it runs; the one that was hit least is the next. Asked by the proxies.

export type Moment = "before" | "after";

export interface Strikes {
  /** Called by a proxy at each write. True: the process is dead, and nothing may pass any more. */
  due(replica: object, label: string, moment: Moment): boolean;
  /** The next write that suits is the end of this replica. */
  arm(replica: object, kill: () => void): void;
  disarm(): void;
  /** Kills so far, by write point. */
  hits(): ReadonlyMap<string, number>;
}

/** A leader may do so many writes before its end is looked for, or none would get beyond its first ones. */
const mostBefore = 60;
/** So many more go by in vain before any will do: some points come only with certain jobs. */
const patience = 100;

/** `random` gives numbers from 0 to 1. */
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
