// Has the API server check the pods of each worker profile when an operator starts, by a Job that it does not create. So a
// misspelt field stops the rollout of a new operator instead of being dropped from every pod. Called by controllers/main.ts.
import type { Kube } from "../../src/kube/client.ts";
import { isInvalid, isUnreachable } from "../../src/kube/errors.ts";
import { embeddingJobs, inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import type { Profiles } from "../../src/schemas/profile.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import { buildJob, type PodSettings } from "./child.ts";

const as = (type: unknown) => type as ResourceType<JobResource>;
const kinds: Pick<JobAdapter, "kind" | "type" | "verb">[] = [
  { kind: "embedding", type: as(embeddingJobs), verb: "embed" },
  { kind: "training", type: as(trainingJobs), verb: "train" },
  { kind: "inference", type: as(inferenceJobs), verb: "detect" },
];
const nobody = "00000000-0000-4000-8000-000000000000";

/** Rejects with the name of the first profile that no job could use. An answer that may change does not count. */
export async function checkProfiles(deps: {
  kube: Pick<Kube, "send">;
  namespace: string;
  profiles: Profiles;
  settings: PodSettings;
  log: Log;
}): Promise<void> {
  const { kube, namespace, profiles, settings, log } = deps;
  for (const [name, profile] of Object.entries(profiles)) {
    for (const adapter of kinds) {
      const cr = {
        metadata: { name: "check", namespace, uid: nobody },
        spec: {
          tenantId: nobody,
          shards: { count: 1, parallelism: 1 },
          retries: { perShard: 0, infraPerShard: 0, maxFailedShards: 0 },
        },
      } as unknown as JobResource;
      const queue = { labels: {}, suspend: true };
      const job = buildJob(cr, adapter, 1, profile[adapter.verb], settings, queue);
      try {
        await kube.send({
          method: "POST",
          path: `/apis/batch/v1/namespaces/${namespace}/jobs`,
          query: { dryRun: "All", fieldValidation: "Strict" },
          body: { apiVersion: "batch/v1", kind: "Job", ...job },
          timeoutMs: 5_000,
        });
      } catch (error) {
        const which = `the worker profile ${name}.${adapter.verb}`;
        if (isInvalid(error))
          throw new Error(
            `The API server refuses ${which}. Correct the value profiles of the chart: ${error}`,
          );
        log.warn({ err: String(error) }, `could not check ${which}; starting anyway`);
        if (isUnreachable(error)) return;
      }
    }
  }
}
