// The command lines of the control plane, as pure functions of its place. Called by control-plane.ts (tests, loopback)
// and supervisor.ts (the full cluster in its namespaces), so that both run the same components with the same options.
import { join } from "node:path";
import type { Pki } from "./pki.ts";

export interface Place {
  /** Folder of this control plane's data and kubeconfigs. */
  readonly dir: string;
  readonly pki: Pki;
  /** The address at which the API server listens and is advertised. */
  readonly address: string;
  readonly ports: { readonly etcd: number; readonly etcdPeer: number; readonly api: number };
  readonly serviceRange: string;
  /** True if a kubelet runs and pods reach the API server; a control plane without a node has no address for them. */
  readonly hasNode: boolean;
}

export const kubeconfigOf = (place: Pick<Place, "dir">, identity: string): string =>
  join(place.dir, `${identity}.kubeconfig`);

/**
 * The environment of the components, which are Go programs: a quarter of the garbage collections for more memory. Above
 * the limit they collect as often as it takes. An API server with 10,000 jobs had 19 GiB without one.
 */
export const componentEnv = (): NodeJS.ProcessEnv => ({ ...process.env, GOGC: "400", GOMEMLIMIT: "6GiB" });

export const etcdData = ({ dir }: Pick<Place, "dir">): string => join(dir, "etcd");

/** etcd without fsync: a local cluster's data need not survive the machine, and fsync takes most of etcd's time. */
export function etcdFlags({ dir, ports }: Place): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    "--name=default",
    `--data-dir=${etcdData({ dir })}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

export function apiServerFlags(place: Place): string[] {
  const { pki, address, ports } = place;
  const kubelet = pki.pair("apiserver-kubelet");
  const server = pki.pair("apiserver");
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${ports.api}`,
    `--tls-cert-file=${server.cert}`,
    `--tls-private-key-file=${server.key}`,
    `--client-ca-file=${pki.caFile}`,
    "--authorization-mode=Node,RBAC",
    // NodeRestriction as on real clusters. PodSecurity is on by default; it is listed so that it cannot be lost
    // unnoticed.
    "--enable-admission-plugins=NodeRestriction,PodSecurity",
    "--anonymous-auth=false",
    "--allow-privileged=true",
    `--service-cluster-ip-range=${place.serviceRange}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-signing-key-file=${join(pki.dir, "service-accounts.key")}`,
    `--service-account-key-file=${join(pki.dir, "service-accounts.pub")}`,
    // Kubernetes rejects a loopback address as endpoint of its own Service, so a control plane without a node publishes
    // none.
    ...(!place.hasNode
      ? ["--endpoint-reconciler-type=none"]
      : [
          `--kubelet-client-certificate=${kubelet.cert}`,
          `--kubelet-client-key=${kubelet.key}`,
          // The node's name cannot be resolved, so logs and exec use its address.
          "--kubelet-preferred-address-types=InternalIP",
        ]),
    "--profiling=false",
  ];
}

export function controllerManagerFlags(place: Place): string[] {
  const { pki } = place;
  const ca = pki.pair("ca");
  return [
    `--kubeconfig=${kubeconfigOf(place, "controller-manager")}`,
    "--use-service-account-credentials",
    `--service-account-private-key-file=${join(pki.dir, "service-accounts.key")}`,
    `--root-ca-file=${pki.caFile}`,
    `--cluster-signing-cert-file=${ca.cert}`,
    `--cluster-signing-key-file=${ca.key}`,
    "--leader-elect=false",
    // No metrics port: several control planes run side by side on one machine.
    "--secure-port=0",
  ];
}

export function schedulerFlags(place: Place): string[] {
  return [`--kubeconfig=${kubeconfigOf(place, "scheduler")}`, "--leader-elect=false", "--secure-port=0"];
}
