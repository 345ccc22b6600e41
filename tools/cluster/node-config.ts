// Configuration files and flags of the node's programs (containerd, pod network, kubelet, kube-proxy, kube-router, CoreDNS), as pure
// functions of the cluster's place. Called by up.ts, which writes the files, and supervisor.ts, which starts the
// programs.
import { join } from "node:path";
import { kubeconfigOf } from "./flags.ts";
import type { ClusterPlace } from "./place.ts";

export const containerdSocket = "/run/containerd/containerd.sock";
/**
 * The pause image of every pod; pinned, so that containerd never removes it. Built by tools/images, delivered like the
 * others.
 */
export const pauseImage = "docker.io/local/plosive-pause:1";

export interface NodeFiles {
  readonly containerd: string;
  readonly cni: string;
  readonly kubelet: string;
  readonly corefile: string;
  readonly resolvConf: string;
}

export function nodeFilesOf({ dir }: ClusterPlace): NodeFiles {
  return {
    containerd: join(dir, "containerd.toml"),
    cni: join(dir, "cni", "10-plosive.conflist"),
    kubelet: join(dir, "kubelet.json"),
    corefile: join(dir, "Corefile"),
    resolvConf: join(dir, "resolv.conf"),
  };
}

export function containerdConfig(place: ClusterPlace, paths: { cniBin: string; runc: string }): string {
  return `version = 3
root = "${place.imagesDir}"
state = "/run/containerd"
[grpc]
address = "${containerdSocket}"
[plugins.'io.containerd.cri.v1.images']
snapshotter = "overlayfs"
# Compressed layers are not needed after unpacking; the trainer's are several GB.
discard_unpacked_layers = true
max_concurrent_downloads = 3
[plugins.'io.containerd.cri.v1.images'.registry]
# Empty, unless a test names a registry on this machine here.
config_path = "${join(place.dir, "registries")}"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = "${pauseImage}"
[plugins.'io.containerd.cri.v1.runtime']
# Without CAP_SYS_RESOURCE runc cannot lower the OOM score, and then no sandbox starts.
restrict_oom_score_adj = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = "${paths.runc}"
SystemdCgroup = false
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ["${paths.cniBin}"]
conf_dir = "${join(place.dir, "cni")}"
`;
}

/** One bridge inside the cluster's network namespace. */
export function cniConfig({ dir, addresses }: ClusterPlace): string {
  return json({
    cniVersion: "1.0.0",
    name: "plosive",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: "host-local",
          dataDir: join(dir, "cni-addresses"),
          ranges: [[{ subnet: addresses.podRange }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  });
}

export function kubeletConfig(place: ClusterPlace): string {
  const files = nodeFilesOf(place);
  return json({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(place.dir, "pki", "ca.crt") },
    },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    cgroupDriver: "cgroupfs",
    // A separate root, so that `down` can find and remove what the cluster leaves behind.
    cgroupRoot: `/${place.cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    // first-process.sh mounts files with the required values over these kernel settings.
    protectKernelDefaults: true,
    oomScoreAdj: 0,
    clusterDNS: [place.addresses.dnsAddress],
    clusterDomain: "cluster.local",
    resolvConf: files.resolvConf,
    // The disk belongs to the developer: its fill level must not evict pods or remove images.
    evictionHard: {
      "memory.available": "100Mi",
      "nodefs.available": "1%",
      "nodefs.inodesFree": "1%",
      "imagefs.available": "1%",
    },
    imageGCHighThresholdPercent: 100,
    serializeImagePulls: false,
    volumePluginDir: join(place.dir, "volume-plugins"),
    readOnlyPort: 0,
    syncFrequency: "30s",
  });
}

export function kubeletFlags(place: ClusterPlace): string[] {
  return [
    `--config=${nodeFilesOf(place).kubelet}`,
    `--kubeconfig=${kubeconfigOf(place, "kubelet")}`,
    `--hostname-override=${place.name}`,
    `--node-ip=${place.addresses.insideAddress}`,
  ];
}

export function kubeProxyFlags(place: ClusterPlace): string[] {
  return [
    `--kubeconfig=${kubeconfigOf(place, "proxy")}`,
    `--hostname-override=${place.name}`,
    `--cluster-cidr=${place.addresses.podRange}`,
    "--proxy-mode=iptables",
    // Connection tracking limits are machine-wide, so kube-proxy must not change them.
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
    "--oom-score-adj=0",
    "--metrics-bind-address=127.0.0.1:10249",
  ];
}

/**
 * kube-router enforces NetworkPolicy, and does nothing else here. kube-network-policies would need queues of nftables, which not
 * every kernel has.
 */
export function kubeRouterFlags(place: ClusterPlace): string[] {
  return [
    `--kubeconfig=${kubeconfigOf(place, "network-policy")}`,
    `--hostname-override=${place.name}`,
    `--service-cluster-ip-range=${place.addresses.serviceRange}`,
    "--run-firewall=true",
    "--run-router=false",
    "--run-service-proxy=false",
  ];
}

/** Resolves only the cluster's own names: pods cannot reach networks outside the cluster. */
export function corefile(place: ClusterPlace): string {
  return `.:53 {
    bind ${place.addresses.insideAddress}
    errors
    kubernetes cluster.local in-addr.arpa {
        kubeconfig ${kubeconfigOf(place, "dns")} plosive
    }
    cache 5
}
`;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
