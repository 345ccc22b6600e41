#!/usr/bin/env bash
# The first process (pid 1) of a local cluster's namespaces. Mounts over the few host paths that Kubernetes requires,
# starts the supervisor and reaps orphans. When it ends, the kernel kills all other processes. Started by namespaces.ts:
# first-process.sh <mark> <cluster dir> <node binary> <supervisor.ts> <cluster name>
set -euo pipefail
dir=$2 node=$3 supervisor=$4 name=$5

ip link set lo up
# A private /run, so that sockets, lock files and network namespaces of the pods disappear with the cluster.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
# Paths that are fixed in kubelet and CNI. `down` removes the empty folders below /var.
for path in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers; do
  mkdir -p "$path" "$dir$path"
  mount --bind "$dir$path" "$path"
done

# The kubelet requires certain values of these machine-wide settings and would change them. Files with those values are
# mounted over them instead (containers see the real ones), so that a local cluster does not change the machine.
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

# These settings belong to the network namespace, so they affect only this cluster.
echo 1 >/proc/sys/net/ipv4/ip_forward
if [[ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]]; then echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables; fi

"$node" "$supervisor" --name "$name" &
# While bash waits for the supervisor, it also reaps the containers' shims, whose parent is pid 1.
wait $!
