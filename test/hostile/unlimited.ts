// Settings without rate limits. Used by tests that start an API process.

const rates = ["", "WRITES_", "UPLOADS_", "KEYS_", "TRAININGS_"].map(
  (name) => `PLOSIVE_RATE_${name}PER_MINUTE`,
);
const quotas = ["DATASETS", "WAITING_TRAININGS", "WAITING_INFERENCES"].map((name) => `PLOSIVE_QUOTA_${name}`);

export const unlimited: Readonly<Record<string, string>> = Object.fromEntries(
  [...rates, "PLOSIVE_RATE_BURST", ...quotas].map((name) => [name, "1000000"]),
);
