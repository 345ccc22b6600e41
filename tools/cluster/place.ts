// The place of a local cluster of a given name: its folders, addresses and interface. Pure, except for claiming a
// number. Called by up.ts, down.ts, status.ts, supervisor.ts and the e2e test, which runs its own cluster beside the
// demo's.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDir } from "../cache.ts";
import type { Place } from "./flags.ts";
import type { Pki } from "./pki.ts";

export const defaultName = "plosive";

/** Each cluster number has its own block of addresses, so that clusters can run side by side. */
export interface AddressBlock {
  readonly number: number;
  /** The ends of the veth pair: on the host, and in the cluster (API server, node, node ports). */
  readonly hostAddress: string;
  readonly insideAddress: string;
  readonly linkPrefix: number;
  readonly hostInterface: string;
  /** The range that the host routes to the cluster: pods and cluster IPs. */
  readonly routedRange: string;
  readonly podRange: string;
  readonly serviceRange: string;
  readonly kubernetesServiceAddress: string;
  readonly dnsAddress: string;
}

export interface ClusterPlace {
  readonly name: string;
  /** The state folder, which `down` deletes. */
  readonly dir: string;
  /** containerd's store. `down` keeps it, so that images need not be delivered again. */
  readonly imagesDir: string;
  readonly kubeconfig: string;
  readonly addresses: AddressBlock;
  readonly server: string;
  readonly cgroup: string;
  /** A mark in the command line of the cluster's first process, to find it without a pid file, which could be stale. */
  readonly mark: string;
}

const largestNumber = 63;

/** Block n: 10.90.n.0/30 for the link, 10.(128+n).0.0/16 for pods (lower half) and services (upper half). */
export function addressBlock(number: number): AddressBlock {
  if (!Number.isInteger(number) || number < 0 || number > largestNumber) {
    throw new Error(`cluster number ${number} is not within 0..${largestNumber}`);
  }
  const net = `10.${128 + number}`;
  return {
    number,
    hostAddress: `10.90.${number}.1`,
    insideAddress: `10.90.${number}.2`,
    linkPrefix: 30,
    hostInterface: `plosive${number}`,
    routedRange: `${net}.0.0/16`,
    podRange: `${net}.0.0/17`,
    serviceRange: `${net}.128.0/17`,
    kubernetesServiceAddress: `${net}.128.1`,
    dnsAddress: `${net}.128.10`,
  };
}

/** The default cluster always has number 0; others get the lowest free number. */
export function chooseNumber(name: string, taken: ReadonlyMap<string, number>): number {
  const own = taken.get(name);
  if (own !== undefined) return own;
  if (name === defaultName) return 0;
  const used = new Set(taken.values());
  for (let number = 1; number <= largestNumber; number++) if (!used.has(number)) return number;
  throw new Error(
    `all ${largestNumber} cluster numbers are taken; remove a cluster of ${join(cacheDir, "clusters")}`,
  );
}

export function checkName(name: string): string {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(name)) {
    throw new Error(
      `"${name}" is not a valid cluster name: use 1 to 31 of a-z, 0-9 and -, starting with a letter`,
    );
  }
  return name;
}

const clustersDir = () => join(cacheDir, "clusters");
const numberFile = (name: string) => join(clustersDir(), name, "number");

/** The numbers of all clusters that have a state folder. */
function takenNumbers(): Map<string, number> {
  mkdirSync(clustersDir(), { recursive: true });
  const taken = new Map<string, number>();
  for (const name of readdirSync(clustersDir())) {
    try {
      taken.set(name, Number(readFileSync(numberFile(name), "utf8")));
    } catch {
      // A folder without a number: the images of another cluster, or a cluster that is being deleted.
    }
  }
  return taken;
}

function placeWith(name: string, number: number): ClusterPlace {
  const dir = join(clustersDir(), name);
  const addresses = addressBlock(number);
  return {
    name,
    dir,
    imagesDir: join(clustersDir(), `${name}-images`),
    kubeconfig: join(dir, "kubeconfig"),
    addresses,
    server: `https://${addresses.insideAddress}:6443`,
    cgroup: `plosive-${name}`,
    mark: `plosive-cluster=${name}`,
  };
}

/** The place of an existing cluster, or undefined. */
export function findPlace(name: string): ClusterPlace | undefined {
  const number = takenNumbers().get(checkName(name));
  return number === undefined ? undefined : placeWith(name, number);
}

/** Claims a number for the cluster, until `down` releases it. The caller holds the lock of all clusters. */
export function claimPlace(name: string): ClusterPlace {
  const number = chooseNumber(checkName(name), takenNumbers());
  const place = placeWith(name, number);
  mkdirSync(place.dir, { recursive: true });
  mkdirSync(place.imagesDir, { recursive: true });
  writeFileSync(numberFile(name), String(number));
  return place;
}

/**
 * The same control plane as in tests, at an address that pods and the host can reach. Its namespace has its own ports.
 */
export function controlPlaneOf(place: ClusterPlace, pki: Pki): Place {
  const { insideAddress, serviceRange } = place.addresses;
  const ports = { etcd: 2379, etcdPeer: 2380, api: 6443 };
  return { dir: place.dir, pki, address: insideAddress, ports, serviceRange, hasNode: true };
}
