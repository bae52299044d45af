/**
 * Reads that need not be the primary's work: each goes to the replica with the least to do of those that are
 * near enough and have all that its caller has written. Where there is none, or where that one fails, the
 * primary answers: a replica that lags, breaks or is gone costs nothing but the primary's work.
 */

import { crc32 } from 'node:zlib';
import type pg from 'pg';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import type { EndSignal } from '../../../base/model/end-signal.js';
import { credentialName, type Scope } from '../../../base/model/scope.js';
import type { ConnectionWatch } from '../connection-watch.js';
import { wasTooSlow } from '../database-errors.js';
import type { Listener } from '../listener.js';
import type { ServerStatements, SlowStatementWatch } from '../server-statements.js';
import { IDENTITY, Replica, type ReplicaOptions } from './replica.js';
import {
  PrimaryLog,
  parsePosition,
  printPosition,
  WRITTEN_CHANNEL,
  WritePositions,
} from './write-positions.js';

/** The reading members of `Database`. */
export type ReadSource = Pick<ServerStatements, 'query' | 'stream' | 'streamJoined'>;

/** The name of the primary among the servers that reads are counted of. */
export const PRIMARY = 'primary';

interface ReplicatedReadsOptions {
  readonly replicas: readonly Replica[];
  readonly primary: ReadSource;
  readonly positions: WritePositions;
  /** Closes what the positions use. */
  readonly stop: () => Promise<void>;
}

export interface ReadFigures {
  /** `primary`, or host and port. */
  readonly server: string;
  readonly reads: number;
  /** `undefined` for the primary, and while the replica is away. */
  readonly lagMs: number | undefined;
}

export class ReplicatedReads {
  readonly #options: ReplicatedReadsOptions;
  #primaryReads = 0;

  constructor(options: ReplicatedReadsOptions) {
    this.#options = options;
  }

  /** The server for this caller's lists, streams, aggregates and reports. */
  sourceFor({ principal }: Pick<Scope, 'principal'>): ReadSource {
    const credential = credentialName(principal.credential);
    const { primary } = this.#options;
    const isOver = (signal: EndSignal | undefined, error: unknown) =>
      signal?.aborted === true || wasTooSlow(error);
    const query: ReadSource['query'] = async (sql, options) => {
      const replica = await this.#choose(credential);
      if (replica !== undefined) {
        try {
          const rows = await replica.statements.query<never>(sql, options);
          replica.reads += 1;
          return rows;
        } catch (error) {
          // The primary reports faults of the statement itself, too.
          if (isOver(options?.signal, error)) throw error;
        }
      }
      this.#primaryReads += 1;
      return await primary.query(sql, options);
    };
    const streamed = <Batch>(
      open: (server: ReadSource) => AsyncGenerator<Batch, void>,
      digest: (batch: Batch, before: number) => number,
      signal: EndSignal | undefined,
    ) => this.#stream({ credential, open, digest, isOver: (error) => isOver(signal, error) });
    return {
      query,
      stream: (sql, options) =>
        streamed((server) => server.stream(sql, options), digestOfRows, options?.signal),
      streamJoined: (statements, options) =>
        streamed(
          (server) => server.streamJoined(statements, options),
          ({ bytes }, before) => crc32(bytes, before),
          options.signal,
        ),
    };
  }

  /**
   * Notes that the caller has written, before the write is answered. Returns the position that its client
   * sends to other gateways, if it is known.
   */
  async noteWrite({ principal }: Pick<Scope, 'principal'>): Promise<string | undefined> {
    const position = await this.#options.positions.note(credentialName(principal.credential));
    return position === undefined ? undefined : printPosition(position);
  }

  /** The position the caller sends back. @throws MALFORMED_REQUEST (400) for one no gateway issued */
  async learn({ principal }: Pick<Scope, 'principal'>, printed: string): Promise<void> {
    const position = parsePosition(printed);
    if (position === undefined) {
      const detail = 'X-Read-After must be the value of a response, e.g. 16/B374D848.';
      throw new ServiceError('MALFORMED_REQUEST', detail);
    }
    await this.#options.positions.learn(credentialName(principal.credential), position);
  }

