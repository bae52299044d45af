/** A server that follows the primary: how far it is, and the connections to it. */
import { ConnectionWatch, type ReplicaNews } from '../connection-watch.js';
import { serverNameOf } from '../list-host-urls.js';
import { ServerStatements } from '../server-statements.js';
import { PrimaryFinder } from './primary-finder.js';
import { type PrimaryLog, parsePosition } from './write-positions.js';

export interface ReplicaOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly maxLagMs: number;
  readonly log: PrimaryLog;
  /** The cluster and database of the primary, to recognize a replica of another one. */
  readonly identity: string | undefined;
  readonly report: (news: ReplicaNews) => void;
}

/** Identifies a server: the cluster, which replicas share with their primary, and the database. */
export const IDENTITY = `
select system_identifier || ' ' || current_database() as identity from pg_control_system()`;

export class Replica {
  /** Host and port. */
  readonly name: string;
  readonly statements: ServerStatements;
  /** How many reads it has answered. */
  reads = 0;
  readonly #options: ReplicaOptions;
  readonly #watch: ConnectionWatch;
  #replayed = 0n;
  #isStandby = false;
  #isKin = false;
  #asking: Promise<void> | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.name = serverNameOf(options.url);
    const { applicationName, statementTimeoutMs, poolSize: size, settings } = options;
    const finder = new PrimaryFinder({ url: options.url, applicationName });
    this.#watch = new ConnectionWatch({ finder, applicationName, isReplica: true });
    this.#watch.onNews((news) => {
      if (news.kind === 'databaseLost') {
        this.#isKin = false;
        options.report({ kind: 'replicaLost', server: this.name, reason: news.reason });
      }
      if (news.kind === 'databaseBack') options.report({ kind: 'replicaBack', server: this.name });
    });
    this.#watch.onAnswer(({ position, isStandby }) => {
      this.#replayed = parsePosition(position ?? '') ?? 0n;
      this.#isStandby = isStandby;
      if (isStandby && !this.#isKin) void this.#identify();
    });
    this.statements = new ServerStatements({
      ...{ size, settings, watch: this.#watch, isReplica: true },
      ...{ applicationName, poolName: `${applicationName} reads`, statementTimeoutMs },
      places: {
        pool: 'connections to a replica',
        stream: 'connections to a replica for streamed answers',
      },
    });
  }

  /** How far behind the primary it is, at most; infinite where it is away. */
  get lagMs(): number {
    if (this.#watch.obstacle !== undefined || !this.#isStandby || !this.#isKin)
      return Number.POSITIVE_INFINITY;
    return this.#options.log.lagOf(this.#replayed, performance.now());
  }

  /** Whether it may be read from by those who are not particular. */
  get isNear(): boolean {
    return this.lagMs <= this.#options.maxLagMs;
  }

  /** Whether it has replayed the log so far. If unknown, it is queried, once for all callers who wait. */
  async hasReplayed(position: bigint): Promise<boolean> {
    if (this.#replayed < position) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
    return this.#replayed >= position;
  }

  /** Reads its state, so that it is known to the first reader. Never fails. */
  async meet(): Promise<void> {
    await this.#watch.check();
    if (this.#isStandby) await this.#identify();
  }

  async close(): Promise<void> {
    await this.statements.close();
    await this.#watch.close();
  }

  async #ask(): Promise<void> {
    const { rows } = await this.statements.pool
      .query<{ position: string | null }>('select pg_last_wal_replay_lsn()::text as position')
      .catch(() => ({ rows: [] }));
    const position = parsePosition(rows[0]?.position ?? '');
    if (position !== undefined && position > this.#replayed) this.#replayed = position;
  }

  async #identify(): Promise<void> {
    const { identity, report } = this.#options;
    const { rows } = await this.statements.pool
      .query<{ identity: string }>(IDENTITY)
      .catch(() => ({ rows: [] }));
    const [found] = rows;
    if (found === undefined || this.#isKin) return;
    this.#isKin = identity === undefined || found.identity === identity;
    if (!this.#isKin) {
      report({
        kind: 'replicaUnfit',
        server: this.name,
        reason: 'it is not a replica of the database of DATABASE_URL',
      });
    }
  }
}
