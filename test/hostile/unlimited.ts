// Settings under which a test's process refuses nobody for asking often. Called by the tests that start one.

const rates = ["", "WRITES_", "UPLOADS_", "KEYS_", "TRAININGS_"].map(
  (name) => `PLOSIVE_RATE_${name}PER_MINUTE`,
);
const quotas = ["DATASETS", "WAITING_TRAININGS", "WAITING_INFERENCES"].map((name) => `PLOSIVE_QUOTA_${name}`);

export const unlimited: Readonly<Record<string, string>> = Object.fromEntries(
  [...rates, "PLOSIVE_RATE_BURST", ...quotas].map((name) => [name, "1000000"]),
);
