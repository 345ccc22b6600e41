// The rendered Helm chart, for tests of its manifests. Called by test/charts.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { tool } from "../../tools/cache.ts";

export const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
export const images = ["server", "worker", "trainer", "postgres", "s3"].map(
  (name) => `images.${name}=registry/${name}:1`,
);
export const external = [
  "database.existingSecret=db",
  "objectStore.existingSecret=s3",
  "objectStore.endpoint=https://s3.internal:9443",
  "objectStore.publicEndpoint=https://s3.example.com",
  "objectStore.addressing=virtual",
];

export type Probe = {
  httpGet?: { path: string };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
};
type Container = {
  name: string;
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  env?: { name: string; value?: string }[];
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  args?: string[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext?: Record<string, unknown>;
  resources?: { limits?: { memory?: string } };
};
type Volume = { name?: string; secret?: { secretName: string; items?: { key: string }[] } };
export type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: {
    template?: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: {
        containers: Container[];
        securityContext: Record<string, unknown>;
        terminationGracePeriodSeconds?: number;
        nodeSelector?: Record<string, string>;
        tolerations?: unknown[];
        affinity?: unknown;
        priorityClassName?: string;
        volumes?: Volume[];
      };
    };
  };
  data?: Record<string, string>;
  rules?: unknown[];
  imagePullSecrets?: unknown[];
};

export async function render(...sets: string[]): Promise<Manifest[]> {
  return parse(await text(sets.flatMap((set) => ["--set", set])));
}

export function parse(manifests: string): Manifest[] {
  return parseAllDocuments(manifests)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** What `helm template` prints for release plosive in namespace voices. */
export async function text(args: readonly string[]): Promise<string> {
  const { stdout } = await run(
    tool("helm"),
    [
      "template",
      "plosive",
      join(root, "charts/plosive"),
      "-n",
      "voices",
      "--kube-version",
      "1.36.0",
      ...args,
    ],
    { maxBuffer: 16 << 20 },
  );
  return stdout;
}

export const pods = (manifests: Manifest[]) =>
  manifests.filter((manifest) => manifest.spec?.template?.spec.containers);
/** Without the hash in the name of a Job. */
export const nameOf = ({ metadata }: Pick<Manifest, "metadata">) =>
  metadata.name.replace(/-[0-9a-f]{8}$/, "");
export const one = (manifests: Manifest[], kind: string, name: string) => {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  expect(found, `${kind} ${name}`).toHaveLength(1);
  return found[0]!;
};

/** Settings of an OpenID provider. */
export const tenant = "018f2a60-0000-7000-8000-000000000001";
export const oidc = [
  "api.dashboard.oidc.issuer=https://login.example.com/realms/studio",
  "api.dashboard.oidc.clientId=plosive",
  "api.dashboard.oidc.existingSecret=provider",
  "api.dashboard.oidc.publicUrl=https://example.com/plosive",
  "api.dashboard.oidc.roles[0].value=audio, the team",
  `api.dashboard.oidc.roles[0].tenant=${tenant}`,
  "api.dashboard.oidc.roles[0].role=labeller",
].map((set) => set.replace("audio, the", "audio\\, the"));
