#!/usr/bin/env bash
# Checks a release of Plosive: the signature of sha256sums.txt with a public key that you already have, then every file.
# Usage: verify.sh PUBLIC_KEY [FOLDER]     (the folder of this script by default). Needs openssl and sha256sum.
# Exit code 0 only if the signature is valid, and each file that is there is one of the release, unchanged. Names those that are
# not there.
set -euo pipefail

key=${1:?usage: verify.sh PUBLIC_KEY [FOLDER]}
folder=${2:-$(dirname "${BASH_SOURCE[0]}")}
fail() { echo "verify: $*" >&2 && exit 1; }

[[ -r $key ]] || fail "cannot read the public key $key: take it from a place that you trust, not from the release"
for file in sha256sums.txt sha256sums.txt.sig; do [[ -r $folder/$file ]] || fail "$folder has no $file: download it again"; done
key=$(realpath "$key")
cd "$folder"

openssl dgst -sha256 -verify "$key" -signature sha256sums.txt.sig sha256sums.txt >/dev/null 2>&1 ||
  fail "sha256sums.txt was not signed with this key: do not use this release"
sha256sum --check --strict --quiet --ignore-missing sha256sums.txt || fail "files differ from their signed checksums: download them again"

export LC_ALL=C
known=$(cut -c67- sha256sums.txt | sort)
there=$(find . ! -type d ! -path ./sha256sums.txt ! -path ./sha256sums.txt.sig ! -samefile "$key" -printf '%P\n' | sort)
unknown=$(comm -13 <(echo "$known") <(echo "$there"))
[[ -z $unknown ]] || fail "these files are not part of the release: ${unknown//$'\n'/, }"
missing=$(comm -23 <(echo "$known") <(echo "$there"))
[[ -z $missing ]] || echo "verify: not here: ${missing//$'\n'/, }"
echo "verify: $(wc -l <<<"$there") files are as the owner of $(basename "$key") signed them"
