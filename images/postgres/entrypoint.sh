#!/bin/bash
# Makes the database on the first start, then becomes the server. Entry point of images/postgres.
# POSTGRES_PASSWORD_FILE or POSTGRES_PASSWORD (required at the first start), POSTGRES_USER and POSTGRES_DB (default plosive).
# Further arguments go to the server, e.g. -c max_connections=50.
set -euo pipefail

user=${POSTGRES_USER:-plosive}
database=${POSTGRES_DB:-$user}

# A first start that was killed half-way left no PG_VERSION under this name: the folder is renamed only when complete.
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  if [[ -n ${POSTGRES_PASSWORD_FILE:-} ]]; then POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE"); fi
  : "${POSTGRES_PASSWORD:?entrypoint: set POSTGRES_PASSWORD_FILE (a mounted secret) or POSTGRES_PASSWORD}"
  rm -rf "$PGDATA.new"
  initdb -D "$PGDATA.new" -U "$user" --pwfile=<(printf '%s' "$POSTGRES_PASSWORD") --auth=scram-sha-256 \
    --encoding=UTF8 --locale=C.UTF-8 --data-checksums
  echo "host all all all scram-sha-256" >>"$PGDATA.new/pg_hba.conf"
  if [[ $database != postgres ]]; then
    # Single-user mode needs no password and opens no port.
    printf 'CREATE DATABASE "%s"\n' "${database//\"/\"\"}" | postgres --single -D "$PGDATA.new" postgres >/dev/null
  fi
  mv -T "$PGDATA.new" "$PGDATA"
fi
unset POSTGRES_PASSWORD

# A kubelet that mounts the volume again gives it to the pod's group (fsGroup), and the server refuses such a folder.
chmod 00700 "$PGDATA"

exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
