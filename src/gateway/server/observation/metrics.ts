/** The metrics of `/metrics`, for Prometheus. */

import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { memoryLimitBytes } from '../../../base/process/memory-limit.js';
import type { ScheduledBackups } from '../../../services/backup/scheduled-backups.js';
import type { JobQueue } from '../../../services/jobs/job-queue.js';
import type { Database } from '../../../store/database/database.js';
import type { InstanceWatch } from '../../../store/database/instance-watch.js';
import type { LiveServer } from '../../graphql/live/live-server.js';

/** The metrics of one process as data, to be added to those of others. */
export type FigureList = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of several processes as if they were one: sums, or whatever aggregation a metric declares. */
export function addFigures(lists: readonly FigureList[]): Registry {
  return AggregatorRegistry.aggregate([...lists]);
}

/** How long a scrape waits for a metric, which the database may provide. */
const FIGURE_TIMEOUT_MS = 1_000;

type Labels = Readonly<Record<string, string | number>>;

/** The counters: name, meaning and labels of each. */
const COUNTERS = {
  errors: ['campus_errors_total', 'Answers that were errors, by their code.', ['code']],
  rows: ['campus_rows_streamed_total', 'Records sent in streamed answers.', []],
  outages: ['campus_database_outages_total', 'How often this gateway found the database out of reach.', []],
  moves: [
    'campus_database_failovers_total',
    'How often this gateway found another server to be the primary.',
    [],
  ],
  cuts: ['campus_streams_cut_total', 'Streamed answers that failed on the way and were cut.', []],
  messages: [
    'campus_messages_total',
    'Attempts to send a message on this gateway, by kind and what they came to: sent, queued (will ' +
      'be tried again), failed or kept.',
    ['kind', 'state'],
  ],
  webhooks: [
    'campus_webhook_deliveries_total',
    'Attempts to send a delivery of a webhook, by what they came to: delivered, waiting (will be tried ' +
      'again), failed (given up) or skipped.',
    ['state'],
  ],
  liveEnds: [
    'campus_live_connections_ended_total',
    'WebSockets that were closed, by the code of the close: 1013 was too slow, 4403 has lost its ' +
      'credential.',
    ['code'],
  ],
  slowStatements: [
    'campus_slow_statements_total',
    'Statements of the database that took longer than SLOW_STATEMENT_MS; the log has each.',
    [],
  ],
  jobs: [
    'campus_jobs_total',
    'Jobs that ended on this gateway, by task and outcome: done, retried (will be tried again) or ' +
      'failed (given up).',
    ['task', 'outcome'],
  ],
} as const satisfies Readonly<Record<string, readonly [string, string, readonly string[]]>>;

/** A value, or one for each combination of labels; `undefined`: it is not known. */
type Figure = number | undefined | readonly (readonly [Labels, number])[];

/** A figure that is read at each scrape. */
interface ReadFigure {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** How the figures of several processes become one; absent: their sum. */
  readonly aggregator?: 'max' | 'min' | 'average';
  readonly read: () => Figure | Promise<Figure>;
}

/** The services whose figures are read at each scrape. */
export interface MetricsSources {
  readonly database: Pick<Database, 'isReachable' | 'isDiskFull' | 'replicas'> & {
    readonly pool: Pick<Database['pool'], 'totalCount' | 'idleCount' | 'waitingCount'>;
  };
  readonly live: Pick<LiveServer, 'connections' | 'subscriptions' | 'eventsSent'>;
  readonly jobs: Pick<JobQueue, 'counts' | 'longestWaitSeconds'>;
  readonly backups: Pick<ScheduledBackups, 'ageSeconds' | 'isScheduled'>;
  /** The clock of this process against that of the database. */
  readonly clock: Pick<InstanceWatch, 'clockOffsetSeconds'>;
  /** The number of log lines that could not be written. */
  readonly droppedLogLines: () => number;
  readonly secretsWithoutKey: () => Promise<number>;
}

/** The requests under way here. */
interface Requests {
  readonly inFlight: () => number;
  readonly waiting: () => number;
}

