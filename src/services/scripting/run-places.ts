/** The places of scripts: those for runs, and separate ones for `before` scripts, which runs cannot take. */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { type NoPlace, Places, type Visitor } from './places.js';
import { LIMIT_VARIABLES, printLimit, type ScriptLimits } from './script-limits.js';

/** Writes are short, so their places are soon free again. */
const RETRY_WRITE_AFTER_SECONDS = 1;

/** Places for runs started from outside; a script started by a script uses the place of the first. */
export function createRunPlaces(limits: ScriptLimits): Places {
  const reasons: Readonly<Record<NoPlace, string>> = {
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
  return new Places({
    limits: {
      places: limits.concurrentRuns,
      perDomain: limits.domainRuns,
      perCaller: limits.callerRuns,
      waiting: limits.queuedRuns,
      waitingPerCaller: limits.callerQueuedRuns,
    },
    refuse: (reason) => unavailable(reasons[reason], RETRY_AFTER_SECONDS),
  });
}

/**
 * Places for writes with `before` scripts. Each holds a connection, so there are fewer of them than half of
 * the pool, whatever the setting; one caller or domain cannot take them all.
 */
export function createWritePlaces(limits: ScriptLimits, poolSize: number): Places {
  const places = Math.max(1, Math.min(limits.beforeRuns, Math.floor((poolSize - 1) / 2)));
  const reasons: Readonly<Record<NoPlace, string>> = {
    full:
      `too many writes are waiting for the scripts they ask: ${printLimit(limits, 'queuedBeforeRuns')} ` +
      `behind ${places}`,
    callerFull:
      `too many of your writes are waiting for the scripts they ask, ${waitingPerCaller(limits)} of ` +
      `them (half of ${LIMIT_VARIABLES.queuedBeforeRuns})`,
    late:
      'the scripts this write asks were busy with other writes for too long (three quarters of ' +
      'SCRIPT_BEFORE_TIMEOUT_MS); nothing was written, try again',
    closed: 'the service is shutting down',
  };
  return new Places({
    limits: {
      places,
      perDomain: Math.max(1, places - 1),
      perCaller: Math.max(1, Math.ceil(places / 2)),
      waiting: limits.queuedBeforeRuns,
      waitingPerCaller: waitingPerCaller(limits),
    },
    refuse: (reason) => unavailable(reasons[reason], RETRY_WRITE_AFTER_SECONDS),
  });
}

/** The visitor to count requests for: a user, whatever the credentials, or a system task. */
export function visitorOf({ domain, principal }: Scope): Visitor {
  return { domainId: domain.id, caller: `${principal.kind} ${principal.domainId} ${principal.id}` };
}

function waitingPerCaller({ queuedBeforeRuns }: ScriptLimits): number {
  return Math.ceil(queuedBeforeRuns / 2);
}

function unavailable(reason: string, retryAfterSeconds: number): ServiceError {
  return new ServiceError('UNAVAILABLE', reason, { retryAfterSeconds });
}
