// The only reader of the process environment. Each main file calls it once. The chart sets those that differ from their defaults. NAME_FILE
// names a file that holds the value of NAME: the chart mounts secrets as files and never puts them into the
// environment.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { defaultInstallation, installationName } from "./schemas/installation.ts";
import { roleMappings } from "./schemas/role.ts";
import { address, count, isSafe, origins, port, seconds } from "./schemas/setting.ts";
import { tracingSettings } from "./tracing.ts";

const shared = {
  PLOSIVE_DATABASE_URL: z.string().min(1).describe("postgres:// URL of the database, with user and password"),
  PLOSIVE_DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(10)
    .describe("Connections per process"),
  PLOSIVE_S3_ENDPOINT: z.url().describe("S3 endpoint that the service and its pods use"),
  PLOSIVE_S3_PUBLIC_ENDPOINT: z
    .url()
    .optional()
    .describe("S3 endpoint in presigned URLs for clients; default: PLOSIVE_S3_ENDPOINT"),
  PLOSIVE_S3_ADDRESSING: z
    .enum(["path", "virtual"])
    .default("path")
    .describe(
      "Address of the bucket: path (endpoint/bucket) or virtual (bucket.endpoint), for both endpoints",
    ),
  PLOSIVE_S3_REGION: z.string().default("us-east-1").describe("S3 region"),
  PLOSIVE_S3_BUCKET: z.string().min(3).default("plosive").describe("Bucket for audio, embeddings and models"),
  PLOSIVE_S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      "S3 access key; without it, the S3 SDK looks for the credentials of the pod's workload identity",
    ),
  PLOSIVE_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe("S3 secret key"),
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
    .describe("Lowest level that is logged"),
  PLOSIVE_METRICS_PORT: port(9090).describe("Port of /metrics; do not expose it outside the cluster"),
};

/** The API, the operator and the set-up job of an installation need the same value. */
const identity = {
  PLOSIVE_INSTALLATION: installationName
    .default(defaultInstallation)
    .describe("Name of the installation, among those that use the same database"),
};

/** Rate limits and quotas of one tenant. 0 means no limit. */
const limits = {
  PLOSIVE_RATE_PER_MINUTE: count(600).describe("Requests of a tenant per minute"),
  PLOSIVE_RATE_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(120)
    .describe("Burst of PLOSIVE_RATE_PER_MINUTE: requests that a tenant may send at once"),
  PLOSIVE_RATE_WRITES_PER_MINUTE: count(120).describe(
    "Requests of a tenant per minute that change something, except those with a limit of their own below",
  ),
  PLOSIVE_RATE_UPLOADS_PER_MINUTE: count(60).describe(
    "Requests of a tenant per minute for upload tickets, parts of uploads (up to 100 in each) and uploads from a URL",
  ),
  PLOSIVE_RATE_KEYS_PER_MINUTE: count(10).describe("Requests of a tenant per minute that create API keys"),
  PLOSIVE_RATE_TRAININGS_PER_MINUTE: count(10).describe(
    "Requests of a tenant per minute that create training jobs",
  ),
  PLOSIVE_FAILED_KEYS_PER_SECOND: count(10).describe(
    "Failed authentications that one address may cause per second",
  ),
  PLOSIVE_FAILED_KEYS_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .describe("Burst of PLOSIVE_FAILED_KEYS_PER_SECOND"),
  PLOSIVE_QUOTA_DATASETS: count(1_000).describe("Datasets of a tenant"),
  PLOSIVE_QUOTA_AUDIO_FILES: count(100_000).describe("Audio files of a dataset"),
  PLOSIVE_QUOTA_BYTES: count(500 * 1024 ** 3).describe("Bytes of audio of a tenant"),
  PLOSIVE_QUOTA_ANNOTATIONS: count(1_000_000).describe("Annotations of an annotation set"),
  PLOSIVE_QUOTA_ANNOTATION_SETS: count(5_000).describe("Annotation sets of a tenant"),
  PLOSIVE_QUOTA_ACCOUNT_ANNOTATIONS: count(20_000_000).describe(
    "Annotations of a tenant, in all its annotation sets",
  ),
  PLOSIVE_QUOTA_RUNNING_TRAININGS: count(2).describe("Training jobs of a tenant that run at once"),
  PLOSIVE_QUOTA_WAITING_TRAININGS: count(20).describe(
    "Training jobs of a tenant that wait, in addition to those that run",
  ),
  PLOSIVE_QUOTA_RUNNING_INFERENCES: count(10).describe("Inference jobs of a tenant that run at once"),
  PLOSIVE_QUOTA_WAITING_INFERENCES: count(100).describe(
    "Inference jobs of a tenant that wait, in addition to those that run",
  ),
  PLOSIVE_QUOTA_INFERENCE_FILES: count(2_000_000).describe("Files in all inference jobs of a tenant"),
  PLOSIVE_QUOTA_API_KEYS: count(100).describe("API keys of a tenant"),
  PLOSIVE_QUOTA_WEBHOOKS: count(20).describe("Webhooks of a tenant"),
};

