// The only reader of the process environment. Called once by each main file; every field stands in the chart too.
// A name ending in _FILE gives the path of a file that holds the value: secrets are mounted, never passed as text.
import { readFileSync } from "node:fs";
import { z } from "zod";

const port = (value: number) => z.coerce.number().int().min(0).max(65535).default(value);
/** Scheme, host and port as browsers write them, by commas. */
const origins = z
  .string()
  .default("")
  .transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== ""))
  .pipe(
    z.array(
      z.url({ protocol: /^https?$/ }).refine((text) => URL.canParse(text) && new URL(text).origin === text),
    ),
  );
const seconds = (value: number) => z.coerce.number().int().min(1).default(value);

const shared = {
  PLOSIVE_DATABASE_URL: z
    .string()
    .min(1)
    .describe("postgres:// address of the database, with user and password"),
  PLOSIVE_DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(10)
    .describe("Connections per process"),
  PLOSIVE_S3_ENDPOINT: z.url().describe("S3 address that the service and its pods use"),
  PLOSIVE_S3_PUBLIC_ENDPOINT: z
    .url()
    .optional()
    .describe("S3 address in URLs for clients; default: S3_ENDPOINT"),
  PLOSIVE_S3_REGION: z.string().default("us-east-1").describe("S3 region"),
  PLOSIVE_S3_BUCKET: z.string().min(3).default("plosive").describe("Bucket for audio, embeddings and models"),
  PLOSIVE_S3_ACCESS_KEY_ID: z.string().min(1).describe("S3 access key"),
  PLOSIVE_S3_SECRET_ACCESS_KEY: z.string().min(1).describe("S3 secret key"),
  PLOSIVE_NAMESPACE: z
    .string()
    .min(1)
    .default("plosive")
    .describe("Namespace of the custom resources and pods"),
  PLOSIVE_KUBECONFIG: z
    .string()
    .optional()
    .describe("kubeconfig file; default: the pod's own service account"),
  PLOSIVE_LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error"])
    .default("info")
    .describe("Least level logged"),
  PLOSIVE_METRICS_PORT: port(9090).describe("Port of /metrics, never routed to the outside"),
};

const count = (value: number) => z.coerce.number().int().min(0).default(value);

/** What one tenant may do in a minute, and how much of everything it may have. 0 is no limit. */
const limits = {
  PLOSIVE_RATE_PER_MINUTE: count(600).describe("Requests of a tenant in a minute"),
  PLOSIVE_RATE_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(120)
    .describe("Requests of a tenant at once, within PLOSIVE_RATE_PER_MINUTE"),
  PLOSIVE_RATE_WRITES_PER_MINUTE: count(120).describe("Requests that change something, but for those below"),
  PLOSIVE_RATE_UPLOADS_PER_MINUTE: count(60).describe("Requests for upload tickets, of up to 100 files each"),
  PLOSIVE_RATE_KEYS_PER_MINUTE: count(10).describe("Requests that make API keys"),
  PLOSIVE_RATE_TRAININGS_PER_MINUTE: count(10).describe("Requests that make training jobs"),
  PLOSIVE_FAILED_KEYS_PER_SECOND: count(10).describe("API keys that open nothing, from one address"),
  PLOSIVE_FAILED_KEYS_BURST: z.coerce.number().int().min(1).default(50).describe("The same, at once"),
  PLOSIVE_QUOTA_DATASETS: count(1_000).describe("Datasets of a tenant"),
  PLOSIVE_QUOTA_AUDIO_FILES: count(100_000).describe("Audio files of a dataset"),
  PLOSIVE_QUOTA_BYTES: count(500 * 1024 ** 3).describe("Bytes of audio of a tenant"),
  PLOSIVE_QUOTA_ANNOTATIONS: count(1_000_000).describe("Annotations of an annotation set"),
  PLOSIVE_QUOTA_RUNNING_TRAININGS: count(2).describe("Training jobs of a tenant that run at once"),
  PLOSIVE_QUOTA_WAITING_TRAININGS: count(20).describe("Training jobs of a tenant that wait besides"),
  PLOSIVE_QUOTA_RUNNING_INFERENCES: count(10).describe("Inference jobs of a tenant that run at once"),
  PLOSIVE_QUOTA_WAITING_INFERENCES: count(100).describe("Inference jobs of a tenant that wait besides"),
  PLOSIVE_QUOTA_API_KEYS: count(100).describe("API keys of a tenant"),
  PLOSIVE_QUOTA_WEBHOOKS: count(20).describe("Webhooks of a tenant"),
};

