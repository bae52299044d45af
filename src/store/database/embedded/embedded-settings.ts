/** The settings of the embedded PostgreSQL, for the memory and the disk that it may use. */

const MIB = 1024 ** 2;

/**
 * The settings by their PostgreSQL names. None of them reduces durability: fsync, full_page_writes and
 * synchronous_commit stay on.
 *
 * @param memoryBytes of the container or machine, which the gateway and other programs share
 * @param diskBytes the size of the file system of the data directory
 */
export function embeddedSettings({
  memoryBytes,
  diskBytes,
}: {
  readonly memoryBytes: number;
  readonly diskBytes: number;
}): Readonly<Record<string, string>> {
  const memory = memoryBytes / MIB;
  const disk = diskBytes / MIB;
  return {
    listen_addresses: '127.0.0.1',
    // The path of a data directory may be too long for a socket.
    unix_socket_directories: '',
    max_connections: '100',
    shared_buffers: megabytes(memory / 8, 32, 512),
    effective_cache_size: megabytes(memory / 2, 64, Number.POSITIVE_INFINITY),
    // Each sort of each connection may use as much, and each index build the second.
    work_mem: megabytes(memory / 128, 4, 16),
    maintenance_work_mem: megabytes(memory / 16, 16, 128),
    // A log that fills the disk would stop the server.
    max_wal_size: megabytes(disk / 16, 64, 2048),
    min_wal_size: megabytes(disk / 16, 64, 80),
    random_page_cost: '1.1',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // Deadlocked writes are retried, so they should be detected early.
    deadlock_timeout: '250ms',
    log_min_messages: 'warning',
    log_line_prefix: '%m [%p] %d ',
  };
}

function megabytes(wanted: number, least: number, most: number): string {
  return `${Math.floor(Math.min(most, Math.max(least, wanted)))}MB`;
}
