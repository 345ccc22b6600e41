// The cluster of the drills, and the service of the upgrade drill: the chart with a database and an object store outside the cluster.
// drill.test.ts installs the service as the guide says (walk.ts). Called by drill.test.ts and upgrade.test.ts.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { install, kubectl, uninstall } from "../../tools/chart.ts";
import { type ClusterPlace, findPlace } from "../../tools/cluster/place.ts";
import { deliver, tidy } from "../../tools/images/deliver.ts";
import { chartImages, pause, referenceOf } from "../../tools/images/images.ts";
import type { S3Server } from "../../tools/s3.ts";
import { clusterName, namespace } from "../e2e/cluster.ts";
import { bucket, type Database } from "./servers.ts";

const run = promisify(execFile);
const names = Object.keys(chartImages) as (keyof typeof chartImages)[];
const parts = ["plosive-api", "plosive-operator", "plosive-runs"];

/** Brings up an empty cluster with the images. */
export async function startCluster(): Promise<ClusterPlace> {
  await stopCluster();
  await run(process.execPath, ["tools/cluster/main.ts", "up", "--name", clusterName], { maxBuffer: 1 << 26 });
  const place = findPlace(clusterName);
  if (place === undefined) throw new Error(`there is no cluster ${clusterName}`);
  // The worker images, and the service's; the servers are outside.
  const wanted = [
    pause,
    ...names.filter((name) => name !== "postgres" && name !== "s3").map((name) => chartImages[name]),
  ];
  await deliver(place, wanted.map(referenceOf), () => {});
  await tidy(place, wanted.map(referenceOf));
  return place;
}

export const stopCluster = () =>
  run(process.execPath, ["tools/cluster/main.ts", "down", "--name", clusterName], { maxBuffer: 1 << 26 });

export const targetOf = ({ kubeconfig }: ClusterPlace) => ({ kubeconfig, namespace });

/** The Secrets that docs/install.md creates. */
export function createSecrets(place: ClusterPlace, database: Database, store: S3Server): void {
  const secret = (name: string, members: Record<string, string>) =>
    kubectl(targetOf(place), [
      ...["create", "secret", "generic", name],
      ...Object.entries(members).map(([member, value]) => `--from-literal=${member}=${value}`),
    ]);
  secret("plosive-db", {
    url: database.urlOf("owner"),
    "api-url": database.urlOf("api"),
    "operator-url": database.urlOf("operator"),
  });
  secret("plosive-s3", { "access-key-id": store.accessKey, "secret-access-key": store.secretKey });
}

export const createNamespace = (place: ClusterPlace) =>
  kubectl(targetOf(place), ["create", "namespace", namespace]);

/** Installs the chart, or upgrades it. */
export const installService = (place: ClusterPlace, { endpoint }: S3Server) =>
  install({
    ...targetOf(place),
    images: Object.fromEntries(names.map((name) => [name, referenceOf(chartImages[name])])),
    valueFiles: [join(import.meta.dirname, "values.yaml")],
    values: { "objectStore.endpoint": endpoint, "objectStore.bucket": bucket },
  });

export const uninstallService = (place: ClusterPlace) => uninstall(targetOf(place));

export function startService(place: ClusterPlace): void {
  const target = targetOf(place);
  kubectl(target, ["scale", "deployment", ...parts, "--replicas=2"]);
  for (const part of parts) kubectl(target, ["rollout", "status", `deployment/${part}`, "--timeout=300s"]);
}
