// Authorizes callers of the run endpoint: projected token -> pod -> Job -> run, and the pod's completion index. A valid
// token alone is not enough: no pod may read or report for another run or shard. Called by server.ts.
import type { Kube } from "../../src/kube/client.ts";
import { jobs as jobType, pods as podType } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { VerifyPodToken } from "../../src/kube/pod-tokens.ts";
import type { CachedJob } from "../job/cached-job.ts";
import { shardOf } from "../job/pods.ts";
import type { Store } from "../runtime/store.ts";

export type AuthorizeDeps = {
  kube: Kube;
  verify: VerifyPodToken;
  namespace: string;
  jobs: Store<CachedJob>;
  pods: Store<Pod>;
};

export type Caller =
  | { allowed: true; podUid: string }
  | { allowed: false; status: 401 | 403 | 410; message: string };
export type Authorize = (token: string | undefined, run: string, shard: number) => Promise<Caller>;

export function makeAuthorize(deps: AuthorizeDeps): Authorize {
  const { kube, namespace } = deps;
  const refuse = (status: 401 | 403 | 410, message: string): Caller => ({ allowed: false, status, message });

  return async (token, run, shard) => {
    if (token === undefined) return refuse(401, "the request carries no bearer token");
    const identity = await deps.verify(token);
    if (identity === undefined) return refuse(403, "the token does not belong to a worker pod");
    const { name: podName, uid: podUid } = identity;
    let pod = deps.pods.get(podName);
    if (pod?.metadata.uid !== podUid) pod = await kube.find(podType, { namespace, name: podName });
    if (pod?.metadata.uid !== podUid) return refuse(403, "the token's pod does not exist");
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind !== "Job" || owner.name !== run)
      return refuse(403, "the pod does not belong to this run");
    if (shardOf(pod) !== shard) return refuse(403, "the pod does not work on this shard");
    let job = deps.jobs.get(run);
    if (job?.metadata.uid !== owner.uid) job = await kube.find(jobType, { namespace, name: run });
    if (job?.metadata.uid !== owner.uid || job.metadata.deletionTimestamp !== undefined) {
      return refuse(410, "the run has ended");
    }
    const over = job.status?.conditions?.some(
      ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
    );
    if (over) return refuse(410, "the run has ended");
    return { allowed: true, podUid };
  };
}
