#!/usr/bin/env bash
# Builds the pinned Go tools of the local cluster and of the tests, one Go module per family (tools/go/<family>), into
# ${PLOSIVE_CACHE:-~/.cache/plosive}/bin and cni. Called by `make tools` and CI: tools/build.sh [family...]
# A family is built once per content of its folder; a killed build leaves nothing that looks finished.
# PLOSIVE_GOARCH=arm64 tools/build.sh versitygw builds for another processor architecture, into bin/arm64 (tools/images).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${PLOSIVE_CACHE:-$HOME/.cache/plosive}
# The order is that of need: the control plane is what most tests wait for.
all=(etcd kubernetes versitygw helm containerd runc cni coredns kube-router oasdiff)
# Built by name only: kueue, otelcol and kube-score (make test), kwok (make bench-operator), kubernetes-1.31 and minio (make compat), gitleaks and
# govulncheck (make audit), cosign and syft (make release), crane (a registry for the tests of releases).

# The version of a family's module, read from its own go.mod: it is stamped into the binaries.
pinned() { awk -v m="$2" '$1 == m && $2 ~ /^v/ {print $2; exit} $1 == "require" && $2 == m {print $3; exit}' "$here/go/$1/go.mod"; }

# Writes the binaries of a family into the folder $2. Runs inside the family's module.
compile() {
  local out=$2 version
  case $1 in
  kubernetes | kubernetes-*)
    version=$(pinned "$1" k8s.io/kubernetes)
    local programs=(kube-apiserver kube-controller-manager)
    [[ $1 == kubernetes ]] && programs+=(kube-scheduler kubelet kube-proxy kubectl)
    # Without these stamps `kubectl version` and the API server's /version report an error.
    local stamp=k8s.io/component-base/version
    CGO_ENABLED=0 go build -trimpath -o "$out/" -ldflags "-s -w \
      -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$(cut -d. -f2 <<<"$version") \
      -X k8s.io/client-go/pkg/version.gitVersion=$version" \
      "${programs[@]/#/k8s.io/kubernetes/cmd/}"
    ;;
  etcd) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/etcd" go.etcd.io/etcd/server/v3 ;;
  versitygw)
    CGO_ENABLED=0 go build -trimpath -o "$out/versitygw" \
      -ldflags "-s -w -X main.Version=$(pinned versitygw github.com/versity/versitygw)" github.com/versity/versitygw/cmd/versitygw
    ;;
  minio)
    CGO_ENABLED=0 go build -trimpath -o "$out/minio" \
      -ldflags "-s -w -X github.com/minio/minio/cmd.Version=$(pinned minio github.com/minio/minio)" github.com/minio/minio
    ;;
  helm)
    CGO_ENABLED=0 go build -trimpath -o "$out/helm" \
      -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$(pinned helm helm.sh/helm/v3)" helm.sh/helm/v3/cmd/helm
    ;;
  containerd)
    CGO_ENABLED=0 go build -trimpath -o "$out/" \
      -ldflags "-s -w -X github.com/containerd/containerd/v2/version.Version=$(pinned containerd github.com/containerd/containerd/v2)" \
      github.com/containerd/containerd/v2/cmd/{containerd,containerd-shim-runc-v2,ctr}
    ;;
  runc)
    # cgo: runc enters namespaces from C before Go's runtime starts. Needs libseccomp-dev and pkg-config (make deps).
    CGO_ENABLED=1 go build -trimpath -tags seccomp -o "$out/runc" \
      -ldflags "-s -w -X main.version=$(pinned runc github.com/opencontainers/runc | tr -d v)" github.com/opencontainers/runc
    ;;
  cni)
    CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/" \
      github.com/containernetworking/plugins/plugins/{main/bridge,main/loopback,ipam/host-local,meta/portmap}
    ;;
  coredns) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/coredns" github.com/coredns/coredns ;;
  kube-router)
    CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/kube-router" github.com/cloudnativelabs/kube-router/v2/cmd/kube-router
    ;;
  kwok) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/kwok" sigs.k8s.io/kwok/cmd/kwok ;;
  otelcol) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/otelcol" . ;;
  oasdiff) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/oasdiff" github.com/oasdiff/oasdiff ;;
  kueue)
    CGO_ENABLED=0 go build -trimpath -o "$out/kueue" \
      -ldflags "-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=$(pinned kueue sigs.k8s.io/kueue)" sigs.k8s.io/kueue/cmd/kueue
    # Its manifests are in the module too; tools/kueue.ts installs them.
    local module
    module=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
    mkdir "$out/kueue-manifests"
    cp "$module"/config/components/crd/bases/*.yaml "$module/config/components/webhook/manifests.yaml" "$out/kueue-manifests/"
    chmod -R u+w "$out/kueue-manifests"
    ;;
  gitleaks) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/gitleaks" github.com/zricethezav/gitleaks/v8 ;;
  cosign)
    CGO_ENABLED=0 go build -trimpath -o "$out/cosign" \
      -ldflags "-s -w -X sigs.k8s.io/release-utils/version.gitVersion=$(pinned cosign github.com/sigstore/cosign/v3)" github.com/sigstore/cosign/v3/cmd/cosign
    ;;
  syft)
    CGO_ENABLED=0 go build -trimpath -o "$out/syft" -ldflags "-s -w -X main.version=$(pinned syft github.com/anchore/syft)" github.com/anchore/syft/cmd/syft
    ;;
  crane) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/crane" github.com/google/go-containerregistry/cmd/crane ;;
  kube-score) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/kube-score" github.com/zegl/kube-score/cmd/kube-score ;;
  govulncheck) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$out/govulncheck" golang.org/x/vuln/cmd/govulncheck ;;
  *) echo "tools/build.sh: no family named '$1' (known: ${all[*]})" >&2 && return 2 ;;
  esac
}

# Points $cache/bin/<name> (CNI plugins: $cache/cni/<name>) at the finished build; ln -sfn via rename, so a reader never sees a gap.
link() {
  local folder=$1 into=$2 file
  mkdir -p "$into"
  for file in "$folder"/*; do
    [[ $(readlink "$into/${file##*/}" || true) == "$file" ]] && continue
    ln -s "$file" "$into/.${file##*/}.$$" && mv -Tf "$into/.${file##*/}.$$" "$into/${file##*/}"
  done
}

