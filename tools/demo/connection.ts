// Finds the address and the API key of the installed service. Reads them from the cluster, so that they are correct for
// every way of installation. Called by main.ts, info.ts and the end-to-end test.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { cacheDir } from "../cache.ts";
import { defaultName, findPlace } from "../cluster/place.ts";

const run = promisify(execFile);

export interface Connection {
  readonly base_url: string;
  readonly api_key: string;
  readonly kubeconfig: string;
  readonly namespace: string;
}

export interface Target {
  /** Name of the local cluster; the default is that of `make up`. */
  readonly cluster?: string;
  readonly namespace?: string;
  readonly release?: string;
}

const service = z.object({
  spec: z.object({
    type: z.string(),
    ports: z
      .array(z.object({ name: z.string().optional(), port: z.int(), nodePort: z.int().optional() }))
      .min(1),
  }),
});
const secret = z.object({ data: z.object({ "api-key": z.string() }) });
const nodes = z.object({
  items: z.array(
    z.object({
      status: z.object({ addresses: z.array(z.object({ type: z.string(), address: z.string() })) }),
    }),
  ),
});

/** The project's pinned kubectl if it is built, otherwise the machine's. */
export function kubectlPath(): string {
  const own = join(cacheDir, "bin", "kubectl");
  return existsSync(own) ? own : "kubectl";
}

/** The kubeconfig of the target: the local cluster's file, or the user's with CLUSTER=kind|current. */
export function kubeconfigOf(cluster: string = defaultName, env: NodeJS.ProcessEnv = process.env): string {
  if (env.CLUSTER === "kind" || env.CLUSTER === "current") {
    return env.KUBECONFIG ?? join(env.HOME ?? "", ".kube", "config");
  }
  const place = findPlace(cluster);
  if (place === undefined || !existsSync(place.kubeconfig)) {
    throw new Error(`local cluster "${cluster}" does not exist: run \`make up\``);
  }
  return place.kubeconfig;
}

/** Reads address and key of the release. PLOSIVE_BASE_URL overrides the address, for services without a node port. */
export async function findService(
  target: Target = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<Connection> {
  const { cluster, namespace = "plosive", release = "plosive" } = target;
  const kubeconfig = kubeconfigOf(cluster, env);
  const get = async <T extends z.ZodType>(schema: T, ...what: string[]): Promise<z.infer<T>> => {
    const args = [
      "--kubeconfig",
      kubeconfig,
      "-n",
      namespace,
      "get",
      ...what,
      "-o",
      "json",
      "--request-timeout=15s",
    ];
    const { stdout } = await run(kubectlPath(), args, { maxBuffer: 1 << 24 });
    return schema.parse(JSON.parse(stdout));
  };
  const { data } = await get(secret, "secret", `${release}-initial-api-key`);
  return {
    base_url: env.PLOSIVE_BASE_URL ?? (await nodePortAddress(get, `${release}-api`)),
    api_key: Buffer.from(data["api-key"], "base64").toString("utf8"),
    kubeconfig,
    namespace,
  };
}

async function nodePortAddress(
  get: <T extends z.ZodType>(schema: T, ...what: string[]) => Promise<z.infer<T>>,
  name: string,
): Promise<string> {
  const [{ spec }, { items }] = await Promise.all([get(service, "service", name), get(nodes, "nodes")]);
  const port = spec.ports.find((one) => one.nodePort !== undefined)?.nodePort;
  const address = items[0]?.status.addresses.find((one) => one.type === "InternalIP")?.address;
  if (port === undefined || address === undefined) {
    throw new Error(
      `service ${name} of type ${spec.type} has no node port: forward a port to it and set PLOSIVE_BASE_URL`,
    );
  }
  return `http://${address}:${port}`;
}
