// Worker profiles: where and how worker pods run. Platform engineers configure them through chart values; users only
// name one in a job's spec. controllers/main.ts reads them from PLOSIVE_PROFILES_FILE.
import { z } from "zod";

const text = z.record(z.string().max(253), z.string().max(253));
/** Accepts numbers too: YAML reads `nvidia.com/gpu: 1` as a number, and Kubernetes accepts both forms. */
const quantities = z.record(
  z.string().max(253),
  z.union([z.string().max(253), z.number().nonnegative()]).transform(String),
);

export const podProfile = z
  .strictObject({
    image: z.string().min(1).describe("Image of the worker"),
    imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
    resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }).optional(),
    nodeSelector: text.optional(),
    tolerations: z.array(z.record(z.string(), z.unknown())).max(32).optional(),
    affinity: z.record(z.string(), z.unknown()).optional(),
    runtimeClassName: z.string().max(253).optional(),
    priorityClassName: z.string().max(253).optional(),
    podLabels: text.optional(),
    podAnnotations: z.record(z.string().max(316), z.string()).optional(),
    arbitraryUserId: z.boolean().optional().describe("The platform chooses the user id, as OpenShift does"),
    storeCa: z
      .strictObject({ configMap: z.string().min(1), key: z.string().min(1) })
      .optional()
      .describe("Authorities that the pods trust at the object store, beside the public ones"),
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
  .describe("Configuration of the pods of one verb (embed, train or detect)");

export const profiles = z
  .record(z.string(), z.strictObject({ embed: podProfile, train: podProfile, detect: podProfile }))
  .refine((all) => "default" in all, "there must be a profile with the name default");

export type PodProfile = z.infer<typeof podProfile>;
export type Profiles = z.infer<typeof profiles>;
export type Verb = "embed" | "train" | "detect";