/** The API checks URLs and encrypts them and secrets, the operator sends and fetches: both need the same values. */
const outward = {
  PLOSIVE_UPLOAD_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(2 * 1024 ** 3)
    .describe("Largest upload, in bytes"),
  PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: origins
    .transform((list) => new Set(list))
    .describe(
      "Comma-separated origins that webhooks and uploads from a URL may use although they are not public https: http://receiver.example:8080,...",
    ),
  PLOSIVE_WEBHOOK_SECRET_KEY: z
    .base64()
    .length(44)
    .optional()
    .describe(
      "32 bytes in base64: the key that encrypts webhook secrets and URLs of uploads in the database; without it they are stored in plain text",
    ),
};

const api = z
  .object({
    ...shared,
    ...identity,
    ...tracingSettings,
    ...limits,
    PLOSIVE_TRUSTED_PROXIES: count(0).describe(
      "Number of proxies in front of the API that append to X-Forwarded-For; with 0, the peer of the connection is the client",
    ),
    PLOSIVE_CORS_ORIGINS: origins.describe(
      "Comma-separated origins of web pages that may call the API; none by default",
    ),
    PLOSIVE_HTTP_PORT: port(8080).describe("Port of the REST API"),
    PLOSIVE_UPLOAD_EXPIRY_SECONDS: seconds(900).describe(
      "Lifetime of an upload ticket (at most one hour) and of a download URL",
    ),
    PLOSIVE_UPLOAD_LIFETIME_SECONDS: seconds(86_400).describe(
      "Time from an upload request until the upload must be confirmed",
    ),
    PLOSIVE_EXPORT_EXPIRY_SECONDS: seconds(86_400)
      .pipe(z.number().max(604_800))
      .describe(
        "Lifetime of the audio URLs in an export for a labelling tool; S3 signs for at most seven days",
      ),
    ...outward,
    PLOSIVE_DOCS_ENABLED: z
      .stringbool()
      .default(true)
      .describe("Serve /openapi.json and /docs without authentication"),
    PLOSIVE_DASHBOARD_ENABLED: z.stringbool().default(true).describe("Serve the dashboard under /dashboard"),
    PLOSIVE_DASHBOARD_INSECURE: z
      .stringbool()
      .default(false)
      .describe(
        "Allow signing in to the dashboard over plain http, although anybody on the way can read the session; a loopback host needs no permission",
      ),
    PLOSIVE_DASHBOARD_DIR: z
      .string()
      .default(join(import.meta.dirname, "../web/dist"))
      .describe("Folder of the built dashboard"),
    PLOSIVE_PUBLIC_URL: address
      .optional()
      .describe(
        "Address of the service for browsers, with the path prefix of a proxy: https://example.com/plosive",
      ),
    PLOSIVE_OIDC_ISSUER: z
      .url()
      .refine(isSafe, "must be https; http only to a loopback host")
      .optional()
      .describe(
        "Issuer of the OpenID provider that signs users in to the dashboard; without it there are only API keys",
      ),
    PLOSIVE_OIDC_NAME: z
      .string()
      .max(60)
      .default("your organization")
      .describe("Name of the provider on the sign-in page"),
    PLOSIVE_OIDC_CLIENT_ID: z.string().min(1).optional().describe("Id of the service at the provider"),
    PLOSIVE_OIDC_CLIENT_SECRET_FILE: z
      .string()
      .min(1)
      .optional()
      .describe(
        "File with the secret of the service at the provider, read for each sign-in; without it: a public client",
      ),
    PLOSIVE_OIDC_SCOPES: z
      .string()
      .default("openid profile email")
      .refine((text) => text.split(" ").includes("openid"), "must contain openid")
      .describe("Scopes to ask the provider for, separated by spaces"),
    PLOSIVE_OIDC_CLAIM: z.string().min(1).default("groups").describe("Claim whose values give roles"),
    PLOSIVE_OIDC_ROLES: z
      .string()
      .default("[]")
      .transform((text, context) => {
        try {
          return JSON.parse(text) as unknown;
        } catch {
          context.addIssue("must be JSON");
          return z.NEVER;
        }
      })
      .pipe(roleMappings)
      .describe(
        'Roles of users: [{"value": "a value of the claim", "tenant": "id", "role": "viewer, labeller or owner"}]',
      ),
  })
  .refine(
    ({
      PLOSIVE_OIDC_ISSUER: issuer,
      PLOSIVE_OIDC_CLIENT_ID: id,
      PLOSIVE_PUBLIC_URL: url,
      PLOSIVE_OIDC_ROLES: given,
    }) => issuer === undefined || (id !== undefined && url !== undefined && given.length > 0),
    {
      path: ["PLOSIVE_OIDC_ISSUER"],
      message: "needs PLOSIVE_OIDC_CLIENT_ID, PLOSIVE_PUBLIC_URL and PLOSIVE_OIDC_ROLES",
    },
  );

