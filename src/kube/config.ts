// Where the API server is and who we are: a kubeconfig file or the pod's own service account. The only import of
// client-node: its KubeConfig knows every kind of kubeconfig; its request code makes a new TLS agent (and handshake)
// for each call, so transport.ts brings its own. Called by makeKube.
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";

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
  /** The present credentials; tokens are read anew when they are older than `maxAgeMs`. */
  credentials(): Promise<Credentials>;
};

/** Reads a kubeconfig file, or without a path the pod's service account. Throws when neither is usable. */
export function serverAccess(kubeconfigPath: string | undefined, maxAgeMs = 30_000): ServerAccess {
  const config = new KubeConfig();
  if (kubeconfigPath === undefined) {
    config.loadFromCluster();
    // client-node builds the address from the pod's environment without looking whether there is one.
    if (config.getCurrentCluster()?.server.includes("undefined")) {
      throw new Error("no API server: set PLOSIVE_KUBECONFIG, or run in a pod with a service account");
    }
  } else {
    config.loadFromFile(kubeconfigPath);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${kubeconfigPath ?? "the pod's service account"} names no cluster`);

  let cached: { at: number; value: Promise<Credentials> } | undefined;
  return {
    server: cluster.server.replace(/\/$/, ""),
    credentials() {
      const now = performance.now();
      if (cached === undefined || now - cached.at > maxAgeMs) {
        cached = { at: now, value: read(config) };
        cached.value.catch(() => {
          cached = undefined;
        });
      }
      return cached.value;
    },
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
