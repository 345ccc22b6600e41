// Runs the real Kueue (tools/go/kueue, built on demand) as a process beside a control plane: for tests, the operator's
// benchmark and local clusters. Usage: node tools/kueue.ts --kubeconfig FILE [--address A]. SIGTERM stops it.
import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { cacheDir, repoDir, tool } from "./cache.ts";
import { freePorts, startDaemon, waitUntil } from "./process.ts";

const run = promisify(execFile);

export interface KueueOptions {
  /** Credentials of an administrator. */
  readonly kubeconfig: string;
  /** A folder for this process only; created if missing. */
  readonly dir: string;
  /** The address of this machine at which the API server calls the webhooks. */
  readonly address?: string;
  /** Requests per second to the API server, with a burst of twice that. Kueue's manifests use 50. */
  readonly qps?: number;
  /** Additional members of its Configuration (config.kueue.x-k8s.io/v1beta2). */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface Kueue {
  readonly pid: number;
  readonly log: string;
  /**
   * Stops Kueue and deletes its webhook configurations: without a running Kueue they would reject every Job. Its
   * objects stay.
   */
  stop(): Promise<void>;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  [member: string]: unknown;
}

interface Webhook {
  clientConfig: { service: { path: string } };
  rules: { apiGroups: string[] }[];
}

const namespace = "kueue-system";
const service = "kueue-webhook-service";
const secret = "kueue-webhook-server-cert";
/** Resources with conversion webhooks, as the kustomization of Kueue's manifests patches them. */
const converted = ["localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters"];

/** Builds Kueue if it is not in the cache. The first build takes minutes. */
export function buildKueue(): void {
  if (existsSync(join(cacheDir, "bin", "kueue"))) return;
  execFileSync("bash", [join(repoDir, "tools", "build.sh"), "kueue"], { stdio: "inherit" });
}

/** Installs Kueue's definitions and webhooks, starts its manager and waits until it is ready. */
export async function startKueue(options: KueueOptions): Promise<Kueue> {
  const { kubeconfig, dir, address = "localhost", qps = 50, config } = options;
  const [webhookPort = 0, healthPort = 0] = await freePorts(2);
  const certDir = join(dir, "certificates");
  mkdirSync(certDir, { recursive: true });
  const log = join(dir, "kueue.log");
  const kubectl = (args: string[], input?: string) => {
    const child = run(tool("kubectl"), [`--kubeconfig=${kubeconfig}`, ...args], { maxBuffer: 2 ** 26 });
    child.child.stdin?.end(input);
    return child.then(({ stdout }) => stdout);
  };
  const apply = (items: Manifest[]) =>
    kubectl(
      ["apply", "--server-side", "--force-conflicts", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    );

  const place = { apiVersion: "v1", metadata: { name: namespace } };
  await apply([{ ...place, kind: "Namespace" }]);
  await apply([...manifests(webhookPort), ...addressOf(address, webhookPort)]);
  // Kueue looks up its resource definitions only once, when it starts.
  await kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  // Objects of an earlier run cannot be read before the conversion webhook responds, so this only reads the API group.
  await kubectl(["get", "--raw", "/apis/kueue.x-k8s.io/v1beta2"]);
  writeFileSync(
    join(dir, "configuration.json"),
    JSON.stringify({
      apiVersion: "config.kueue.x-k8s.io/v1beta2",
      kind: "Configuration",
      health: { healthProbeBindAddress: `127.0.0.1:${healthPort}` },
      metrics: { bindAddress: "0" },
      webhook: { port: webhookPort, certDir, host: address === "localhost" ? "127.0.0.1" : address },
      leaderElection: { leaderElect: false },
      clientConnection: { qps, burst: 2 * qps },
      // Same as in Kueue's manifests.
      controller: { groupKindConcurrency: { "Job.batch": 5, "Workload.kueue.x-k8s.io": 5 } },
      integrations: { frameworks: ["batch/job"] },
      // This is an aggregated API, for which Kueue would need a Service in the cluster.
      featureGates: { VisibilityOnDemand: false },
      ...config,
    }),
  );
  const daemon = startDaemon({
    name: "kueue",
    command: tool("kueue"),
    args: [`--config=${join(dir, "configuration.json")}`, "--zap-log-level=info"],
    log,
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  const wait = { timeoutMs: 120_000, daemons: [daemon] };
  try {
    // Replaces the kubelet, which would mount the Secret that Kueue fills.
    await waitUntil("Kueue's certificates", async () => mountSecret(kubectl, certDir), wait);
    await waitUntil("Kueue to be ready", () => isReady(healthPort), wait);
    await waitUntil(
      "Kueue's webhooks",
      () => kubectl(["get", "workloads.v1beta2.kueue.x-k8s.io", "-A"]).then(() => true),
      wait,
    );
  } catch (error) {
    await daemon.kill();
    throw error;
  }
  return {
    pid: daemon.pid,
    log,
    async stop() {
      const kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
      const names = webhookNames();
      await kubectl(["delete", kinds, ...names, "--ignore-not-found", "--request-timeout=5s"]).catch(
        () => "",
      );
      await daemon.kill();
    },
  };
}

const webhookNames = () => documents("manifests.yaml").map(({ metadata }) => `kueue-${metadata.name}`);

function documents(file: string): Manifest[] {
  const text = readFileSync(join(tool("kueue-manifests"), file), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Kueue's manifests with the changes of its kustomization, and only the webhooks of the enabled integrations. */
function manifests(port: number): Manifest[] {
  const clientConfig = (path: string) => ({ service: { namespace, name: service, path, port } });
  const definitions = readdirSync(tool("kueue-manifests")).filter((file) => file.startsWith("kueue."));
  return [
    { apiVersion: "v1", kind: "Secret", metadata: { name: secret, namespace } },
    ...definitions.flatMap(documents).map((crd) => {
      if (!converted.some((plural) => crd.metadata.name.startsWith(`${plural}.`))) return crd;
      const webhook = { clientConfig: clientConfig("/convert"), conversionReviewVersions: ["v1"] };
      return { ...crd, spec: { ...(crd.spec as object), conversion: { strategy: "Webhook", webhook } } };
    }),
    ...documents("manifests.yaml").map((configuration) => ({
      ...configuration,
      metadata: { name: `kueue-${configuration.metadata.name}` },
      webhooks: (configuration.webhooks as Webhook[])
        .filter(({ rules }) =>
          rules.every(({ apiGroups }) => ["batch", "kueue.x-k8s.io"].includes(apiGroups[0] ?? "")),
        )
        .map((webhook) => ({ ...webhook, clientConfig: clientConfig(webhook.clientConfig.service.path) })),
    })),
  ];
}

/**
 * A Service for the process: the API server resolves its external name, and the certificate is valid for the Service.
 */
const addressOf = (externalName: string, port: number): Manifest[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service, namespace },
    spec: { type: "ExternalName", externalName, ports: [{ port }] },
  },
];

async function mountSecret(kubectl: (args: string[]) => Promise<string>, dir: string): Promise<boolean> {
  const found = await kubectl(["get", "secret", secret, "-n", namespace, "-o", "json"]);
  const { data = {} } = JSON.parse(found) as { data?: Record<string, string> };
  if (data["tls.crt"] === undefined) return false;
  // Writes the certificate last, because Kueue waits for that file.
  for (const [name, value] of Object.entries(data).sort(([a]) => (a === "tls.crt" ? 1 : -1))) {
    writeFileSync(join(dir, name), Buffer.from(value, "base64"), { mode: 0o600 });
  }
  return true;
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request({ host: "127.0.0.1", port, path: "/readyz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on("error", () => resolve(false));
    call.end();
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: "string", default: process.env.KUBECONFIG ?? "" },
      address: { type: "string" },
      qps: { type: "string", default: "50" },
    },
  });
  buildKueue();
  const dir = mkdtempSync(join(tmpdir(), "plosive-kueue-"));
  const { kubeconfig, address } = values;
  const kueue = await startKueue({ kubeconfig, dir, address, qps: Number(values.qps) });
  console.log(`Kueue is running with pid ${kueue.pid}; log file: ${kueue.log}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      await kueue.stop();
      rmSync(dir, { recursive: true, force: true });
    });
  }
}
