// Works off the purge queue: deletes objects and custom resources that deleted rows and ended jobs left behind. Each
// entry is retried until it succeeds; a failing entry does not delay the others. Called by sweep.ts on the leader.

import type { DatabasePool } from "../src/db/driver/pool.ts";
import { dropIngests } from "../src/db/operator/ingest.ts";
import {
  deletePurgeEntries,
  manyDuePurges,
  type PurgeEntry,
  postponePurge,
} from "../src/db/operator/purge-queue.ts";
import type { Kube, Ref } from "../src/kube/client.ts";
import { isConflict } from "../src/kube/errors.ts";
import { models } from "../src/kube/kinds.ts";
import type { ResourceType } from "../src/kube/objects.ts";
import type { Log } from "../src/log.ts";
import { keys, parseResourceName, runName } from "../src/schemas/job-kind.ts";
import { audioKey, incomingKey, inferenceKey } from "../src/storage/keys.ts";
import type { Storage } from "../src/storage/storage.ts";
import { resourceTypes } from "../src/submit.ts";
import type { JobResource } from "./job/adapter.ts";
import { hasEnded, maxAttempts } from "./job/decide.ts";

export type PurgeDeps = {
  db: DatabasePool;
  kube: Kube;
  storage: Storage;
  installation: string;
  namespace: string;
  graceSeconds: number;
  log: Log;
};

const batch = 200;
const atOnce = 8;

/** Purges one batch of due entries. Returns false when none was due. */
export async function purgeNextBatch(deps: PurgeDeps): Promise<boolean> {
  const { db, installation, graceSeconds, log } = deps;
  const due = await manyDuePurges(db, { installation, graceSeconds, limit: batch });
  const waiting = [...due];
  const done: number[] = [];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      try {
        if (!one.in_use) await purge(deps, one);
        done.push(one.id);
      } catch (error) {
        log.warn(
          { kind: one.kind, target: one.target, err: String(error) },
          "could not purge an entry of the purge queue; retrying later",
        );
        await postponePurge(db, one.id, String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await deletePurgeEntries(db, done);
  if (done.length > 0) log.info({ count: done.length }, "purged entries of the purge queue");
  return due.length > 0;
}

async function purge({ db, kube, storage, namespace }: PurgeDeps, one: PurgeEntry): Promise<void> {
  const { tenant_id: tenant, target } = one;
  switch (one.kind) {
    case "upload":
      return await storage.removeUpload(incomingKey(tenant, target));
    case "audio":
      await storage.remove(audioKey(tenant, target));
      for (const folder of keys.ofAudio(tenant, target)) await storage.removeAll(folder);
      return await storage.removeUpload(incomingKey(tenant, target));
    case "embedding": {
      const [file = "", run = ""] = target.split("/");
      await storage.remove(keys.peaks(tenant, file, run));
      return await storage.remove(keys.embedding(tenant, file, run));
    }
    case "inference_audio":
      await storage.remove(inferenceKey(tenant, target));
      return await storage.removeUpload(incomingKey(tenant, target));
    case "model":
      return await storage.removeAll(keys.ofTraining(tenant, target));
    case "run":
      await storage.removeAll(keys.ofRuns(target));
      await removeEndedResource(kube, { namespace, name: target });
      // An end that is not in the status yet is derived from these records.
      return await dropIngests(db, runName(target, maxAttempts));
    case "resource": {
      // An adopted job has the target `tj-<uid>/<name>`. A newer resource may have the name by now, so the uid decides.
      const [job = "", name = job] = target.split("/");
      const uid = name === job ? undefined : parseResourceName(job)?.id;
      await kube.remove(typeOf(job), { namespace, name }, { uid }).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    }
  }
}

/**
 * Deletes the ended resource of a job that the service created. Every upload creates one, with a Job and its pods, and
 * after its results are purged it shows nothing that the row does not. Resources that people created have other names
 * and stay.
 */
async function removeEndedResource(kube: Kube, ref: Ref): Promise<void> {
  const type = typeOf(ref.name) as ResourceType<JobResource>;
  const cr = await kube.find(type, ref);
  if (cr === undefined) return;
  if (hasEnded(cr)) await kube.remove(type, ref, { uid: cr.metadata.uid });
  else throw new Error("the custom resource of the job does not show its end yet");
}

/** Names such as `tj-<uuid>` are jobs, `m-<uuid>` is a model. */
function typeOf(name: string): ResourceType {
  const job = parseResourceName(name);
  return job === undefined ? models : resourceTypes[job.kind];
}
