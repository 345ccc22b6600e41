// GET /api/v1/usage: usage and quotas of the tenant, its compute time, and its rate limits.
import { computeOf, type Usage, usageOf } from "../../db/quota.ts";
import { usage } from "../../schemas/usage.ts";
import { defineRoute, type HandlerDeps } from "../route.ts";

export const read = defineRoute("GET", "/api/v1/usage", {
  operationId: "getUsage",
  summary: "Read the usage and the limits of the account",
  answer: { status: 200, description: "Usage and limits", schema: usage },
  handler: async ({ tenantId, deps }) => {
    const used = await usageOf(deps.db, tenantId);
    const compute = await computeOf(deps.db, tenantId);
    const limits = limitsOf(deps);
    const names = Object.keys(limits) as (keyof Usage)[];
    return {
      body: {
        quotas: Object.fromEntries(
          names.map((name) => [name, { used: used[name], limit: orNull(limits[name]) }]),
        ),
        compute: Object.fromEntries(
          Object.entries(compute).map(([name, seconds]) => [name, Math.floor(seconds)]),
        ),
        rates: deps.rates.all.map(({ name, perMinute }) => ({
          name,
          requests_per_minute: orNull(perMinute),
        })),
      },
    };
  },
});

const orNull = (limit: number) => (limit === 0 ? null : limit);

function limitsOf({ config }: HandlerDeps): Record<keyof Usage, number> {
  return {
    datasets: config.PLOSIVE_QUOTA_DATASETS,
    audio_bytes: config.PLOSIVE_QUOTA_BYTES,
    audio_files_per_dataset: config.PLOSIVE_QUOTA_AUDIO_FILES,
    annotations_per_set: config.PLOSIVE_QUOTA_ANNOTATIONS,
    annotation_sets: config.PLOSIVE_QUOTA_ANNOTATION_SETS,
    annotations: config.PLOSIVE_QUOTA_ACCOUNT_ANNOTATIONS,
    running_training_jobs: config.PLOSIVE_QUOTA_RUNNING_TRAININGS,
    waiting_training_jobs: config.PLOSIVE_QUOTA_WAITING_TRAININGS,
    running_inference_jobs: config.PLOSIVE_QUOTA_RUNNING_INFERENCES,
    waiting_inference_jobs: config.PLOSIVE_QUOTA_WAITING_INFERENCES,
    inference_files: config.PLOSIVE_QUOTA_INFERENCE_FILES,
    api_keys: config.PLOSIVE_QUOTA_API_KEYS,
    webhooks: config.PLOSIVE_QUOTA_WEBHOOKS,
  };
}
