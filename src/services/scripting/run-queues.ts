/** The queues of scripts: one for runs, another for `before` scripts, whose permits runs cannot take. */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { FairQueue, type QueueKey, type QueueRefusal } from '../../store/database/fair-queue.js';
import { limitVariable, printLimit, type ScriptLimits } from './script-settings.js';

/** Writes are short, so their permits are soon free again. */
const RETRY_WRITE_AFTER_SECONDS = 1;

/** For runs started from outside; a script started by a script uses the permit of the first. */
export function createRunQueue(limits: ScriptLimits): FairQueue {
  const reasons: Readonly<Record<QueueRefusal, string>> = {
    full:
      `too many scripts are waiting to run: ${printLimit(limits, 'queuedRuns')} behind ` +
      `${printLimit(limits, 'concurrentRuns')}`,
    callerFull:
      `too many of your scripts are waiting to run: ${printLimit(limits, 'callerQueuedRuns')} behind ` +
      `${printLimit(limits, 'callerRuns')}`,
    late:
      'the script was not started: no place for it became free within ' +
      `${printLimit(limits, 'wallTimeMs')}`,
    closed: 'the service is shutting down',
  };
  return new FairQueue({
    total: limits.concurrentRuns,
    perTenant: limits.domainRuns,
    perCaller: limits.callerRuns,
    waiting: limits.queuedRuns,
    waitingPerCaller: limits.callerQueuedRuns,
    waitMs: limits.wallTimeMs,
    refusal: (reason) => unavailable(reasons[reason], RETRY_AFTER_SECONDS),
  });
}

/**
 * For writes with `before` scripts. Each holds a connection, so there are fewer of them than half of
 * the pool, whatever the setting; one caller or domain cannot take them all.
 */
export function createWriteQueue(limits: ScriptLimits, poolSize: number): FairQueue {
  const total = Math.max(1, Math.min(limits.beforeRuns, Math.floor((poolSize - 1) / 2)));
  const reasons: Readonly<Record<QueueRefusal, string>> = {
    full:
      `too many writes are waiting for their "before" scripts: ${printLimit(limits, 'queuedBeforeRuns')} ` +
      `behind ${total}`,
    callerFull:
      `too many of your writes are waiting for their "before" scripts, ${waitingPerCaller(limits)} of ` +
      `them (half of ${limitVariable('queuedBeforeRuns')})`,
    late:
      'the "before" scripts of this write were busy with other writes for too long (three quarters of ' +
      'SCRIPT_BEFORE_TIMEOUT_MS); nothing was written, try again',
    closed: 'the service is shutting down',
  };
  return new FairQueue({
    total,
    perTenant: Math.max(1, total - 1),
    perCaller: Math.max(1, Math.ceil(total / 2)),
    waiting: limits.queuedBeforeRuns,
    waitingPerCaller: waitingPerCaller(limits),
    waitMs: limits.wallTimeMs,
    refusal: (reason) => unavailable(reasons[reason], RETRY_WRITE_AFTER_SECONDS),
  });
}

/**
 * Limits how many lists the scripts of a gateway read at once: each holds one of the connections that all
 * streamed answers share.
 */
export function createStreamLimit(limits: ScriptLimits): FairQueue {
  const refusal = () =>
    unavailable(
      `the scripts of this gateway read ${printLimit(limits, 'streams')} lists at once, and all are open; ` +
        'try again',
      RETRY_AFTER_SECONDS,
    );
  return new FairQueue({ total: limits.streams, waitMs: limits.wallTimeMs, refusal });
}

/** Counts the requests of a user, whatever the credentials, or of a system task. */
export function queueKeyOf({ domain, principal }: Scope): QueueKey {
  return { tenant: domain.id, caller: `${principal.kind} ${principal.domainId} ${principal.id}` };
}

function waitingPerCaller({ queuedBeforeRuns }: ScriptLimits): number {
  return Math.ceil(queuedBeforeRuns / 2);
}

function unavailable(reason: string, retryAfterSeconds: number): ServiceError {
  return new ServiceError('UNAVAILABLE', reason, { retryAfterSeconds });
}
