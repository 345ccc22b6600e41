// Worker profiles: where and how worker pods run. Platform engineers configure them through chart values; users only
// name one in a job's spec. controllers/main.ts reads them from PLOSIVE_PROFILES_FILE.
import { z } from "zod";

const text = z.record(z.string().max(253), z.string().max(253));
/** A structure of Kubernetes that is passed through; check-profiles.ts has the API server check it. */
const passed = z.record(z.string(), z.unknown());
const label = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
/** Labels or annotations of the pods. The operator selects and reads pods by its own. */
const metadata = (maxLength: number) =>
  z
    .record(z.string().max(317), z.string().max(maxLength))
    .refine(
      (all) =>
        !Object.keys(all).some((key) =>
          /^(app\.kubernetes\.io|batch\.kubernetes\.io|plosive\.dev)\//.test(key),
        ),
      "keys that begin with app.kubernetes.io/, batch.kubernetes.io/ or plosive.dev/ belong to the operator",
    );
/** Accepts numbers too: YAML reads `nvidia.com/gpu: 1` as a number, and Kubernetes accepts both forms. */
const quantities = z.record(
  z.string().max(253),
  z.union([z.string().max(253), z.number().nonnegative()]).transform(String),
);

/** Volumes of every worker pod: child.ts. */
const ownVolumes = ["token", "ca", "store-ca", "scratch"];
/** No hostPath, which Pod Security "restricted" forbids; no Secret and no token, because the pods decode untrusted recordings. */
const volume = z
  .strictObject({
    name: label.refine(
      (name) => !ownVolumes.includes(name),
      `${ownVolumes.join(", ")} are the worker's own volumes`,
    ),
    configMap: passed.optional(),
    csi: passed.optional(),
    emptyDir: passed.optional(),
    ephemeral: passed.optional(),
    persistentVolumeClaim: passed.optional(),
  })
  .refine((one) => Object.keys(one).length === 2, "a volume has a name and exactly one source");
const volumeMount = z.strictObject({
  name: label,
  mountPath: z
    .string()
    .max(253)
    .regex(
      /^\/mnt(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/,
      "must be a path below /mnt, so that it hides nothing of the worker",
    ),
  subPath: z.string().max(253).optional(),
  readOnly: z.boolean().optional(),
});
const isUnique = (values: readonly unknown[] = []) => new Set(values).size === values.length;

export const podProfile = z
  .strictObject({
    image: z.string().min(1).describe("Image of the worker"),
    imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
    resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }).optional(),
    nodeSelector: text.optional(),
    tolerations: z.array(z.record(z.string(), z.unknown())).max(32).optional(),
    runtimeClassName: z.string().max(253).optional(),
    priorityClassName: z.string().max(253).optional(),
    arbitraryUserId: z.boolean().optional().describe("The platform chooses the user id, as OpenShift does"),
    storeCa: z
      .strictObject({ configMap: z.string().min(1), key: z.string().min(1) })
      .optional()
      .describe("Authorities that the pods trust at the object store, beside the public ones"),
    affinity: z
      .strictObject({
        nodeAffinity: passed.optional(),
        podAffinity: passed.optional(),
        podAntiAffinity: passed.optional(),
      })
      .optional(),
    topologySpreadConstraints: z.array(passed).max(16).optional(),
    labels: metadata(63).optional().describe("Further labels of the pods"),
    annotations: metadata(4096).optional().describe("Annotations of the pods"),
    imagePullSecrets: z
      .array(z.strictObject({ name: z.string().min(1).max(253) }))
      .max(16)
      .optional()
      .describe("In place of those of the workers' service account"),
    volumes: z.array(volume).max(16).optional().describe("Further volumes: read-only data or caches"),
    volumeMounts: z.array(volumeMount).max(16).optional().describe("Where the worker finds these volumes"),
    scratchSize: z
      .string()
      .regex(/^[0-9]+(Ki|Mi|Gi|Ti)?$/)
      .default("4Gi")
      .describe("Limit of the emptyDir for temporary files"),
    allowUnconfinedDecoding: z
      .boolean()
      .optional()
      .describe("Decode although the node's kernel lacks Landlock or seccomp, which confine decoders"),
    env: z
      .array(z.strictObject({ name: z.string().min(1).max(253), value: z.string().max(4096) }))
      .max(64)
      .default([])
      .describe(
        "Additional environment variables, for example the number of threads; do not put secrets here",
      ),
  })
  .refine(({ volumes }) => isUnique(volumes?.map(({ name }) => name)), {
    path: ["volumes"],
    message: "two volumes have the same name",
  })
  .refine(({ volumeMounts }) => isUnique(volumeMounts?.map(({ mountPath }) => mountPath)), {
    path: ["volumeMounts"],
    message: "two volumes have the same mountPath",
  })
  .refine(
    ({ volumes = [], volumeMounts = [] }) =>
      volumeMounts.every((mount) => volumes.some(({ name }) => name === mount.name)),
    { path: ["volumeMounts"], message: "each must name one of the profile's volumes" },
  )
  .describe("Configuration of the pods of one verb (embed, train or detect)");

export const profiles = z
  .record(z.string(), z.strictObject({ embed: podProfile, train: podProfile, detect: podProfile }))
  .refine((all) => "default" in all, "there must be a profile with the name default");

export type PodProfile = z.infer<typeof podProfile>;
export type Profiles = z.infer<typeof profiles>;
export type Verb = "embed" | "train" | "detect";

/** Parses the file of profiles. The error names each field that is wrong. */
export function parseProfiles(text: string): Profiles {
  const parsed = profiles.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  const faults = z.prettifyError(parsed.error);
  throw new Error(`The worker profiles are invalid. Correct the value profiles of the chart:\n${faults}`);
}
