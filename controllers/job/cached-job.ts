// The type of a Job in the cache, and the table of the status that trim.ts keeps of it. Imported by everything that reads Jobs
// from the cache.
import type { Job } from "../../src/kube/objects.ts";

/** Whether each member is kept. The type requires an entry for every member, so that no new one is forgotten. */
export type Kept<T> = { readonly [K in keyof Required<T>]: boolean };

export const jobStatus = {
  completedIndexes: true,
  failedIndexes: true,
  conditions: true,
  failed: true,
  active: false,
  ready: false,
  succeeded: false,
  terminating: false,
  startTime: false,
} as const satisfies Kept<NonNullable<Job["status"]>>;

type KeptNames<K> = { [Name in keyof K]: K[Name] extends true ? Name : never }[keyof K];

/** A Job as the cache keeps it. Code that reads another member of its status does not compile. */
export type CachedJob = Omit<Job, "status"> & {
  status?: Pick<NonNullable<Job["status"]>, KeptNames<typeof jobStatus>>;
};
