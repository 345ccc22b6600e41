#!/bin/bash
# Entry point of images/postgres: creates the database on the first start, then becomes the server process. Reads
# POSTGRES_PASSWORD_FILE or POSTGRES_PASSWORD (required on the first start), POSTGRES_USER and POSTGRES_DB (default
# plosive). Passes its arguments on to the server, e.g. -c max_connections=50.
set -euo pipefail

user=${POSTGRES_USER:-plosive}
database=${POSTGRES_DB:-$user}

# If a first start is killed half-way, $PGDATA has no PG_VERSION: the folder gets this name only when it is complete.
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

# When the kubelet mounts the volume again, it makes the folder accessible to the pod's group (fsGroup). Postgres
# refuses to start on such a folder.
chmod 00700 "$PGDATA"

exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
