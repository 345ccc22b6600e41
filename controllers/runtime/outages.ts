// When the database did not respond to the leader, and when no run endpoint worked. Reports of pods are lost in that time, and it must
// not count against them. Fed by fenced-database.ts with the outcome of every query, and by sweep.ts; read by the reconcile of jobs.

/** In ms since 1970: from the last query that succeeded before, to the first one after. */
export type Outage = { readonly from: number; readonly to: number };

/** Older ones are forgotten. */
const most = 200;

export type Outages = ReturnType<typeof makeOutages>;
export type OutageSource = ReturnType<typeof makeSource>;

export function makeOutages(now: () => number) {
  const sources = { database: makeSource(now), runs: makeSource(now) };
  return {
    ...sources,
    all: (): readonly Outage[] => [...sources.database.all(), ...sources.runs.all()],
  };
}

function makeSource(now: () => number) {
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
    /** Includes the one that has not ended. */
    all: (): readonly Outage[] => (isFailing ? [...outages, { from: lastSuccess, to: now() }] : outages),
  };
}

/** How much of the time since `since` the outages take, in ms. They may overlap. */
export function outageMsSince(outages: readonly Outage[], since: number): number {
  let counted = since;
  let sum = 0;
  for (const { from, to } of [...outages].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, counted));
    counted = Math.max(counted, to);
  }
  return sum;
}
