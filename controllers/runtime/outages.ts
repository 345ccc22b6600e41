// When the database did not respond to the leader. Reports of pods are lost in that time, and it must not count against them.
// Fed by fenced-database.ts with the outcome of every query; read by the reconcile of jobs.

/** In ms since 1970: from the last query that succeeded before, to the first one after. */
export type Outage = { readonly from: number; readonly to: number };

/** Older ones are forgotten. */
const most = 200;

export type Outages = ReturnType<typeof makeOutages>;

export function makeOutages(now: () => number) {
  let lastSuccess = now();
  let isFailing = false;
  let outages: readonly Outage[] = [];
  return {
    succeeded(): void {
      const at = now();
      if (isFailing) outages = [...outages, { from: lastSuccess, to: at }].slice(-most);
      isFailing = false;
      lastSuccess = at;
    },
    failed(): void {
      isFailing = true;
    },
    all: (): readonly Outage[] => outages,
  };
}

/** How much of the time since `since` the outages take, in ms. */
export const outageMsSince = (outages: readonly Outage[], since: number): number =>
  outages.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
