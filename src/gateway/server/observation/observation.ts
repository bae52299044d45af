/**
 * The events that the service reports to its operators, as a closed list. Only `createEventLog` turns them
 * into log lines, and `createObserver` adds the metrics; nothing else logs.
 */
import type { Logger } from 'pino';
import { ServiceError } from '../../../base/errors.js';
import { guarded } from '../../../base/process/guarded.js';
import type { AccountObservation } from '../../../services/auth/account-events.js';
import type { KeyMeter } from '../../../services/auth/key-meter.js';
import type { JobObservation } from '../../../services/jobs/job-queue.js';
import type { MessageObservation } from '../../../services/messaging/message-delivery.js';
import type { Purged } from '../../../store/changes/purge.js';
import type { DatabaseNews } from '../../../store/database/connection-watch.js';
import { translateDatabaseError } from '../../../store/database/database-errors.js';
import type { InstanceNews } from '../../../store/database/instance-watch.js';
import type { SlowStatement } from '../../../store/reading/slow-statements.js';
import type { Metrics, RequestEnded } from './metrics.js';
import { redactSecrets } from './redact-secrets.js';

export type Observation =
  | RequestEnded
  | { readonly kind: 'requestFailed'; readonly requestId: string; readonly error: unknown }
  | { readonly kind: 'rowsStreamed'; readonly count: number }
  | { readonly kind: 'streamCut'; readonly requestId: string; readonly error: unknown }
  | { readonly kind: 'readerCut'; readonly requestId: string; readonly reason: string }
  | { readonly kind: 'connectionRefused'; readonly reason: string }
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'maintenanceSwitched'; readonly isOn: boolean }
  | { readonly kind: 'stopAnnounced'; readonly delayMs: number }
  | { readonly kind: 'stopping'; readonly inFlight: number }
  | { readonly kind: 'stopped'; readonly abandoned: number }
  | {
      readonly kind: 'workerEnded';
      /** Counted from 1. */
      readonly worker: number;
      readonly code: number | null;
      readonly signal: string | null;
      /** How long until another worker takes its place. */
      readonly replacedInMs: number;
    }
  | { readonly kind: 'workerHung'; readonly worker: number; readonly silentMs: number }
  | ({ readonly kind: 'purged' } & Purged)
  | ({ readonly kind: 'statementSlow' } & SlowStatement)
  | { readonly kind: 'webhookTried'; readonly state: string }
  | AccountObservation
  | DatabaseNews
  | InstanceNews
  | MessageObservation
  | LiveConnectionEnded
  | JobObservation;

interface LiveConnectionEnded {
  readonly kind: 'liveConnectionEnded';
  readonly requestId: string;
  readonly address: string;
  /** `domain/user`; `undefined` if it never authenticated. */
  readonly principal: string | undefined;
  readonly durationMs: number;
  readonly events: number;
  /** The close code of the WebSocket. */
  readonly code: number;
  readonly reason: string;
}

export type Observe = (event: Observation) => void;

export function createObserver(options: {
  readonly log: Observe;
  readonly metrics: Metrics;
  readonly keyMeter?: Pick<KeyMeter, 'note'> | undefined;
}): Observe {
  const add = guarded(
    (event: Observation) => {
      count(options.metrics, event);
      if (event.kind === 'requestEnded' && options.keyMeter) meter(options.keyMeter, event);
    },
    (error) => options.log({ kind: 'backgroundFault', task: 'metrics', error }),
  );
  return (event) => {
    add(event);
    options.log(event);
  };
}

/**
 * Writes events to the log; of failures that repeat during an outage, only the first. The returned function
 * never throws: it is called from events of sockets and streams, where an error would end the process.
 */
export function createEventLog(destination: Logger): Observe {
  // No secret reaches this logger except in addresses, which are redacted below. Searching every line for
  // members to hide would cost a sixth of the whole request.
  const logger = destination.child({}, { redact: [] });
  const failures = new RepeatedFailures();
  return guarded((event) => log({ logger, failures }, event));
}

interface Log {
  readonly logger: Logger;
  readonly failures: RepeatedFailures;
}

/** The events that are counted, each with the arguments of `Metrics.count`. */
const COUNTS: {
  readonly [Kind in Observation['kind']]?: (
    event: Extract<Observation, { kind: Kind }>,
  ) => Parameters<Metrics['count']>;
} = {
  rowsStreamed: ({ count }) => ['rows', {}, count],
  streamCut: () => ['cuts'],
  statementSlow: () => ['slowStatements'],
  liveConnectionEnded: ({ code }) => ['liveEnds', { code }],
  jobEnded: ({ task, outcome }) => ['jobs', { task, outcome }],
  databaseLost: () => ['outages'],
  databaseMoved: () => ['moves'],
  webhookTried: ({ state }) => ['webhooks', { state }],
  messageTried: ({ messageKind, state }) => ['messages', { kind: messageKind, state }],
};

function count(metrics: Metrics, event: Observation): void {
  if (event.kind === 'requestEnded') metrics.requestEnded(event);
  const counted = COUNTS[event.kind]?.(event as never);
  if (counted) metrics.count(...counted);
}

