// Long polling (`?wait=`): responds when the job has changed or the time is over. Called by the routes that read one
// job. While it waits, it queries the database only after a notification and every 15 seconds.
import { isKeyOpen } from "../db/api-key.ts";
import { invalidApiKey } from "../errors.ts";
import type { JobState } from "../schemas/job.ts";
import { etagOf, isUnchanged } from "./conditional.ts";
import type { Call } from "./route.ts";

interface Waiting<T> {
  /** Undefined or 0: do not wait. */
  readonly seconds: number | undefined;
  readonly jobId: string;
  readonly read: () => Promise<T>;
  readonly view: (row: T) => unknown;
}

/** Whether the job has ended, so that it never changes again. */
const isFinal = (status: JobState) => status === "completed" || status === "failed" || status === "cancelled";

/** Maximum number of waiting requests per tenant and process; further ones get their response at once. */
const mostWaits = 100;

/**
 * Returns the row after the wait. Waits until its ETag is not in If-None-Match, or, without the header, until the row
 * differs from the first read. Throws invalidApiKey if the key is revoked during the wait.
 */
export async function waitForChange<T extends { status: JobState }>(
  call: Call,
  waiting: Waiting<T>,
): Promise<T> {
  const { seconds = 0, jobId, read, view } = waiting;
  const { tenantId, keyId, deps } = call;
  const release = seconds === 0 ? null : deps.live.acquire(tenantId, "wait", mostWaits);
  if (release === null) return await read();
  const watch = deps.live.watch([
    `plosive_jobs ${jobId}`,
    `plosive_keys ${keyId}`,
    `plosive_keys ${tenantId}`,
  ]);
  try {
    const deadline = performance.now() + seconds * 1000;
    let row = await read();
    const first = etagOf(view(row));
    const known = call.request.headers["if-none-match"] ?? first;
    for (;;) {
      const left = deadline - performance.now();
      const { signal } = call.request;
      if (!isUnchanged(known, etagOf(view(row))) || isFinal(row.status)) return row;
      if (left <= 0 || signal.aborted || deps.live.isEnding()) return row;
      await watch.next(Math.min(left, deps.live.timing.beatMs), signal);
      // The key may have been revoked while the request waited.
      if (!(await deps.live.withReadSlot(() => isKeyOpen(deps.db, tenantId, keyId)))) throw invalidApiKey();
      row = await deps.live.withReadSlot(read);
    }
  } finally {
    watch.close();
    release();
  }
}
