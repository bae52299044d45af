#!/usr/bin/env bash
# Starts a standby: an empty one copies the primary first, and follows it from there. It is promoted by
# `docker compose exec --user postgres replica pg_ctl promote`; the old primary must not come back as one.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  [ "$(id -u)" != 0 ] || chown -R postgres "$PGDATA"
  copy=(env "PGPASSWORD=$REPLICATION_PASSWORD" pg_basebackup --host "$PRIMARY_HOST"
    --username replicator --slot replica --pgdata "$PGDATA"
    --checkpoint fast --wal-method stream --write-recovery-conf)
  [ "$(id -u)" != 0 ] || copy=(gosu postgres "${copy[@]}")
  "${copy[@]}"
fi
exec docker-entrypoint.sh "$@"