/** A log line must stay readable; `health` has the complete statement. */
const LONGEST_LOGGED_STATEMENT = 2000;

const KEY = 'key:';
const ID_LENGTH = 36;

function meter(keyMeter: Pick<KeyMeter, 'note'>, event: RequestEnded): void {
  const { credential, requestId, status, durationMs, cost, errorCode } = event;
  if (credential === undefined || !credential.startsWith(KEY)) return;
  keyMeter.note({
    // The rest of the credential may name a part of the key's rights.
    keyId: credential.slice(KEY.length, KEY.length + ID_LENGTH),
    requestId,
    operation: event.operation ?? event.route,
    status,
    isError: status >= 400 || errorCode !== undefined,
    durationMs,
    cost,
  });
}

/** The events whose log line is fixed. */
const LINES = {
  databaseFull: ['error', 'the disk of the database is full: changes are refused'],
  replicaBack: ['info', 'replica back'],
  databaseMoved: ['warn', 'database moved to another server'],
  connectionsDropped: ['warn', 'database connections dropped'],
  readerCut: ['warn', 'slow reader cut'],
  connectionRefused: ['debug', 'connection refused'],
  listening: ['info', 'listening'],
  maintenanceSwitched: ['warn', 'maintenance switched'],
  stopAnnounced: ['info', 'a stop is announced'],
  stopping: ['info', 'stopping'],
  stopped: ['info', 'stopped'],
  workerEnded: ['error', 'a worker ended and is replaced'],
  workerHung: ['error', 'a worker hangs and is ended'],
  purged: ['info', 'purged'],
  liveConnectionEnded: ['info', 'live connection ended'],
  jobsRecovered: ['warn', 'jobs of a gateway that died are free again'],
  clockDiffers: ['warn', 'the clocks of this gateway and of the database differ: set both by NTP'],
  clockAgrees: ['info', 'the clocks of this gateway and of the database agree again'],
  instantsPutBack: [
    'warn',
    'a clock was ahead: schedules and jobs that waited for its time are put back to now',
  ],
} as const;

const FAULTS = {
  requestFailed: 'request failed',
  backgroundFault: 'background fault',
  renewalFailed: 'renewal failed, will be tried again until it succeeds',
} as const;

function log({ logger, failures }: Log, event: Observation): void {
  if (event.kind === 'requestEnded') {
    logRequest(logger, event);
    return;
  }
  const { kind, ...details } = event;
  const line = { event: kind, ...details };
  switch (event.kind) {
    case 'rowsStreamed':
    case 'webhookTried':
      // Counted as a metric, not logged.
      return;
    case 'requestFailed':
    case 'backgroundFault':
    case 'renewalFailed':
      logFault({ logger, failures }, event, [line, FAULTS[event.kind]]);
      return;
    case 'streamCut':
      logger.error({ ...line, error: describeOnce(failures, event.error) }, 'answer cut');
      return;
    case 'databaseLost':
      failures.beginOutage();
      logger.error({ ...line, reason: redactSecrets(event.reason) }, 'database lost');
      return;
    case 'databaseBack':
      logger.warn({ ...line, omitted: failures.endOutage() }, 'database back');
      return;
    case 'databaseRole':
      logger.warn(
        { event: kind, isReadOnly: event.isReadOnly, ...(event.isDiskFull && { isDiskFull: true }) },
        event.isReadOnly ? 'database refuses changes' : 'database accepts changes again',
      );
      return;
    case 'replicaLost':
    case 'replicaUnfit':
      logger.warn({ ...line, reason: redactSecrets(event.reason) }, 'replica not read from');
      return;
    case 'statementSlow': {
      const { kind: _, suggestions, statement, ...others } = event;
      const suggestion = suggestions
        .map((one) => `declare of the collection ${one.collection}: ${one.declaration}`)
        .join('; ');
      logger.warn(
        {
          event: kind,
          ...others,
          statement: statement.slice(0, LONGEST_LOGGED_STATEMENT),
          ...(suggestion !== '' && { suggestion }),
        },
        'statement slow',
      );
      return;
    }
    case 'account':
      logger[event.act === 'loginFailed' ? 'warn' : 'info'](line, ACCOUNT_ACTS[event.act]);
      return;
    case 'jobEnded':
      logJob({ logger, failures }, event);
      return;
    case 'messageTried':
      logMessage(logger, event);
      return;
    case 'databaseUpgraded':
      if (event.isCompatible)
        logger.warn(line, 'a newer version has migrated the database: upgrade this gateway, too');
      else
        logger.error(
          line,
          'a newer version has migrated the database, and this one does not work on it: stop it',
        );
      return;
    default: {
      const [level, message] = LINES[event.kind];
      logger[level](line, message);
    }
  }
}

function logRequest(
  logger: Logger,
  { kind, url, errorCode, cost: _, isComplete, ...event }: RequestEnded,
): void {
  if (!logger.isLevelEnabled('info')) return;
  const line = { event: kind, ...event, url: shownUrl(url), code: errorCode };
  logger.info({ ...line, ...(!isComplete && { isComplete }) }, 'request ended');
}

