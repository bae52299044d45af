#!/usr/bin/env bash
# The image of PostgreSQL runs this once in the primary, when it makes the database: it makes a user that may
# replicate, and a slot that keeps the log for the standby while that is away, up to 4 GB.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --set password="$REPLICATION_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
create role replicator with replication login password :'password';
select pg_create_physical_replication_slot('replica');
alter system set max_slot_wal_keep_size = '4GB';
select pg_reload_conf();
SQL
echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
