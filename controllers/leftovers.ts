// Takes away what deleted rows and ended jobs left behind: objects in the store, custom resources in Kubernetes. Each is tried until it
// is gone; one that fails holds up no other. Called by sweep.ts on the leader.

import type { Database } from "../src/db/job.ts";
import { deletePurgeEntries, manyDuePurges, type PurgeEntry, postponePurge } from "../src/db/purge-queue.ts";
import type { Kube, Ref } from "../src/kube/client.ts";
import { isConflict } from "../src/kube/errors.ts";
import { models } from "../src/kube/kinds.ts";
import type { ResourceType } from "../src/kube/objects.ts";
import type { Log } from "../src/log.ts";
import { keys, parseResourceName } from "../src/schemas/job-kind.ts";
import { audioKey, incomingKey, inferenceKey } from "../src/storage/keys.ts";
import type { Storage } from "../src/storage/storage.ts";
import { resourceTypes } from "../src/submit.ts";
import type { JobResource } from "./job/adapter.ts";
import { hasEnded } from "./job/decide.ts";

export type LeftoverDeps = {
  db: Database;
  kube: Kube;
  storage: Storage;
  namespace: string;
  graceSeconds: number;
  log: Log;
};

const batch = 200;
const atOnce = 8;

/** One round. Returns how many it dealt with: as many as `batch` means that there may be more. */
export async function clearLeftovers(deps: LeftoverDeps): Promise<{ done: number; more: boolean }> {
  const { db, log } = deps;
  const due = await manyDuePurges(db, { graceSeconds: deps.graceSeconds, limit: batch });
  const waiting = [...due];
  const done: number[] = [];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      try {
        if (!one.in_use) await take(deps, one);
        done.push(one.id);
      } catch (error) {
        log.warn({ kind: one.kind, target: one.target, err: String(error) }, "could not purge; trying again");
        await postponePurge(db, one.id, String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await deletePurgeEntries(db, done);
  if (done.length > 0) log.info({ count: done.length }, "purged what deleted rows left behind");
  return { done: done.length, more: due.length === batch };
}

async function take({ kube, storage, namespace }: LeftoverDeps, one: PurgeEntry): Promise<void> {
  const { tenant_id: tenant, target } = one;
  switch (one.kind) {
    case "upload":
      return await storage.remove(incomingKey(tenant, target));
    case "audio":
      await storage.remove(incomingKey(tenant, target));
      await storage.remove(audioKey(tenant, target));
      for (const folder of keys.ofAudio(tenant, target)) await storage.removeAll(folder);
      return;
    case "embedding": {
      const [file = "", run = ""] = target.split("/");
      await storage.remove(keys.peaks(tenant, file, run));
      return await storage.remove(keys.embedding(tenant, file, run));
    }
    case "inference_audio":
      await storage.remove(incomingKey(tenant, target));
      return await storage.remove(inferenceKey(tenant, target));
    case "model":
      return await storage.removeAll(keys.ofTraining(tenant, target));
    case "run":
      await storage.removeAll(keys.ofRuns(target));
      return await removeEnded(kube, { namespace, name: target });
    case "resource": {
      // Of a job that began in Kubernetes: `tj-<uid>/<name>`. The name may have been used again since.
      const [job = "", name = job] = target.split("/");
      const uid = name === job ? undefined : parseResourceName(job)?.id;
      await kube.remove(typeOf(job), { namespace, name }, { uid }).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    }
  }
}

/**
 * The resource of a job that the service made. Each upload makes one, with a Job and its pods; once the results are gone
 * it says nothing that the row does not. Those that somebody else made have names of their own and stay.
 */
async function removeEnded(kube: Kube, ref: Ref): Promise<void> {
  const type = typeOf(ref.name) as ResourceType<JobResource>;
  const cr = await kube.find(type, ref);
  if (cr === undefined) return;
  if (hasEnded(cr)) await kube.remove(type, ref, { uid: cr.metadata.uid });
  else if (cr.status?.runId !== undefined)
    throw new Error("its custom resource does not say yet that it has ended");
}

/** `tj-<uuid>` and the like are jobs, `m-<uuid>` is a model. */
function typeOf(name: string): ResourceType {
  const job = parseResourceName(name);
  return job === undefined ? models : resourceTypes[job.kind];
}
