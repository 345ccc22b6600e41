// Worker profiles: where and how worker pods run, by the operator's configuration (chart values), never by users.
// Read from PLOSIVE_PROFILES_FILE by controllers/main.ts; a job's spec names one.
import { z } from "zod";

const text = z.record(z.string().max(253), z.string().max(253));
/** YAML reads `nvidia.com/gpu: 1` as a number; Kubernetes takes both. */
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
    runtimeClassName: z.string().max(253).optional(),
    priorityClassName: z.string().max(253).optional(),
    scratchSize: z
      .string()
      .regex(/^[0-9]+(Ki|Mi|Gi|Ti)?$/)
      .default("4Gi")
      .describe("Limit of the emptyDir for temporary files"),
    env: z
      .array(z.strictObject({ name: z.string().min(1).max(253), value: z.string().max(4096) }))
      .max(64)
      .default([])
      .describe("Further environment, e.g. the number of threads; never a secret"),
  })
  .describe("How the pods of one verb run");

export const profiles = z
  .record(z.string(), z.strictObject({ embed: podProfile, train: podProfile, detect: podProfile }))
  .refine((all) => "default" in all, "there must be a profile named default");

export type PodProfile = z.infer<typeof podProfile>;
export type Profiles = z.infer<typeof profiles>;
export type Verb = "embed" | "train" | "detect";