  /** Everybody knows of the writes up to there, e.g. by live data. */
  requireAll(printed: string): void {
    const position = parsePosition(printed);
    if (position !== undefined) this.#options.positions.require(position);
  }

  /** From now on calls `watch` for every slow statement on a replica. */
  watchSlow(watch: SlowStatementWatch): void {
    for (const { statements } of this.#options.replicas) statements.watchSlow(watch);
  }

  async close(): Promise<void> {
    await this.#options.stop();
    await Promise.all(this.#options.replicas.map((replica) => replica.close()));
  }

  figures(): readonly ReadFigures[] {
    return [
      { server: PRIMARY, reads: this.#primaryReads, lagMs: undefined },
      ...this.#options.replicas.map(({ name, reads, lagMs }) => ({
        server: name,
        reads,
        lagMs: Number.isFinite(lagMs) ? lagMs : undefined,
      })),
    ];
  }

  async #choose(credential: string): Promise<Replica | undefined> {
    const near = this.#options.replicas
      .filter(({ isNear }) => isNear)
      .sort((a, b) => a.statements.load - b.statements.load);
    const required = this.#options.positions.requiredOf(credential);
    if (required === undefined) return undefined;
    for (const replica of near) if (await replica.hasReplayed(required)) return replica;
    return undefined;
  }

  /**
   * A stream that breaks is read again from the primary, up to where it was, and goes on from there if that
   * is what has been passed on already, to the last byte: then all of it is as the primary has it.
   */
  async *#stream<Batch>({
    credential,
    open,
    digest,
    isOver,
  }: ReplicatedStream<Batch>): AsyncGenerator<Batch, void> {
    const replica = await this.#choose(credential);
    let passedOn = 0;
    let read = 0;
    if (replica !== undefined) {
      try {
        for await (const batch of open(replica.statements)) {
          read = digest(batch, read);
          passedOn += 1;
          yield batch;
        }
        replica.reads += 1;
        return;
      } catch (error) {
        if (isOver(error)) throw error;
      }
    }
    this.#primaryReads += 1;
    let readAgain = 0;
    let skipped = 0;
    for await (const batch of open(this.#options.primary)) {
      if (skipped === passedOn) {
        yield batch;
        continue;
      }
      readAgain = digest(batch, readAgain);
      skipped += 1;
      if (skipped === passedOn && readAgain !== read) throw changedMeanwhile();
    }
    if (skipped < passedOn) throw changedMeanwhile();
  }
}

interface ReplicatedStream<Batch> {
  readonly credential: string;
  readonly open: (server: ReadSource) => AsyncGenerator<Batch, void>;
  /** The total of all batches up to this one. */
  readonly digest: (batch: Batch, before: number) => number;
  /** Whether this ends it, wherever it is read. */
  readonly isOver: (error: unknown) => boolean;
}

function digestOfRows(rows: readonly string[], before: number): number {
  return rows.reduce((digest, row) => crc32(row, digest), before);
}

function changedMeanwhile(): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'The replica was lost, and the data has changed meanwhile; send the request again.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

export interface OpenReplicasOptions
  extends Pick<
    ReplicaOptions,
    'applicationName' | 'poolSize' | 'statementTimeoutMs' | 'settings' | 'maxLagMs' | 'report'
  > {
  readonly urls: readonly string[];
  readonly primary: {
    readonly reads: ReadSource;
    readonly watch: ConnectionWatch;
    /** A single connection with asynchronous commits. */
    readonly pool: pg.Pool;
    readonly isHearing: () => boolean;
    readonly listen: Listener['listen'];
  };
}

/** Connects to the replicas; one that is down is used as soon as it is back. The caller closes them. */
export async function openReplicas(options: OpenReplicasOptions): Promise<ReplicatedReads> {
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
  const stop = async () => {
    await listening.then((unsubscribe) => unsubscribe());
    await primary.pool.end();
  };
  return new ReplicatedReads({ replicas, primary: primary.reads, positions, stop });
}
