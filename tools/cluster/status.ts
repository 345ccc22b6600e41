// Determines the state of a local cluster from its processes, API server and node. Called by main.ts (make
// cluster-status).
import { join } from "node:path";
import { answers, isNodeReady } from "./api-call.ts";
import { firstProcess } from "./namespaces.ts";
import { pkiAt } from "./pki.ts";
import { checkName, findPlace } from "./place.ts";

export interface ClusterStatus {
  readonly name: string;
  readonly state: "absent" | "stopped" | "starting" | "ready";
  readonly server?: string;
  readonly kubeconfig?: string;
  readonly nodeAddress?: string;
  readonly firstPid?: number;
  readonly logs?: string;
}

export async function status(name: string): Promise<ClusterStatus> {
  const place = findPlace(checkName(name));
  if (place === undefined) return { name, state: "absent" };
  const { server, kubeconfig, addresses, dir } = place;
  const firstPid = firstProcess(place);
  const facts = {
    server,
    kubeconfig,
    nodeAddress: addresses.insideAddress,
    firstPid,
    logs: join(dir, "logs"),
  };
  if (firstPid === undefined) return { name, state: "stopped", ...facts };
  const pki = pkiAt(join(dir, "pki"));
  const isServing = await answers(pki, `${server}/readyz`);
  const isReady = isServing && (await isNodeReady(pki, server, name).catch(() => false));
  return { name, state: isReady ? "ready" : "starting", ...facts };
}
