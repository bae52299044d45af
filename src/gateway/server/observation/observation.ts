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
  readonly keyMeter: Pick<KeyMeter, 'note'>;
}): Observe {
  const add = guarded(
    (event: Observation) => {
      count(options.metrics, event);
      if (event.kind !== 'requestEnded') return;
      options.metrics.requestEnded(event);
      meter(options.keyMeter, event);
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
export function createEventLog(logger: Logger): Observe {
  const failures = new RepeatedFailures();
  return guarded((event) => {
    if (event.kind === 'requestEnded') logRequest(logger, event);
    else log(logger, failures, event);
  });
}

type Kind = Observation['kind'];
type EventOf<K extends Kind> = {
  [One in K]: Extract<Observation, { readonly kind: One }> & { readonly kind: One };
}[K];

/** The events that are counted, each with the arguments of `Metrics.count`. */
const COUNTS: { readonly [K in Kind]?: (event: EventOf<K>) => Parameters<Metrics['count']> } = {
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

function count<K extends Kind>(metrics: Metrics, event: EventOf<K>): void {
  const counted = COUNTS[event.kind]?.(event);
  if (counted) metrics.count(...counted);
}

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

type Line = readonly [level: 'debug' | 'info' | 'warn' | 'error', message: string];

const fixed =
  (...line: Line) =>
  () =>
    line;

const ACCOUNT_LINES: Readonly<Record<AccountObservation['act'], Line>> = {
  loggedIn: ['info', 'logged in'],
  loginFailed: ['warn', 'log-in refused'],
  loggedOut: ['info', 'logged out'],
  tokenReused: ['info', 'refresh token used twice: session ended'],
};
const JOB_LINES: Readonly<Record<EventOf<'jobEnded'>['outcome'], Line>> = {
  done: ['debug', 'job done'],
  retried: ['warn', 'job failed, will be tried again'],
  failed: ['error', 'job failed'],
};

/** The level and message of each event; `undefined`: it is only counted. */
const LINES: { readonly [K in Exclude<Kind, 'requestEnded'>]: (event: EventOf<K>) => Line | undefined } = {
  rowsStreamed: () => undefined,
  webhookTried: () => undefined,
  requestFailed: fixed('error', 'request failed'),
  backgroundFault: fixed('error', 'background fault'),
  renewalFailed: fixed('error', 'renewal failed, will be tried again until it succeeds'),
  streamCut: fixed('error', 'answer cut'),
  databaseLost: fixed('error', 'database lost'),
  databaseBack: fixed('warn', 'database back'),
  databaseFull: fixed('error', 'the disk of the database is full: changes are refused'),
  databaseMoved: fixed('warn', 'database moved to another server'),
  databaseRole: ({ isReadOnly }) => [
    'warn',
    isReadOnly ? 'database refuses changes' : 'database accepts changes again',
  ],
  databaseUpgraded: ({ isCompatible }) =>
    isCompatible
      ? ['warn', 'a newer version has migrated the database: upgrade this gateway, too']
      : ['error', 'a newer version has migrated the database, and this one does not work on it: stop it'],
  replicaLost: fixed('warn', 'replica not read from'),
  replicaUnfit: fixed('warn', 'replica not read from'),
  replicaBack: fixed('info', 'replica back'),
  connectionsDropped: fixed('warn', 'database connections dropped'),
  readerCut: fixed('warn', 'slow reader cut'),
  connectionRefused: fixed('debug', 'connection refused'),
  listening: fixed('info', 'listening'),
  maintenanceSwitched: fixed('warn', 'maintenance switched'),
  stopAnnounced: fixed('info', 'a stop is announced'),
  stopping: fixed('info', 'stopping'),
  stopped: fixed('info', 'stopped'),
  workerEnded: fixed('error', 'a worker ended and is replaced'),
  workerHung: fixed('error', 'a worker hangs and is ended'),
  purged: fixed('info', 'purged'),
  liveConnectionEnded: fixed('info', 'live connection ended'),
  statementSlow: fixed('warn', 'statement slow'),
  account: ({ act }) => ACCOUNT_LINES[act],
  jobEnded: ({ outcome }) => JOB_LINES[outcome],
  messageTried: ({ state }) => (state === 'sent' ? ['info', 'message sent'] : ['warn', 'message not sent']),
  jobsRecovered: fixed('warn', 'jobs of a gateway that died are free again'),
  clockDiffers: fixed('warn', 'the clocks of this gateway and of the database differ: set both by NTP'),
  clockAgrees: fixed('info', 'the clocks of this gateway and of the database agree again'),
  instantsPutBack: fixed(
    'warn',
    'a clock was ahead: schedules and jobs that waited for its time are put back to now',
  ),
};

/** Events of these kinds leave no line if one like them was logged. */
const LOGGED_ONCE: ReadonlySet<Kind> = new Set(['requestFailed', 'backgroundFault', 'renewalFailed']);

function log<K extends Exclude<Kind, 'requestEnded'>>(
  logger: Logger,
  failures: RepeatedFailures,
  event: EventOf<K>,
): void {
  const line = LINES[event.kind](event);
  if (event.kind === 'databaseLost') failures.beginOutage();
  if (line === undefined) return;
  const [level, message] = line;
  const error = 'error' in event ? event.error : undefined;
  const omitted = error === undefined ? 0 : failures.admit(error);
  if (omitted === undefined && LOGGED_ONCE.has(event.kind)) return;
  const described =
    error === undefined ? undefined : describe(error, omitted === undefined ? 'short' : 'full');
  const { kind, ...members } = { ...event, ...membersOf(event, failures) };
  logger[level]({ event: kind, ...members, error: described, ...(omitted && { omitted }) }, message);
}

/** A log line must stay readable; `health` has the complete statement. */
const LONGEST_LOGGED_STATEMENT = 2000;

/** The members of a line that differ from those of its event. */
function membersOf(event: Observation, failures: RepeatedFailures): object {
  switch (event.kind) {
    case 'databaseBack':
      return { omitted: failures.endOutage() };
    case 'databaseRole':
      return { isDiskFull: event.isDiskFull || undefined };
    case 'messageTried':
      return {
        domainId: undefined,
        domain: event.domainId,
        reason: event.reason && redactSecrets(event.reason),
      };
    case 'databaseLost':
    case 'replicaLost':
    case 'replicaUnfit':
      return { reason: redactSecrets(event.reason) };
    case 'statementSlow': {
      const { suggestions, statement } = event;
      const suggestion = suggestions.map(
        (one) => `declare of the collection ${one.collection}: ${one.declaration}`,
      );
      return {
        suggestions: undefined,
        statement: statement.slice(0, LONGEST_LOGGED_STATEMENT),
        suggestion: suggestion.join('; ') || undefined,
      };
    }
    default:
      return {};
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

/** A caller writes the address, up to the size of all headers. */
const MAX_SHOWN_URL = 2_048;

function shownUrl(url: string): string {
  // Cut last: a secret without its end might not be recognized.
  const shown = redactSecrets(url);
  return shown.length > MAX_SHOWN_URL ? `${shown.slice(0, MAX_SHOWN_URL)}…` : shown;
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  readonly stack?: string | undefined;
  readonly cause?: DescribedError;
}

/**
 * Describes an error; in full with its stack and causes. A driver's message may contain an address with a
 * password.
 */
function describe(error: unknown, length: 'short' | 'full'): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redactSecrets(String(error)) };
  return {
    type: error.name,
    message: redactSecrets(error.message),
    ...('code' in error && { code: error.code }),
    ...(length === 'full' && {
      stack: error.stack && redactSecrets(error.stack),
      ...(error.cause !== undefined && { cause: describe(error.cause, 'full') }),
    }),
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
  readonly #reported = new Map<string, { at: number; omitted: number }>();
  #isOutage = false;
  #omittedInOutage = 0;

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
    const now = performance.now();
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