export class Metrics {
  readonly registry = new Registry();
  readonly #durations = new Histogram({
    name: 'campus_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
    registers: [this.registry],
  });
  readonly #counters = new Map(
    Object.entries<readonly [string, string, readonly string[]]>(COUNTERS).map(
      ([key, [name, help, labelNames]]) =>
        [key, new Counter({ name, help, labelNames, registers: [this.registry] })] as const,
    ),
  );
  /**
   * Cached by labels, because finding a labelled metric costs more than incrementing it. Bounded: methods,
   * templates and statuses are few.
   */
  readonly #figures = new Map<string, Histogram.Internal<string>>();

  constructor(sources: MetricsSources, requests: Requests) {
    // An alert on an increase sees the first failure only if the counter existed before it.
    for (const kind of ['email', 'sms']) this.count('messages', { kind, state: 'failed' }, 0);
    this.count('webhooks', { state: 'failed' }, 0);
    collectDefaultMetrics({ register: this.registry });
    // The sums of gauges; no counters, which `_total` promises.
    for (const what of ['handles', 'requests', 'resources'])
      this.registry.removeSingleMetric(`nodejs_active_${what}_total`);
    for (const { name, help, labels = [], aggregator, read } of figuresOf(sources, requests)) {
      // Named `_total`: it only increases.
      const FigureClass = name.endsWith('_total') ? Counter : Gauge;
      new FigureClass({
        ...{ name, help, labelNames: labels, registers: [this.registry] },
        ...(aggregator && { aggregator }),
        async collect() {
          // The other metrics are needed most when the database does not answer.
          const late = sleep(FIGURE_TIMEOUT_MS, undefined, { ref: false });
          const figure = await Promise.race([read(), late]).catch(() => undefined);
          this.reset();
          const values = typeof figure === 'number' ? [[{}, figure] as const] : (figure ?? []);
          if (values.length === 0 && labels.length === 0) this.remove();
          for (const [of, value] of values) this.inc(of, value);
        },
      });
    }
  }

  count(counter: keyof typeof COUNTERS, labels: Labels = {}, by = 1): void {
    this.#counters.get(counter)?.inc(labels, by);
  }

  requestEnded(event: RequestEnded): void {
    const key = `${event.method} ${event.route} ${event.status}`;
    const figure = getOrMake(this.#figures, key, () =>
      this.#durations.labels(event.method, event.route, String(event.status)),
    );
    figure.observe(event.durationMs / 1000);
    if (event.errorCode !== undefined) this.count('errors', { code: event.errorCode });
  }
}

