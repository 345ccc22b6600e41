// Builds the Kubernetes Job of a run: an Indexed Job whose pods hold no credentials. Pure function of resource,
// attempt, profile and settings. The Job is created once per attempt and never re-applied. Called by run.ts.
import type { Job } from "../../src/kube/objects.ts";
import { jobIdOf, resourceName, runName } from "../../src/schemas/job-kind.ts";
import type { PodProfile } from "../../src/schemas/profile.ts";
import { exitCodes } from "../../src/schemas/worker.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import type { QueueSettings } from "./queueing.ts";

export const labels = {
  job: "plosive.dev/job",
  kind: "plosive.dev/kind",
  tenant: "plosive.dev/tenant",
  attempt: "plosive.dev/attempt",
} as const;
export const workerContainer = "worker";

export type PodSettings = {
  runsUrl: string;
  runsAudience: string;
  caConfigMap: string;
  serviceAccount: string;
};

/** A user that is not root and owns no file in the image. */
const user = 65532;

export function buildJob(
  cr: JobResource,
  adapter: Pick<JobAdapter, "kind" | "type" | "verb">,
  attempt: number,
  profile: PodProfile,
  settings: PodSettings,
  queue: QueueSettings,
): Job {
  const name = runName(resourceName(adapter.kind, jobIdOf(adapter.kind, cr.metadata)), attempt);
  const { shards, retries, tenantId } = cr.spec;
  const own = {
    "app.kubernetes.io/name": "plosive-worker",
    "app.kubernetes.io/part-of": "plosive",
    "app.kubernetes.io/managed-by": "plosive-operator",
    [labels.job]: cr.metadata.name,
    [labels.kind]: adapter.type.plural,
    [labels.tenant]: tenantId,
    [labels.attempt]: String(attempt),
  };
  const { priorityClassName } = queue;
  const priority = priorityClassName === undefined ? {} : { priorityClassName };
  const spec = {
    completionMode: "Indexed",
    completions: shards.count,
    parallelism: shards.parallelism,
    suspend: queue.suspend,
    backoffLimitPerIndex: retries.perShard,
    maxFailedIndexes: Math.min(retries.maxFailedShards, shards.count),
    // The replacement of a pod starts only after that pod has ended: two pods of a shard must not write at the same
    // time.
    podReplacementPolicy: "Failed",
    podFailurePolicy: {
      rules: [
        // The pod was preempted, evicted or lost with its node. The shard did not cause that.
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        failOn("FailJob", fatalExitCodes),
        failOn("FailIndex", [exitCodes.unusableAudio, exitCodes.inputMissing]),
      ],
    },
    template: {
      metadata: { labels: { ...profile.labels, ...own }, ...optional({ annotations: profile.annotations }) },
      spec: podSpec(name, adapter.verb, { ...profile, ...priority }, settings),
    },
  };
  return {
    metadata: {
      name,
      namespace: cr.metadata.namespace,
      labels: { ...own, ...queue.labels },
      ownerReferences: [
        {
          apiVersion: adapter.type.apiVersion,
          kind: adapter.type.kind,
          name: cr.metadata.name,
          uid: cr.metadata.uid ?? "",
          controller: true,
        },
      ],
    },
    spec,
  };
}

/** A pod that exits with one of these codes fails the whole Job. */
export const fatalExitCodes = [exitCodes.badManifest, exitCodes.forbidden];

const failOn = (action: string, values: number[]) => ({
  action,
  onExitCodes: { containerName: workerContainer, operator: "In", values },
});

/**
 * The pod meets Pod Security "restricted", has a read-only root, and its only token is valid for the run endpoint
 * alone.
 */
function podSpec(
  run: string,
  verb: string,
  profile: PodProfile,
  settings: PodSettings,
): Record<string, unknown> {
  const userIds = { runAsUser: user, runAsGroup: user, fsGroup: user };
  const { storeCa } = profile;
  return {
    restartPolicy: "Never",
    serviceAccountName: settings.serviceAccount,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // Gives a training time to write a last checkpoint.
    terminationGracePeriodSeconds: 60,
    securityContext: {
      runAsNonRoot: true,
      ...(profile.arbitraryUserId === true ? {} : userIds),
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...optional({
      nodeSelector: profile.nodeSelector,
      tolerations: profile.tolerations,
      affinity: profile.affinity,
      topologySpreadConstraints: profile.topologySpreadConstraints,
      imagePullSecrets: profile.imagePullSecrets,
      runtimeClassName: profile.runtimeClassName,
      priorityClassName: profile.priorityClassName,
    }),
    containers: [
      {
        name: workerContainer,
        image: profile.image,
        ...optional({ imagePullPolicy: profile.imagePullPolicy, resources: profile.resources }),
        args: [verb],
        env: [
          ...profile.env,
          { name: "PLOSIVE_RUN_URL", value: `${settings.runsUrl.replace(/\/$/, "")}/v1/runs/${run}` },
          { name: "PLOSIVE_TOKEN_FILE", value: "/var/run/secrets/plosive/token" },
          { name: "PLOSIVE_CA_FILE", value: "/var/run/plosive/ca.crt" },
          ...(storeCa ? [{ name: "PLOSIVE_STORE_CA_FILE", value: "/var/run/plosive-store/ca.crt" }] : []),
          { name: "TMPDIR", value: "/scratch" },
          { name: "PLOSIVE_SCRATCH_SIZE", value: profile.scratchSize },
          {
            name: "PLOSIVE_ALLOW_UNCONFINED_DECODING",
            value: String(profile.allowUnconfinedDecoding ?? false),
          },
        ],
        volumeMounts: [
          ...(profile.volumeMounts ?? []),
          { name: "token", mountPath: "/var/run/secrets/plosive", readOnly: true },
          { name: "ca", mountPath: "/var/run/plosive", readOnly: true },
          ...(storeCa ? [{ name: "store-ca", mountPath: "/var/run/plosive-store", readOnly: true }] : []),
          { name: "scratch", mountPath: "/scratch" },
        ],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        terminationMessagePolicy: "FallbackToLogsOnError",
      },
    ],
    volumes: [
      ...(profile.volumes ?? []),
      {
        name: "token",
        projected: {
          sources: [
            {
              serviceAccountToken: {
                path: "token",
                audience: settings.runsAudience,
                expirationSeconds: 3600,
              },
            },
          ],
        },
      },
      { name: "ca", configMap: bundle(settings.caConfigMap, "ca.crt") },
      ...(storeCa ? [{ name: "store-ca", configMap: bundle(storeCa.configMap, storeCa.key) }] : []),
      { name: "scratch", emptyDir: { sizeLimit: profile.scratchSize } },
    ],
  };
}

const bundle = (name: string, key: string) => ({ name, items: [{ key, path: "ca.crt" }] });

function optional(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
