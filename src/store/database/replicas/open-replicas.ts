import type pg from 'pg';
import type { ConnectionWatch } from '../connection-watch.js';
import { PrimaryLog, parsePosition } from './primary-log.js';
import { IDENTITY, Replica, type ReplicaOptions } from './replica.js';
import { type ReadSource, ReplicatedReads } from './replicated-reads.js';
import { WRITTEN_CHANNEL, WritePositions } from './write-positions.js';

export interface OpenReplicasOptions
  extends Pick<
    ReplicaOptions,
    'applicationName' | 'poolSize' | 'statementTimeoutMs' | 'settings' | 'maxLagMs' | 'tell'
  > {
  readonly urls: readonly string[];
  readonly primary: {
    readonly reads: ReadSource;
    readonly watch: ConnectionWatch;
    /** A single connection with asynchronous commits. */
    readonly pool: pg.Pool;
    readonly isHearing: () => boolean;
    listen(
      channel: string,
      onMessage: (payload: string) => void,
      onGap: () => void,
    ): Promise<() => Promise<void>>;
  };
}

export interface OpenedReplicas {
  readonly reads: ReplicatedReads;
  watchSlow(watch: Parameters<Replica['statements']['watchSlow']>[0]): void;
  close(): Promise<void>;
}

/** Connects to the replicas; one that is down is used as soon as it is back. The caller closes them. */
export async function openReplicas(options: OpenReplicasOptions): Promise<OpenedReplicas> {
  const { urls, primary, maxLagMs } = options;
  const log = new PrimaryLog();
  const positions = new WritePositions({ pool: primary.pool, log, isHearing: primary.isHearing, maxLagMs });
  primary.watch.onNews(({ kind }) => {
    if (kind !== 'databaseMoved') return;
    log.clear();
    positions.doubt();
  });
  primary.watch.onAnswer(({ position, isStandby }, askedAt) => {
    const written = isStandby ? undefined : parsePosition(position ?? '');
    if (written === undefined) return;
    if (!log.note(written, askedAt)) positions.doubt();
    positions.settle();
  });
  // Not awaited: a database that has no channels yet gets them by its first migrations.
  const listening = primary.listen(
    WRITTEN_CHANNEL,
    (notice) => positions.hear(notice),
    () => positions.doubt(),
  );
  const { rows } = await primary.pool.query<{ identity: string }>(IDENTITY).catch(() => ({ rows: [] }));
  const replicas = urls.map((url) => new Replica({ ...options, url, log, identity: rows[0]?.identity }));
  await Promise.all([primary.watch.check(), ...replicas.map((replica) => replica.meet())]);
  return {
    reads: new ReplicatedReads({ replicas, primary: primary.reads, positions }),
    watchSlow: (watch) => {
      for (const { statements } of replicas) statements.watchSlow(watch);
    },
    async close() {
      await listening.then((stop) => stop());
      await Promise.all(replicas.map((replica) => replica.close()));
      await primary.pool.end();
    },
  };
}
