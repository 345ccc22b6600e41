// Authorizes callers of the run endpoint: projected token -> TokenReview -> pod -> Job -> run, and the pod's completion
// index. A valid token alone is not enough: no pod may read or report for another run or shard. Called by server.ts.
import { createHash } from "node:crypto";
import type { Kube } from "../../src/kube/client.ts";
import { jobs as jobType, pods as podType } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { CachedJob } from "../job/cached-job.ts";
import { shardOf } from "../job/pods.ts";
import type { Store } from "../runtime/store.ts";

export type AuthorizeDeps = {
  kube: Kube;
  namespace: string;
  audience: string;
  serviceAccount: string;
  jobs: Store<CachedJob>;
  pods: Store<Pod>;
  now: () => number;
};

export type Caller =
  | { allowed: true; podUid: string }
  | { allowed: false; status: 401 | 403 | 410; message: string };
export type Authorize = (token: string | undefined, run: string, shard: number) => Promise<Caller>;

type Identity = { podName: string; podUid: string };

const cacheMs = 60_000;
/** Larger than the number of pods that report at the same time; otherwise every report would cost a TokenReview. */
const maxCached = 100_000;

export function makeAuthorize(deps: AuthorizeDeps): Authorize {
  const { kube, namespace, audience, serviceAccount, now } = deps;
  const reviewed = new Map<string, { at: number; identity: Identity | undefined }>();

  /**
   * Returns the pod that a token is bound to; undefined unless the token belongs to a worker pod and to this endpoint.
   */
  const identify = async (token: string): Promise<Identity | undefined> => {
    const key = createHash("sha256").update(token).digest("base64");
    const known = reviewed.get(key);
    if (known !== undefined && now() - known.at < cacheMs) return known.identity;
    const { authenticated, audiences, user } = await kube.reviewToken(token, [audience]);
    const podName = user?.extra?.["authentication.kubernetes.io/pod-name"]?.[0];
    const podUid = user?.extra?.["authentication.kubernetes.io/pod-uid"]?.[0];
    // An API server without audience support would accept any token, so the review must list our audience.
    const accepted =
      authenticated === true &&
      audiences?.includes(audience) === true &&
      user?.username === `system:serviceaccount:${namespace}:${serviceAccount}`;
    const identity =
      accepted && podName !== undefined && podUid !== undefined ? { podName, podUid } : undefined;
    // The Map is ordered by review time: its first entry is the oldest.
    reviewed.delete(key);
    reviewed.set(key, { at: now(), identity });
    for (const [oldest, { at }] of reviewed) {
      if (reviewed.size <= maxCached && now() - at < cacheMs) break;
      reviewed.delete(oldest);
    }
    return identity;
  };

  const refuse = (status: 401 | 403 | 410, message: string): Caller => ({ allowed: false, status, message });

  return async (token, run, shard) => {
    if (token === undefined) return refuse(401, "the request carries no bearer token");
    const identity = await identify(token);
    if (identity === undefined) return refuse(403, "the token does not belong to a worker pod");
    const { podName, podUid } = identity;
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