const api = z.object({
  ...shared,
  ...limits,
  PLOSIVE_TRUSTED_PROXIES: count(0).describe(
    "Proxies in front of the API that write X-Forwarded-For; without, the client is whoever connects",
  ),
  PLOSIVE_CORS_ORIGINS: origins.describe(
    "Origins of web pages that may call the API, by commas; none by default",
  ),
  PLOSIVE_HTTP_PORT: port(8080).describe("Port of the REST API"),
  PLOSIVE_UPLOAD_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(2 * 1024 ** 3)
    .describe("Largest upload, in bytes"),
  PLOSIVE_UPLOAD_EXPIRY_SECONDS: seconds(900).describe(
    "Life of an upload ticket, an hour at most, and of a download URL",
  ),
  PLOSIVE_UPLOAD_LIFETIME_SECONDS: seconds(86_400).describe(
    "Time from an upload's announcement to its confirm",
  ),
  PLOSIVE_EXPORT_EXPIRY_SECONDS: seconds(86_400)
    .pipe(z.number().max(604_800))
    .describe("Life of the audio URLs in an export for a labelling tool; S3 signs for at most seven days"),
  PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: origins
    .transform((list) => new Set(list))
    .describe(
      "Origins that webhooks may name although they are not public https: http://receiver.example:8080,...",
    ),
  PLOSIVE_WEBHOOK_SECRET_KEY: z
    .base64()
    .length(44)
    .optional()
    .describe(
      "32 bytes in base64 that seal the secrets of webhooks in the database; without it they are stored plain",
    ),
  PLOSIVE_DOCS_ENABLED: z.stringbool().default(true).describe("Serve /openapi.json and /docs, without a key"),
});