build() {
  local family=$1 key folder into=$cache/bin started=$SECONDS
  [[ -f $here/go/$family/go.mod ]] || { echo "tools/build.sh: tools/go/$family/go.mod is missing (known: ${all[*]})" >&2; return 2; }
  [[ $family == cni ]] && into=$cache/cni
  # A second version of a family has a folder of its own, so that its programs do not replace those of the first.
  [[ $family == kubernetes-* ]] && into=$cache/bin/$family
  # For images of another processor architecture.
  [[ -n ${PLOSIVE_GOARCH:-} ]] && into=$cache/bin/$PLOSIVE_GOARCH && export GOARCH=$PLOSIVE_GOARCH
  key=$(cat "$here/go/$family/"* | sha256sum | cut -c1-12)
  folder=$cache/tools/$family${PLOSIVE_GOARCH:+-$PLOSIVE_GOARCH}-$key
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache/tools"
    # One builder per family at a time; whoever waited finds the finished folder.
    exec 9>"$cache/tools/.$family.lock"
    flock 9
    if [[ ! -d $folder ]]; then
      echo "tools: building $family ..."
      local temporary
      temporary=$(mktemp -d "$cache/tools/.building-$family.XXXXXX")
      # shellcheck disable=SC2064
      trap "rm -rf '$temporary'" EXIT
      (cd "$here/go/$family" && GOFLAGS="-mod=readonly -buildvcs=false" compile "$family" "$temporary")
      chmod 755 "$temporary"
      mv -T "$temporary" "$folder"
      echo "tools: built $family in $((SECONDS - started)) s"
    fi
    exec 9>&-
  fi
  link "$folder" "$into"
}

for family in "${@:-${all[@]}}"; do build "$family"; done