/** The operator creates worker pods, and the run endpoint recognizes them. */
const healthAndPods = {
  PLOSIVE_HEALTH_PORT: port(8081).describe("Port of /healthz and /readyz"),
  PLOSIVE_RUNS_AUDIENCE: z
    .string()
    .min(1)
    .default("plosive-runs")
    .describe("Audience of the worker pods' tokens"),
  PLOSIVE_WORKER_SERVICE_ACCOUNT: z
    .string()
    .min(1)
    .default("plosive-worker")
    .describe("Service account of worker pods"),
};

const runs = z.object({
  ...shared,
  ...identity,
  ...healthAndPods,
  PLOSIVE_RUNS_PORT: port(8443).describe("Port of the run endpoint (TLS)"),
  PLOSIVE_RUNS_TLS_CERT_FILE: z.string().min(1).describe("Certificate of the run endpoint, PEM"),
  PLOSIVE_RUNS_TLS_KEY_FILE: z.string().min(1).describe("Private key of the run endpoint, PEM"),
  PLOSIVE_ENCODER: z
    .string()
    .regex(
      /^([A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*)?$/,
      "a folder of the bucket, like encoders/wide/1",
    )
    .default("")
    .describe("Folder of the bucket that holds a plug-in encoder (manifest.json, model.onnx); empty: none"),
});

const operator = z.object({
  ...shared,
  ...identity,
  ...tracingSettings,
  ...outward,
  PLOSIVE_QUOTA_BYTES: limits.PLOSIVE_QUOTA_BYTES,
  PLOSIVE_QUOTA_WAITING_TRAININGS: limits.PLOSIVE_QUOTA_WAITING_TRAININGS,
  PLOSIVE_QUOTA_WAITING_INFERENCES: limits.PLOSIVE_QUOTA_WAITING_INFERENCES,
  PLOSIVE_QUOTA_INFERENCE_FILES: limits.PLOSIVE_QUOTA_INFERENCE_FILES,
  PLOSIVE_QUOTA_RUNNING_TRAININGS: limits.PLOSIVE_QUOTA_RUNNING_TRAININGS,
  PLOSIVE_QUOTA_RUNNING_INFERENCES: limits.PLOSIVE_QUOTA_RUNNING_INFERENCES,
  PLOSIVE_QUOTA_RUNNING_EMBEDDINGS: count(20).describe("Embedding jobs of a tenant that run at once"),
  PLOSIVE_RUNNING_JOBS: count(0).describe("Jobs of all tenants that run at once; 0 means no limit"),
  PLOSIVE_KUEUE: z
    .enum(["auto", "on", "off"])
    .default("auto")
    .describe("Whether Kueue admits the jobs that have a queue; auto: if it is installed"),
  PLOSIVE_QUEUE_NAME: z
    .string()
    .max(63)
    .default("")
    .describe("Kueue LocalQueue of jobs that name no queue; without it, Plosive admits these jobs itself"),
  ...healthAndPods,
  PLOSIVE_RUNS_URL: z.url().describe("https URL of the run endpoint, as worker pods reach it"),
  PLOSIVE_RUNS_CA_CONFIGMAP: z.string().min(1).describe("ConfigMap with ca.crt, mounted into worker pods"),
  PLOSIVE_PROFILES_FILE: z.string().min(1).describe("JSON file with the worker profiles"),
  PLOSIVE_LEASE_NAME: z.string().min(1).default("plosive-operator").describe("Lease of the leader election"),
  PLOSIVE_POD_NAME: z.string().min(1).default("operator").describe("Identity in the leader election"),
  PLOSIVE_GATHER_SECONDS: z.coerce
    .number()
    .min(0)
    .default(3)
    .describe(
      "Seconds after a tenant's last confirmed upload until one embedding job is created for its files",
    ),
  PLOSIVE_FILES_PER_SHARD: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(200)
    .describe("Maximum number of audio files in one shard"),
  PLOSIVE_JOB_RETENTION_SECONDS: count(3_600).describe(
    "Seconds after the end of a succeeded job until its Kubernetes Job and pods are deleted",
  ),
  PLOSIVE_RESOURCE_RETENTION_SECONDS: count(86_400).describe(
    "Seconds after the end of a job until its custom resource is deleted, with its Kubernetes Job and pods, if the service created it; its rows stay",
  ),
  PLOSIVE_PURGE_GRACE_SECONDS: count(604_800).describe(
    "Seconds until the purge deletes the objects of deleted rows and ended runs",
  ),
});

const bootstrap = z.object({
  ...shared,
  ...identity,
  PLOSIVE_API_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe("URL of the database for the API; the setup creates its user if it is missing"),
  PLOSIVE_OPERATOR_DATABASE_URL: z
    .string()
    .min(1)
    .optional()
    .describe(
      "URL of the database for the operator and plosive-admin; the setup creates its user if it is missing",
    ),
  PLOSIVE_BOOTSTRAP_SECRET: z
    .string()
    .optional()
    .describe("Secret to write the first tenant's id and key to; without it no tenant is created"),
  PLOSIVE_BOOTSTRAP_WAIT_SECONDS: seconds(900).describe("Seconds to wait for Postgres and the object store"),
});

const admin = z.object({ PLOSIVE_DATABASE_URL: shared.PLOSIVE_DATABASE_URL });

export type AdminConfig = z.infer<typeof admin>;
export type ApiConfig = z.infer<typeof api>;
/** The settings that only the API has. */
export type ApiSettings = Omit<ApiConfig, keyof typeof shared>;
export type BootstrapConfig = z.infer<typeof bootstrap>;
export type OperatorConfig = z.infer<typeof operator>;
export type RunsConfig = z.infer<typeof runs>;

/** Configuration of the API. Throws an Error that names every missing or malformed variable. */
export function apiConfig(env: NodeJS.ProcessEnv = process.env): ApiConfig {
  return read(api, env);
}

/** Configuration of the operator. Throws an Error that names every missing or malformed variable. */
export function operatorConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  return read(operator, env);
}