const operator = z.object({
  ...shared,
  PLOSIVE_QUOTA_WAITING_TRAININGS: limits.PLOSIVE_QUOTA_WAITING_TRAININGS,
  PLOSIVE_QUOTA_WAITING_INFERENCES: limits.PLOSIVE_QUOTA_WAITING_INFERENCES,
  PLOSIVE_QUOTA_RUNNING_TRAININGS: limits.PLOSIVE_QUOTA_RUNNING_TRAININGS,
  PLOSIVE_QUOTA_RUNNING_INFERENCES: limits.PLOSIVE_QUOTA_RUNNING_INFERENCES,
  PLOSIVE_QUOTA_RUNNING_EMBEDDINGS: count(20).describe("Embedding jobs of a tenant that run at once"),
  PLOSIVE_RUNNING_JOBS: count(0).describe("Jobs of all tenants that run at once; 0 is no limit"),
  PLOSIVE_KUEUE: z
    .enum(["auto", "on", "off"])
    .default("auto")
    .describe("Whether Kueue decides about jobs that have a queue; auto: if it is installed"),
  PLOSIVE_QUEUE_NAME: z
    .string()
    .max(63)
    .default("")
    .describe("Kueue's LocalQueue of jobs that name none; without it those are not Kueue's"),
  PLOSIVE_HEALTH_PORT: port(8081).describe("Port of /healthz and /readyz"),
  PLOSIVE_RUNS_PORT: port(8443).describe("Port of the run endpoint (TLS)"),
  PLOSIVE_RUNS_TLS_CERT_FILE: z.string().min(1).describe("Certificate of the run endpoint, PEM"),
  PLOSIVE_RUNS_TLS_KEY_FILE: z.string().min(1).describe("Its private key, PEM"),
  PLOSIVE_RUNS_URL: z.url().describe("Address of the run endpoint as pods see it, https"),
  PLOSIVE_RUNS_CA_CONFIGMAP: z.string().min(1).describe("ConfigMap with ca.crt, mounted into worker pods"),
  PLOSIVE_RUNS_AUDIENCE: z.string().min(1).default("plosive-runs").describe("Audience of the pods' tokens"),
  PLOSIVE_WORKER_SERVICE_ACCOUNT: z
    .string()
    .min(1)
    .default("plosive-worker")
    .describe("Service account of worker pods"),
  PLOSIVE_ENCODER: z
    .string()
    .regex(
      /^([A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*)?$/,
      "a folder of the bucket, like encoders/wide/1",
    )
    .default("")
    .describe("Folder of the bucket with a plug-in encoder (manifest.json, model.onnx); empty: none"),
  PLOSIVE_PROFILES_FILE: z.string().min(1).describe("JSON file with the worker profiles"),
  PLOSIVE_LEASE_NAME: z.string().min(1).default("plosive-operator").describe("Lease of the leader election"),
  PLOSIVE_POD_NAME: z.string().min(1).default("operator").describe("Identity in the leader election"),
  PLOSIVE_GATHER_SECONDS: z.coerce
    .number()
    .min(0)
    .default(3)
    .describe("Quiet time after the last confirmed upload before its tenant's files are embedded together"),
  PLOSIVE_FILES_PER_SHARD: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(200)
    .describe("Audio files for one pod"),
  PLOSIVE_PURGE_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(604_800)
    .describe(
      "How long the objects of deleted rows and of ended runs are kept, and the resources of the service's own ended jobs",
    ),
});

const bootstrap = z.object({
  ...shared,
  PLOSIVE_API_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe("Address of the database for the API; its user is made if it is missing"),
  PLOSIVE_OPERATOR_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Address of the database for the operator and plosive-admin; its user is made if it is missing",
    ),
  PLOSIVE_BOOTSTRAP_SECRET: z
    .string()
    .optional()
    .describe("Secret for the first tenant's id and key; without it none is made"),
  PLOSIVE_BOOTSTRAP_WAIT_SECONDS: seconds(900).describe("How long to wait for Postgres and the object store"),
});

const admin = z.object({ PLOSIVE_DATABASE_URL: shared.PLOSIVE_DATABASE_URL });

export type AdminConfig = z.infer<typeof admin>;
export type ApiConfig = z.infer<typeof api>;
/** What is the API's alone. */
export type ApiSettings = Omit<ApiConfig, keyof typeof shared>;
export type BootstrapConfig = z.infer<typeof bootstrap>;
export type OperatorConfig = z.infer<typeof operator>;

/** Configuration of the API. Throws an Error that names every missing or malformed variable. */
export function apiConfig(env: NodeJS.ProcessEnv = process.env): ApiConfig {
  return read(api, env);
}

/** Configuration of the operator. Throws an Error that names every missing or malformed variable. */
export function operatorConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  return read(operator, env);
}

/** Configuration of the bootstrap Job. Throws an Error that names every missing or malformed variable. */
export function bootstrapConfig(env: NodeJS.ProcessEnv = process.env): BootstrapConfig {
  return read(bootstrap, env);
}

/** Configuration of plosive-admin. Throws an Error that names every missing or malformed variable. */
export function adminConfig(env: NodeJS.ProcessEnv = process.env): AdminConfig {
  return read(admin, env);
}

/** Where the cluster's API server is, as the kubelet tells every pod. */
export function clusterAddress(env: NodeJS.ProcessEnv = process.env) {
  return { host: env.KUBERNETES_SERVICE_HOST, port: env.KUBERNETES_SERVICE_PORT };
}

function read<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.infer<S> {
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const file = env[`${name}_FILE`];
    const value = env[name] ?? (file === undefined ? undefined : readFileSync(file, "utf8").trim());
    if (value !== undefined && value !== "") values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(
    `The configuration is not usable. Set these environment variables (or NAME_FILE):\n${problems.join("\n")}`,
  );
}