/** The figures of the database are absent while it is away, and the same for every gateway. */
function figuresOf(sources: MetricsSources, requests: Requests): readonly ReadFigure[] {
  const { database, live, jobs, backups, clock } = sources;
  const { pool } = database;
  const reads = () => database.replicas?.figures() ?? [];
  return [
    {
      name: 'campus_memory_limit_bytes',
      help: 'Memory that all processes here may use: that of the container, or else of the machine.',
      // Several processes share it.
      aggregator: 'max',
      read: memoryLimitBytes,
    },
    {
      name: 'campus_heap_used_ratio',
      help: 'How full the heap of V8 is, of the fullest process; one whose heap is full ends.',
      aggregator: 'max',
      read: () => {
        const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
        return used / limit;
      },
    },
    {
      name: 'campus_http_requests_in_flight',
      help: 'Requests not answered to the end yet.',
      read: requests.inFlight,
    },
    {
      name: 'campus_http_requests_waiting',
      help: 'Of them, requests that are not let in yet because of others.',
      read: requests.waiting,
    },
    {
      name: 'campus_live',
      help: 'WebSockets, and the subscriptions on them.',
      labels: ['what'],
      read: () => [
        [{ what: 'connections' }, live.connections],
        [{ what: 'subscriptions' }, live.subscriptions],
      ],
    },
    {
      name: 'campus_live_events_total',
      help: 'Events sent to subscribers.',
      read: () => live.eventsSent,
    },
    {
      name: 'campus_database_connections',
      help: 'Connections of the pool; waiting: requests that wait for one.',
      labels: ['state'],
      read: () => [
        [{ state: 'active' }, pool.totalCount - pool.idleCount],
        [{ state: 'idle' }, pool.idleCount],
        [{ state: 'waiting' }, pool.waitingCount],
      ],
    },
    {
      name: 'campus_database_disk_full',
      help: '1 while the disk of the database is full and changes are refused, 0 otherwise.',
      aggregator: 'max',
      read: () => Number(database.isDiskFull),
    },
    {
      name: 'campus_database_reachable',
      help: '1 while the database answers, 0 while it is known to be out of reach.',
      aggregator: 'min',
      read: () => Number(database.isReachable),
    },
    {
      name: 'campus_clock_offset_seconds',
      help:
        'How far the clock of this gateway is ahead of that of the database, once a minute; negative: ' +
        'behind. Absent before the first answer of the database.',
      aggregator: 'average',
      read: () => clock.clockOffsetSeconds,
    },
    {
      name: 'campus_reads_total',
      help: 'Reads that a replica may answer, by the server that did: primary, or host and port.',
      labels: ['server'],
      read: () => reads().map(({ server, reads }) => [{ server }, reads]),
    },
    {
      name: 'campus_replica_lag_seconds',
      help: 'How far a replica is behind, at most; absent while it is away or no replica of this database.',
      labels: ['server'],
      aggregator: 'max',
      read: () =>
        reads().flatMap(({ server, lagMs }) =>
          lagMs === undefined ? [] : [[{ server }, lagMs / 1000] as const],
        ),
    },
    {
      name: 'campus_log_lines_dropped_total',
      help:
        'Lines of the log that could not be written: a full disk, or a reader that has gone or reads ' +
        'no more.',
      read: sources.droppedLogLines,
    },
    {
      name: 'campus_jobs',
      help:
        'Jobs of all gateways, by state: queued, running, failed. All gateways report the same; absent ' +
        'while the database is away.',
      labels: ['state'],
      aggregator: 'max',
      read: async () => Object.entries(await jobs.counts()).map(([state, count]) => [{ state }, count]),
    },
    {
      name: 'campus_jobs_longest_wait_seconds',
      help:
        'How long the job that is due longest has waited for a gateway to do it; 0 where none is due. Each ' +
        'gateway reports the same; absent while the database is away.',
      aggregator: 'max',
      read: () => jobs.longestWaitSeconds(),
    },
    {
      name: 'campus_secrets_without_key',
      help:
        'Stored secrets of webhooks and second factors that no key of ENCRYPTION_SECRET decrypts. Each ' +
        'gateway reports the same; absent while the database is away.',
      aggregator: 'max',
      read: sources.secretsWithoutKey,
    },
    {
      name: 'campus_backup_scheduled',
      help: '1 where scheduled backups are made (BACKUP_SCHEDULE), else 0.',
      aggregator: 'max',
      read: () => Number(backups.isScheduled),
    },
    {
      name: 'campus_backup_age_seconds',
      help:
        'How old the last scheduled backup (BACKUP_SCHEDULE) is. All gateways report the same; absent ' +
        'before the first one, and while the database is away.',
      aggregator: 'max',
      read: () => backups.ageSeconds(),
    },
  ];
}

/** The log entry of a request that was answered or aborted. */
export interface RequestEnded {
  readonly kind: 'requestEnded';
  readonly requestId: string;
  readonly method: string;
  /** The requested address; redacted before it is written. */
  readonly url: string;
  /** The template of the route, e.g. `/o/recs/:collection`: few values, so that it can be a label. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
  /** `domain/user`; `undefined`: no credential. */
  readonly principal: string | undefined;
  /** `key:<id>` of an API key, `token:<session>`; `undefined`: none. */
  readonly credential: string | undefined;
  /** The name of the GraphQL operation, else the template of the route. */
  readonly operation: string | undefined;
  /** The cost of the GraphQL operation. */
  readonly cost: number | undefined;
  /** The code of the answer's error. */
  readonly errorCode: string | undefined;
  /** False: the caller went away, or the answer was cut. */
  readonly isComplete: boolean;
}
