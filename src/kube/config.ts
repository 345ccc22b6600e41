// Finds the API server's address and our credentials: from a kubeconfig file or the pod's service account. Only this
// file imports client-node, because its KubeConfig supports every kind of kubeconfig. client-node's own requests make a
// new TLS agent (and handshake) for each call, so transport.ts replaces them. Called by makeKube.
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { clusterAddress } from "../config.ts";

type ClientNode = typeof import("@kubernetes/client-node");

export type Credentials = {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
  headers: Record<string, string>;
};

export type ServerAccess = {
  server: string;
  /** Returns the current credentials. They are cached for `maxAgeMs`, then read again: tokens expire. */
  credentials(): Promise<Credentials>;
};

/** Uses a kubeconfig file or, without a path, the pod's service account. Throws when neither is usable. */
export function serverAccess(kubeconfigPath: string | undefined, maxAgeMs = 30_000): ServerAccess {
  return kubeconfigPath === undefined
    ? podAccess(clusterAddress(), maxAgeMs)
    : fileAccess(kubeconfigPath, maxAgeMs);
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The kubelet gives every pod with a service account the address, the CA and a token, and renews the token. */
export function podAccess(
  { host, port }: ReturnType<typeof clusterAddress>,
  maxAgeMs: number,
  folder = accountFolder,
): ServerAccess {
  if (!host || !port)
    throw new Error("no API server found: set PLOSIVE_KUBECONFIG, or run in a pod with a service account");
  const account = async (): Promise<Credentials> => {
    const [ca, token] = await Promise.all([
      readFile(join(folder, "ca.crt"), "utf8"),
      readFile(join(folder, "token"), "utf8"),
    ]);
    return { ca, headers: { authorization: `Bearer ${token.trim()}` } };
  };
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    credentials: cachedFor(account, maxAgeMs),
  };
}

/** Loads client-node only here: it takes 60 MiB of memory, and pods never need it. */
function fileAccess(path: string, maxAgeMs: number): ServerAccess {
  const { KubeConfig } = createRequire(import.meta.url)("@kubernetes/client-node") as ClientNode;
  const config = new KubeConfig();
  config.loadFromFile(path);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`the current context of kubeconfig ${path} names no cluster`);
  return {
    server: cluster.server.replace(/\/$/, ""),
    credentials: cachedFor(() => read(config), maxAgeMs),
  };
}

/** Caches credentials for `maxAgeMs`. Failures are not cached: the next caller tries again. */
function cachedFor(read: () => Promise<Credentials>, maxAgeMs: number): () => Promise<Credentials> {
  let cached: { at: number; value: Promise<Credentials> } | undefined;
  return () => {
    const now = performance.now();
    if (cached === undefined || now - cached.at > maxAgeMs) {
      cached = { at: now, value: read() };
      cached.value.catch(() => {
        cached = undefined;
      });
    }
    return cached.value;
  };
}

async function read(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions & { headers: Record<string, string> } = { headers: {} };
  await config.applyToHTTPSOptions(options as Parameters<KubeConfig["applyToHTTPSOptions"]>[0]);
  const { ca, cert, key, servername, rejectUnauthorized, auth, headers } = options;
  const given = headers as Record<string, string>;
  return {
    ca: ca as string | Buffer | undefined,
    cert: cert as string | Buffer | undefined,
    key: key as string | Buffer | undefined,
    servername,
    rejectUnauthorized,
    headers: { ...given, ...(typeof auth === "string" ? { authorization: `Basic ${btoa(auth)}` } : {}) },
  };
}
