/**
 * What the service reports to its operators: a closed list of events. Only `createEventLog` turns them into
 * log lines, and `createObserver` adds the metrics; nothing else logs.
 */

import type { Logger } from 'pino';
import { guarded } from '../../base/process/guarded.js';
import type { AccountObservation } from '../../services/auth/account-events.js';
import type { KeyMeter } from '../../services/auth/key-meter.js';
import type { JobObservation } from '../../services/jobs/job.js';
import type { MessageObservation } from '../../services/messaging/message-delivery.js';
import type { Purged } from '../../store/changes/purge.js';
import type { DatabaseNews } from '../../store/database/connection-watch.js';
import type { InstanceNews } from '../../store/database/instance-watch.js';
import type { SlowStatement } from '../../store/reading/slow-statements.js';
import type { Metrics } from './metrics.js';
import { redactSecrets } from './redact-secrets.js';
import { RepeatedFailures } from './repeated-failures.js';
import type { RequestEnded } from './request-ended.js';

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

function count(metrics: Metrics, event: Observation): void {
  switch (event.kind) {
    case 'requestEnded':
      metrics.requestEnded(event);
      return;
    case 'rowsStreamed':
      metrics.rowsStreamed(event.count);
      return;
    case 'streamCut':
      metrics.streamCut();
      return;
    case 'statementSlow':
      metrics.statementSlow();
      return;
    case 'liveConnectionEnded':
      metrics.liveConnectionEnded(event.code);
      return;
    case 'jobEnded':
      metrics.jobEnded(event.task, event.outcome);
      return;
    case 'databaseLost':
      metrics.databaseLost();
      return;
    case 'databaseMoved':
      metrics.databaseMoved();
      return;
    case 'webhookTried':
      metrics.webhookTried(event.state);
      return;
    case 'messageTried':
      metrics.messageTried(event.messageKind, event.state);
      return;
    default:
      return;
  }
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

function log({ logger, failures }: Log, event: Observation): void {
  switch (event.kind) {
    case 'requestEnded':
      if (!logger.isLevelEnabled('info')) return;
      logger.info(
        {
          event: event.kind,
          requestId: event.requestId,
          method: event.method,
          url: shownUrl(event.url),
          route: event.route,
          status: event.status,
          durationMs: event.durationMs,
          address: event.address,
          principal: event.principal,
          credential: event.credential,
          operation: event.operation,
          code: event.errorCode,
          ...(!event.isComplete && { isComplete: false }),
        },
        'request ended',
      );
      return;
    case 'rowsStreamed':
    case 'webhookTried':
      // Counted as a metric, not logged.
      return;
    case 'requestFailed': {
      const omitted = failures.admit(event.error);
      if (omitted === undefined) return;
      logger.error(
        {
          event: event.kind,
          requestId: event.requestId,
          error: describe(event.error),
          ...(omitted > 0 && { omitted }),
        },
        'request failed',
      );
      return;
    }
    case 'streamCut':
      logger.error(
        { event: event.kind, requestId: event.requestId, error: describeOnce(failures, event.error) },
        'answer cut',
      );
      return;
    case 'databaseLost':
      failures.beginOutage();
      logger.error({ event: event.kind, reason: redactSecrets(event.reason) }, 'database lost');
      return;
    case 'databaseBack':
      logger.warn(
        { event: event.kind, awayMs: event.awayMs, omitted: failures.endOutage() },
        'database back',
      );
      return;
    case 'databaseRole':
      logger.warn(
        { event: event.kind, isReadOnly: event.isReadOnly, ...(event.isDiskFull && { isDiskFull: true }) },
        event.isReadOnly ? 'database takes no changes' : 'database takes changes again',
      );
      return;
    case 'databaseFull':
      logger.error({ event: event.kind }, 'the disk of the database is full: changes are refused');
      return;
    case 'replicaLost':
    case 'replicaUnfit':
      logger.warn(
        { event: event.kind, server: event.server, reason: redactSecrets(event.reason) },
        'replica not read from',
      );
      return;
    case 'replicaBack':
      logger.info({ event: event.kind, server: event.server }, 'replica back');
      return;
    case 'databaseMoved':
      logger.warn({ event: event.kind, from: event.from, to: event.to }, 'database moved to another server');
      return;
    case 'connectionsDropped':
      logger.warn(
        { event: event.kind, count: event.count, reason: event.reason },
        'database connections dropped',
      );
      return;
    case 'renewalFailed':
      if (failures.admit(event.error) === undefined) return;
      logger.error(
        { event: event.kind, channel: event.channel, error: describe(event.error) },
        'renewal failed, will be tried again until it succeeds',
      );
      return;
    case 'readerCut':
      logger.warn({ event: event.kind, requestId: event.requestId, reason: event.reason }, 'slow reader cut');
      return;
    case 'connectionRefused':
      logger.debug({ event: event.kind, reason: event.reason }, 'connection refused');
      return;
    case 'listening':
      logger.info({ event: event.kind, url: event.url }, 'listening');
      return;
    case 'maintenanceSwitched':
      logger.warn({ event: event.kind, isOn: event.isOn }, 'maintenance switched');
      return;
    case 'stopAnnounced':
      logger.info({ event: event.kind, delayMs: event.delayMs }, 'a stop is announced');
      return;
    case 'stopping':
      logger.info({ event: event.kind, inFlight: event.inFlight }, 'stopping');
      return;
    case 'stopped':
      logger.info({ event: event.kind, abandoned: event.abandoned }, 'stopped');
      return;
    case 'workerEnded': {
      const { kind, ...told } = event;
      logger.error({ event: kind, ...told }, 'a worker ended and is replaced');
      return;
    }
    case 'workerHung':
      logger.error(
        { event: event.kind, worker: event.worker, silentMs: event.silentMs },
        'a worker hangs and is ended',
      );
      return;
    case 'statementSlow': {
      const { kind, suggestions, statement, ...others } = event;
      logger.warn(
        {
          event: kind,
          ...others,
          statement: statement.slice(0, LONGEST_LOGGED_STATEMENT),
          ...(suggestions.length > 0 && { suggestion: suggestions.map(suggestionLine).join('; ') }),
        },
        'statement slow',
      );
      return;
    }
    case 'purged':
      logger.info(
        {
          event: event.kind,
          tombstones: event.tombstones,
          idempotencyKeys: event.idempotencyKeys,
          topicMessages: event.topicMessages,
          historyValues: event.historyValues,
          collections: event.collections,
        },
        'purged',
      );
      return;
    case 'account': {
      const { kind, act, ...origin } = event;
      const level = act === 'loginFailed' ? 'warn' : 'info';
      logger[level]({ event: kind, act, ...origin }, ACCOUNT_ACTS[act]);
      return;
    }
    case 'liveConnectionEnded': {
      const { kind, ...told } = event;
      logger.info({ event: kind, ...told }, 'live connection ended');
      return;
    }
    case 'jobEnded':
      logJob({ logger, failures }, event);
      return;
    case 'messageTried':
      logMessage(logger, event);
      return;
    case 'jobsRecovered':
      logger.warn(
        { event: event.kind, workers: event.workers },
        'jobs of a gateway that died are free again',
      );
      return;
    case 'clockDiffers':
      logger.warn(
        { event: event.kind, offsetSeconds: event.offsetSeconds },
        'the clocks of this gateway and of the database differ: set both by NTP',
      );
      return;
    case 'clockAgrees':
      logger.info(
        { event: event.kind, offsetSeconds: event.offsetSeconds },
        'the clocks of this gateway and of the database agree again',
      );
      return;
    case 'databaseUpgraded': {
      const line = { event: event.kind, migrations: event.migrations };
      if (event.isCompatible)
        logger.warn(line, 'a newer version has migrated the database: upgrade this gateway, too');
      else
        logger.error(
          line,
          'a newer version has migrated the database, and this one does not work on it: stop it',
        );
      return;
    }
    case 'instantsPutBack': {
      const { kind, ...numbers } = event;
      logger.warn(
        { event: kind, ...numbers },
        'a clock was ahead: schedules and jobs that waited for its time are put back to now',
      );
      return;
    }
    case 'backgroundFault': {
      const omitted = failures.admit(event.error);
      if (omitted === undefined) return;
      logger.error(
        {
          event: event.kind,
          task: event.task,
          error: describe(event.error),
          ...(omitted > 0 && { omitted }),
        },
        'background fault',
      );
      return;
    }
  }
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

function suggestionLine({ collection, declaration }: SlowStatement['suggestions'][number]): string {
  return `declare of the collection ${collection}: ${declaration}`;
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
