// Long polling (`?wait=`): responds when the job has changed or the time is over. Called by the routes that read one
// job. While it waits, it queries the database only after a notification and every 15 seconds.
import type { z } from "zod";
import { isKeyOpen } from "../db/api-key.ts";
import type { Db } from "../db/driver/page.ts";
import { invalidApiKey, sessionEnded } from "../errors.ts";
import type { waitQuery } from "../schemas/event.ts";
import { isTerminal, type JobState } from "../schemas/job.ts";
import { etagOf, isUnchanged } from "./conditional.ts";
import type { Call, Reply } from "./route.ts";

/** Maximum number of waiting requests per tenant and process; further ones get their response at once. */
const mostWaits = 100;

/**
 * Replies with the job after the wait. Waits until its ETag is not in If-None-Match, or, without the header, until it
 * differs from the first read. Throws invalidApiKey or sessionEnded if the key is revoked or the session ends meanwhile.
 */
export async function replyAfterChange<T extends { readonly status: JobState }>(
  call: Call<unknown, z.infer<typeof waitQuery>>,
  jobId: string,
  one: (db: Db, tenantId: string, id: string) => Promise<T>,
  view: (row: T) => object,
): Promise<Reply> {
  const { tenantId, keyId, deps, request } = call;
  const read = () => one(deps.db, tenantId, jobId);
  const { wait = 0 } = call.query;
  const release = wait === 0 ? null : deps.live.acquire(tenantId, "wait", mostWaits);
  if (release === null) return { body: view(await read()) };
  const watch = deps.live.watch([
    `plosive_jobs ${jobId}`,
    `plosive_keys ${keyId ?? tenantId}`,
    `plosive_keys ${tenantId}`,
  ]);
  try {
    const deadline = performance.now() + wait * 1000;
    let row = await read();
    const known = request.headers["if-none-match"] ?? etagOf(view(row));
    for (;;) {
      const left = deadline - performance.now();
      const body = view(row);
      if (!isUnchanged(known, etagOf(body)) || isTerminal(row.status)) return { body };
      if (left <= 0 || request.signal.aborted || deps.live.isEnding()) return { body };
      await watch.next(Math.min(left, deps.live.timing.beatMs), request.signal);
      // The key may have been revoked, or the session ended, while the request waited.
      if (!(await deps.live.withReadSlot(tenantId, () => isKeyOpen(deps.db, call))))
        throw call.session === null ? invalidApiKey() : sessionEnded();
      row = await deps.live.withReadSlot(tenantId, read);
    }
  } finally {
    watch.close();
    release();
  }
}