/** Logs a fault unless one like it was logged; a later line has the number of omitted ones. */
function logFault(
  { logger, failures }: Log,
  { error }: { readonly error: unknown },
  [line, message]: readonly [object, string],
): void {
  const omitted = failures.admit(error);
  if (omitted === undefined) return;
  logger.error({ ...line, error: describe(error), ...(omitted > 0 && { omitted }) }, message);
}

/** A caller writes the address, up to the size of all headers. */
const MAX_SHOWN_URL = 2_048;

function shownUrl(url: string): string {
  // Cut last: a secret without its end might not be recognized.
  const shown = redactSecrets(url);
  return shown.length > MAX_SHOWN_URL ? `${shown.slice(0, MAX_SHOWN_URL)}…` : shown;
}

const ACCOUNT_ACTS: Readonly<Record<AccountObservation['act'], string>> = {
  loggedIn: 'logged in',
  loginFailed: 'log-in refused',
  loggedOut: 'logged out',
  tokenReused: 'refresh token used twice: session ended',
};

function logJob({ logger, failures }: Log, event: Extract<Observation, { kind: 'jobEnded' }>): void {
  const { kind, task, jobId, outcome, attempt, maxAttempts, durationMs } = event;
  const line = { event: kind, task, jobId, outcome, attempt, maxAttempts, durationMs };
  if (outcome === 'done') logger.debug(line, 'job done');
  else if (outcome === 'retried') {
    logger.warn({ ...line, error: describeOnce(failures, event.error) }, 'job failed, will be tried again');
  } else logger.error({ ...line, error: describeOnce(failures, event.error) }, 'job failed');
}

function logMessage(logger: Logger, event: MessageObservation): void {
  const { kind, messageKind, messageId, domainId, state, attempt, reason } = event;
  const line = { event: kind, messageKind, messageId, domain: domainId, state, attempt };
  if (state === 'sent') logger.info(line, 'message sent');
  else logger.warn({ ...line, reason: reason && redactSecrets(reason) }, 'message not sent');
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  readonly stack: string | undefined;
  readonly cause?: DescribedError;
}

/** Describes a failure in one line if one like it has been logged in full. */
function describeOnce(failures: RepeatedFailures, error: unknown): DescribedError {
  const described = describe(error);
  if (failures.admit(error) !== undefined) return described;
  const { type, message, code } = described;
  return { type, message, ...(code !== undefined && { code }), stack: undefined };
}

/** Describes an error in full, with its causes; a driver's message may contain an address with a password. */
function describe(error: unknown): DescribedError {
  if (!(error instanceof Error))
    return { type: typeof error, message: redactSecrets(String(error)), stack: undefined };
  return {
    type: error.name,
    message: redactSecrets(error.message),
    ...('code' in error && { code: error.code }),
    stack: error.stack === undefined ? undefined : redactSecrets(error.stack),
    ...(error.cause !== undefined && { cause: describe(error.cause) }),
  };
}

/** Without a known outage, a failure of the environment is reported again after this time. */
const REPORT_AGAIN_AFTER_MS = 60_000;
/** The numbers in a message (milliseconds, bytes, connections), by which otherwise equal failures differ. */
const FIGURES = /\d[\d,.]*/g;

/**
 * Keeps an outage from flooding the log. Environment failures are the same for every request they hit: the
 * first is reported in full, the others are counted. Possible faults of our own are never suppressed.
 */
class RepeatedFailures {
  readonly #now: () => number;
  readonly #reported = new Map<string, { at: number; omitted: number }>();
  #isOutage = false;
  #omittedInOutage = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many were suppressed since one like it was reported; `undefined`: suppress this one too. */
  admit(error: unknown): number | undefined {
    const known = translateDatabaseError(error);
    if (!(known instanceof ServiceError) || known.code !== 'UNAVAILABLE') return 0;
    if (this.#isOutage) {
      // The first failure is logged; those of later requests, connections or queues add nothing.
      this.#omittedInOutage += 1;
      return undefined;
    }
    const kind = known.message.replaceAll(FIGURES, '#');
    const reported = this.#reported.get(kind);
    const now = this.#now();
    if (reported && now - reported.at < REPORT_AGAIN_AFTER_MS) {
      reported.omitted += 1;
      return undefined;
    }
    this.#reported.set(kind, { at: now, omitted: 0 });
    return reported?.omitted ?? 0;
  }

  /** Suppresses all failures of the environment until the outage ends. */
  beginOutage(): void {
    this.#isOutage = true;
  }

  /** How many were left out in the outage, and since what made it known. */
  endOutage(): number {
    this.#isOutage = false;
    const counts = [...this.#reported.values()].map((reported) => reported.omitted);
    const omitted = counts.reduce((total, count) => total + count, this.#omittedInOutage);
    this.#reported.clear();
    this.#omittedInOutage = 0;
    return omitted;
  }
}
