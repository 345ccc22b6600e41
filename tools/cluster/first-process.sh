#!/usr/bin/env bash
# The first process (pid 1) of a local cluster's namespaces: covers the few host paths that Kubernetes insists on, starts the
# supervisor, reaps orphans. When it ends, or is killed, the kernel ends everything else. Started by namespaces.ts:
# first-process.sh <mark> <cluster dir> <node binary> <supervisor.ts> <cluster name>
set -euo pipefail
dir=$2 node=$3 supervisor=$4 name=$5

ip link set lo up
# A /run of its own: sockets, lock files and network namespaces of the pods are gone with the cluster.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
# Paths that are fixed in kubelet and CNI. The empty folders below /var are removed again by `down`.
for path in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers; do
  mkdir -p "$path" "$dir$path"
  mount --bind "$dir$path" "$path"
done

# The kubelet wants these settings of the whole machine to have certain values and would change them. It is shown files
# with those values instead (its containers see the real ones), so that a local cluster leaves the machine as it was.
cover() {
  [[ -e /proc/sys/$1 ]] || return 0
  local file=$dir/sysctl/${1//\//.}
  mkdir -p "$dir/sysctl"
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}
cover vm/overcommit_memory 1
cover vm/panic_on_oom 0
cover kernel/panic 10
cover kernel/panic_on_oops 1
cover kernel/keys/root_maxkeys 1000000
cover kernel/keys/root_maxbytes 25000000

# These belong to the network namespace, so only to this cluster.
echo 1 >/proc/sys/net/ipv4/ip_forward
if [[ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi

"$node" "$supervisor" --name "$name" &
# bash reaps the containers' shims, which the kernel hands to pid 1, while it waits for the supervisor.
wait $!
