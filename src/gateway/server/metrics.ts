/** The metrics of `/metrics`, for Prometheus. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobCounts } from '../../services/jobs/job-queue.js';
import type { ReadFigures } from '../../store/database/replicas/replicated-reads.js';
import { registerMemoryFigures } from './memory-figures.js';
import type { RequestEnded } from './request-ended.js';

/** Connections of the database pool; implemented by `pg.Pool`. */
export interface PoolUse {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The metrics of the WebSockets. */
export interface LiveFigures {
  readonly connections: number;
  readonly subscriptions: number;
  readonly eventsSent: number;
}

/** The metrics of one process as data, to be added to those of others. */
export type FigureList = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of several processes as if they were one: sums, or whatever aggregation a metric declares. */
export function addFigures(lists: readonly FigureList[]): Registry {
  return AggregatorRegistry.aggregate([...lists]);
}

/** How long a scrape waits for a metric that the database provides. */
const FIGURE_TIMEOUT_MS = 1_000;

/** A metric of the database, if it answers in time: the other metrics are needed most when it does not. */
async function figureOf<T>(asked: Promise<T>): Promise<T | undefined> {
  return await Promise.race([
    asked.catch(() => undefined),
    sleep(FIGURE_TIMEOUT_MS, undefined, { ref: false }),
  ]);
}

interface RequestFigure {
  observe(seconds: number): void;
}

export class Metrics {
  readonly registry = new Registry();
  readonly #durations = new Histogram({
    name: 'campus_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });
  readonly #errors = new Counter({
    name: 'campus_errors_total',
    help: 'Answers that were errors, by their code.',
    labelNames: ['code'],
    registers: [this.registry],
  });
  readonly #rows = new Counter({
    name: 'campus_rows_streamed_total',
    help: 'Records sent in streamed answers.',
    registers: [this.registry],
  });
  readonly #outages = new Counter({
    name: 'campus_database_outages_total',
    help: 'How often this gateway found the database out of reach.',
    registers: [this.registry],
  });
  readonly #moves = new Counter({
    name: 'campus_database_failovers_total',
    help: 'How often this gateway found another server to be the primary.',
    registers: [this.registry],
  });
  readonly #cuts = new Counter({
    name: 'campus_streams_cut_total',
    help: 'Streamed answers that failed on the way and were cut.',
    registers: [this.registry],
  });
  /**
   * Cached by labels, because finding a labelled metric costs more than incrementing it. Bounded: methods,
   * templates and statuses are few.
   */
  readonly #figures = new Map<string, RequestFigure>();

  readonly #messages = new Counter({
    name: 'campus_messages_total',
    help:
      'Attempts to send a message on this gateway, by kind and what they came to: sent, queued (will ' +
      'be tried again), failed or kept.',
    labelNames: ['kind', 'state'],
    registers: [this.registry],
  });
  readonly #webhooks = new Counter({
    name: 'campus_webhook_deliveries_total',
    help:
      'Attempts to send a delivery of a webhook, by what they came to: delivered, waiting (will be tried ' +
      'again), failed (given up) or skipped.',
    labelNames: ['state'],
    registers: [this.registry],
  });
  readonly #liveEnds = new Counter({
    name: 'campus_live_connections_ended_total',
    help:
      'WebSockets that were closed, by the code of the close: 1013 was too slow, 4403 has lost its ' +
      'credential.',
    labelNames: ['code'],
    registers: [this.registry],
  });
  readonly #slowStatements = new Counter({
    name: 'campus_slow_statements_total',
    help: 'Statements of the database that took longer than SLOW_STATEMENT_MS; the log has each.',
    registers: [this.registry],
  });
  readonly #jobs = new Counter({
    name: 'campus_jobs_total',
    help:
      'Jobs that ended on this gateway, by task and outcome: done, retried (will be tried again) or ' +
      'failed (given up).',
    labelNames: ['task', 'outcome'],
    registers: [this.registry],
  });

  constructor(options: {
    readonly pool: PoolUse;
    readonly isDatabaseReachable: () => boolean;
    readonly isDiskFull: () => boolean;
    /** The reads that replicas may serve; empty if there are no replicas. */
    readonly reads: () => readonly ReadFigures[];
    readonly inFlight: () => number;
    readonly waiting: () => number;
    readonly live: LiveFigures | undefined;
    readonly jobs: { counts(): Promise<JobCounts>; longestWaitSeconds(): Promise<number> };
    readonly backups: { readonly isScheduled: boolean; ageSeconds(): Promise<number | undefined> };
    readonly clock: { readonly clockOffsetSeconds: number | undefined };
    readonly droppedLogLines: () => number;
    readonly secretsWithoutKey: () => Promise<number>;
  }) {
    // An alert on an increase sees the first failure only of a counter that is there before it.
    for (const kind of ['email', 'sms']) this.#messages.inc({ kind, state: 'failed' }, 0);
    this.#webhooks.inc({ state: 'failed' }, 0);
    collectDefaultMetrics({ register: this.registry, prefix: 'campus_' });
    registerMemoryFigures(this.registry);
    new Gauge({
      name: 'campus_http_requests_in_flight',
      help: 'Requests not answered to the end yet.',
      registers: [this.registry],
      collect() {
        this.set(options.inFlight());
      },
    });
    new Gauge({
      name: 'campus_http_requests_waiting',
      help: 'Of them, requests that are not let in yet because of others.',
      registers: [this.registry],
      collect() {
        this.set(options.waiting());
      },
    });
    new Gauge({
      name: 'campus_live',
      help: 'WebSockets, and the subscriptions on them.',
      labelNames: ['what'],
      registers: [this.registry],
      collect() {
        this.set({ what: 'connections' }, options.live?.connections ?? 0);
        this.set({ what: 'subscriptions' }, options.live?.subscriptions ?? 0);
      },
    });
    new Counter({
      name: 'campus_live_events_total',
      help: 'Events sent to subscribers.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(options.live?.eventsSent ?? 0);
      },
    });
    new Gauge({
      name: 'campus_database_connections',
      help: 'Connections of the pool; waiting: requests that wait for one.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        this.set({ state: 'active' }, options.pool.totalCount - options.pool.idleCount);
        this.set({ state: 'idle' }, options.pool.idleCount);
        this.set({ state: 'waiting' }, options.pool.waitingCount);
      },
    });
    new Gauge({
      name: 'campus_database_disk_full',
      help: '1 while the disk of the database is full and changes are refused, 0 otherwise.',
      registers: [this.registry],
      aggregator: 'max',
      collect() {
        this.set(options.isDiskFull() ? 1 : 0);
      },
    });
    new Gauge({
      name: 'campus_database_reachable',
      help: '1 while the database answers, 0 while it is known to be out of reach.',
      registers: [this.registry],
      aggregator: 'min',
      collect() {
        this.set(options.isDatabaseReachable() ? 1 : 0);
      },
    });
    new Gauge({
      name: 'campus_clock_offset_seconds',
      help:
        'How far the clock of this gateway is ahead of that of the database, once a minute; negative: ' +
        'behind. Absent before the first answer of the database.',
      registers: [this.registry],
      aggregator: 'average',
      collect() {
        const offset = options.clock.clockOffsetSeconds;
        if (offset === undefined) this.remove();
        else this.set(offset);
      },
    });
    new Counter({
      name: 'campus_reads_total',
      help: 'Reads that a replica may answer, by the server that did: primary, or host and port.',
      labelNames: ['server'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { server, reads } of options.reads()) this.inc({ server }, reads);
      },
    });
    new Gauge({
      name: 'campus_replica_lag_seconds',
      help: 'How far a replica is behind, at most; absent while it is away or no replica of this database.',
      labelNames: ['server'],
      aggregator: 'max',
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { server, lagMs } of options.reads()) {
          if (lagMs !== undefined) this.set({ server }, lagMs / 1000);
        }
      },
    });
    new Counter({
      name: 'campus_log_lines_dropped_total',
      help:
        'Lines of the log that could not be written: a full disk, or a reader that has gone or reads ' +
        'no more.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(options.droppedLogLines());
      },
    });
    new Gauge({
      name: 'campus_jobs',
      aggregator: 'max',
      help:
        'Jobs of all gateways, by state: queued, running, failed. Each gateway says the same; absent ' +
        'while the database is away.',
      labelNames: ['state'],
      registers: [this.registry],
      async collect() {
        const counts = await figureOf(options.jobs.counts());
        this.reset();
        for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count);
      },
    });
    new Gauge({
      name: 'campus_jobs_longest_wait_seconds',
      aggregator: 'max',
      help:
        'How long the job that is due longest has waited for a gateway to do it; 0 where none is due. Each ' +
        'gateway says the same; absent while the database is away.',
      registers: [this.registry],
      async collect() {
        const wait = await figureOf(options.jobs.longestWaitSeconds());
        if (wait === undefined) this.remove();
        else this.set(wait);
      },
    });
    new Gauge({
      name: 'campus_secrets_without_key',
      aggregator: 'max',
      help:
        'Stored secrets of webhooks and second factors that no key of ENCRYPTION_SECRET decrypts. Each ' +
        'gateway says the same; absent while the database is away.',
      registers: [this.registry],
      async collect() {
        const count = await figureOf(options.secretsWithoutKey());
        if (count === undefined) this.remove();
        else this.set(count);
      },
    });
    new Gauge({
      name: 'campus_backup_scheduled',
      aggregator: 'max',
      help: '1 where backups are to be made by the clock (BACKUP_SCHEDULE), else 0.',
      registers: [this.registry],
      collect() {
        this.set(options.backups.isScheduled ? 1 : 0);
      },
    });
    new Gauge({
      name: 'campus_backup_age_seconds',
      aggregator: 'max',
      help:
        'How old the last backup by the clock (BACKUP_SCHEDULE) is. Each gateway says the same; absent ' +
        'before the first one, and while the database is away.',
      registers: [this.registry],
      async collect() {
        const age = await figureOf(options.backups.ageSeconds());
        if (age === undefined) this.remove();
        else this.set(age);
      },
    });
  }

  requestEnded(event: RequestEnded): void {
    const key = `${event.method} ${event.route} ${event.status}`;
    let figure = this.#figures.get(key);
    if (!figure) {
      figure = this.#durations.labels(event.method, event.route, String(event.status));
      this.#figures.set(key, figure);
    }
    figure.observe(event.durationMs / 1000);
    if (event.errorCode !== undefined) this.#errors.inc({ code: event.errorCode });
  }

  rowsStreamed(count: number): void {
    this.#rows.inc(count);
  }

  jobEnded(task: string, outcome: string): void {
    this.#jobs.inc({ task, outcome });
  }

  messageTried(kind: string, state: string): void {
    this.#messages.inc({ kind, state });
  }

  webhookTried(state: string): void {
    this.#webhooks.inc({ state });
  }

  liveConnectionEnded(code: number): void {
    this.#liveEnds.inc({ code });
  }

  databaseLost(): void {
    this.#outages.inc();
  }

  databaseMoved(): void {
    this.#moves.inc();
  }

  streamCut(): void {
    this.#cuts.inc();
  }

  statementSlow(): void {
    this.#slowStatements.inc();
  }
}