/** Configuration of the run endpoint. Throws an Error that names every missing or malformed variable. */
export function runsConfig(env: NodeJS.ProcessEnv = process.env): RunsConfig {
  return read(runs, env);
}

/** Configuration of the bootstrap Job. Throws an Error that names every missing or malformed variable. */
export function bootstrapConfig(env: NodeJS.ProcessEnv = process.env): BootstrapConfig {
  return read(bootstrap, env);
}

/** Configuration of plosive-admin. Throws an Error that names every missing or malformed variable. */
export function adminConfig(env: NodeJS.ProcessEnv = process.env): AdminConfig {
  return read(admin, env);
}

/** Host and port of the Kubernetes API server, which the kubelet sets in every pod. */
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
  const [keyId, secret] = ["PLOSIVE_S3_ACCESS_KEY_ID", "PLOSIVE_S3_SECRET_ACCESS_KEY"];
  const halves = keyId in schema.shape && keyId in values !== secret in values;
  const parsed = schema.safeParse(values);
  if (parsed.success && !halves) return parsed.data;
  const problems = (parsed.error?.issues ?? []).map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  if (halves) problems.push(`  ${keyId}, ${secret}: set both, or neither to use a workload identity`);
  throw new Error(
    `The configuration is invalid. Set these environment variables (or NAME_FILE):\n${problems.join("\n")}`,
  );
}
