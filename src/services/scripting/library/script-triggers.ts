/**
 * The scripts triggered by writes and messages: `before` scripts run within the transaction of the write,
 * others by a job after the commit.
 */

import { RETRY_SOON_SECONDS, ServiceError } from '../../../base/errors.js';
import { isJsonObject, type JsonObject } from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';
import { traceHeaders } from '../../../base/process/traced.js';
import type { FairQueue, Permit } from '../../../store/database/fair-queue.js';
import { type Sql, sql } from '../../../store/sql.js';
import type { BeforeTrigger, ReservedPermit, WriteTriggers } from '../../../store/writing/write-triggers.js';
import type { TopicTriggers } from '../../messaging/topics.js';
import { queueKeyOf } from '../run-queues.js';
import type { ScriptError } from '../run-request.js';
import { principalOfRun, type RunCause, type ScriptRun, type ScriptRuns } from './script-runs.js';
import { RUN_TASK, SCRIPT_ATTEMPTS } from './script-tasks.js';
import type { ScriptOutline, Scripts } from './scripts.js';

interface StartedScripts {
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly writeQueue: FairQueue;
}

export interface ScriptTriggersOptions {
  /** `undefined` until scripting is open: scripts depend on the store and the topics, which call this. */
  readonly scripting: () => StartedScripts | undefined;
  /** How long a write waits for each script. */
  readonly beforeTimeoutMs: number;
}

export function createScriptTriggers({
  scripting,
  beforeTimeoutMs,
}: ScriptTriggersOptions): WriteTriggers & TopicTriggers {
  return {
    before: (domainId, collection, operation) => {
      const started = scripting();
      const outlines = started?.scripts.starts.startedBy('before', domainId, collection, operation) ?? [];
      if (started === undefined || outlines.length === 0) return NONE;
      return outlines.map((outline) => beforeTrigger(outline, { ...started, beforeTimeoutMs }));
    },
    reserve: (scope, writes) => {
      const started = scripting();
      if (started === undefined || !started.scripts.starts.mayAsk(scope.domain.id, writes)) return undefined;
      // Leaves the rest of the time to the script. Nobody waits for a system task, whose record must be
      // written.
      const waitMs = scope.principal.kind === 'system' ? SERVICE_WAIT_MS : beforeTimeoutMs * WAITING_SHARE;
      return reservePermit(started.writeQueue, scope, waitMs);
    },
    after: (scope, collection, operation) =>
      describeJobs(scripting()?.scripts.starts.startedBy('after', scope.domain.id, collection, operation), {
        scope,
        cause: 'after',
        arguments: sql`json_build_object(
        'operation', ${operation}::text, 'collection', ${collection}::text,
        'id', r.id, 'version', r.version)`,
      }),
    begin: addJobs,
    names: (domainId, collection) => {
      const starts = scripting()?.scripts.starts;
      const listed = (when: 'before' | 'after') =>
        OPERATIONS.flatMap((operation) => starts?.startedBy(when, domainId, collection, operation) ?? []);
      const namesOf = (when: 'before' | 'after') => [...new Set(listed(when).map(({ name }) => name))];
      return { before: namesOf('before'), after: namesOf('after') };
    },
    afterMessage: (scope, topic) => {
      const jobs = describeJobs(scripting()?.scripts.starts.startedBy('topic', scope.domain.id, topic), {
        scope,
        cause: 'topic',
        arguments: sql`json_build_object('topic', m.topic, 'message', m.message)`,
      });
      return jobs && addJobs(jobs);
    },
  };
}

const NONE: readonly BeforeTrigger[] = [];
const OPERATIONS = ['create', 'update', 'delete'] as const;
const SERVICE_WAIT_MS = 30_000;
/** The share of a write's time for `before` scripts that it may spend waiting for its permit. */
const WAITING_SHARE = 0.75;

/** A JSON expression with a job for each script. */
function describeJobs(
  scripts: readonly ScriptOutline[] | undefined,
  job: { readonly scope: Scope; readonly cause: RunCause; readonly arguments: Sql },
): Sql | undefined {
  if (scripts === undefined || scripts.length === 0) return undefined;
  return sql`(
    select json_agg(json_build_object(
      'domain', ${job.scope.domain.id}::text, 'script', script.name, 'cause', ${job.cause}::text,
      'depth', ${job.scope.call.scriptDepth ?? 0}::int, 'arguments', ${job.arguments},
      'traceparent', ${traceHeaders().traceparent ?? null}::text))
    from unnest(${scripts.map(({ name }) => name)}::text[]) as script (name)
  )`;
}

/**
 * An expression that adds the jobs in a JSON expression, in the transaction of its statement; none if it is
 * null.
 */
function addJobs(described: Sql): Sql {
  return sql`(
    select count(*)
    from json_array_elements(${described}) as job (payload)
    cross join lateral campus_jobs.add_job(
      ${RUN_TASK}, job.payload, max_attempts => ${SCRIPT_ATTEMPTS}::int
    )
  )`;
}

function beforeTrigger(
  outline: ScriptOutline,
  options: StartedScripts & Pick<ScriptTriggersOptions, 'beforeTimeoutMs'>,
): BeforeTrigger {
  return {
    principalFor: (scope) => principalOfRun(scope, outline),
    ask: async (write, within) => {
      const script = await options.scripts.findEnabled(outline.domainId, outline.name, within);
      if (script === undefined) return undefined;
      const waitedMs = within.reserved?.waitedMs ?? 0;
      const permit = within.reserved === undefined ? acquireNow(options.writeQueue, write.scope) : undefined;
      const { operation, collection, record, previous = null } = write;
      try {
        const run = await options.scriptRuns.start(write.scope, script, {
          cause: 'before',
          arguments: { operation, collection, record, previous },
          // A script whose writes trigger scripts again is limited in depth by the runner.
          depth: (write.scope.call.scriptDepth ?? 0) + 1,
          within,
          queueKey: 'held',
          wallTimeMs: Math.max(1, options.beforeTimeoutMs - waitedMs),
        });
        if (run.error?.limit === 'wallTime')
          throw tookTooLong(run.script, run.error, { ...options, waitedMs });
        return answerOf(run);
      } finally {
        permit?.release();
      }
    },
  };
}

async function reservePermit(queue: FairQueue, scope: Scope, waitMs: number): Promise<ReservedPermit> {
  const key = queueKeyOf(scope);
  const free = queue.tryAcquire(key);
  if (free !== undefined) return { permit: free, waitedMs: 0 };
  const startedAt = performance.now();
  const permit = await queue.acquire(key, { signal: scope.call.signal, waitMs, onWait: scope.call.onWait });
  // Without a waiting request there is no deadline.
  const waitedMs = scope.principal.kind === 'system' ? 0 : performance.now() - startedAt;
  return { permit, waitedMs };
}

/** For a write in a transaction that has no permit yet: it must not wait while it holds a connection. */
function acquireNow(queue: FairQueue, scope: Scope): Permit {
  const permit = queue.tryAcquire(queueKeyOf(scope));
  if (permit !== undefined) return permit;
  throw new ServiceError(
    'UNAVAILABLE',
    'the "before" scripts of this write are busy with other writes; try again',
    {
      retryAfterSeconds: RETRY_SOON_SECONDS,
    },
  );
}

/** The script is too slow if it had all of its time; otherwise it was delayed by others. */
function tookTooLong(
  script: string,
  error: ScriptError,
  { waitedMs, beforeTimeoutMs }: { readonly waitedMs: number; readonly beforeTimeoutMs: number },
): ServiceError {
  const limit = `${beforeTimeoutMs.toLocaleString('en')} ms (SCRIPT_BEFORE_TIMEOUT_MS)`;
  if (waitedMs === 0) return refused(script, `it took longer than ${limit}${printPlace(error)}`);
  const waited = `${Math.ceil(waitedMs).toLocaleString('en')} ms`;
  return new ServiceError(
    'UNAVAILABLE',
    `the script "${script}" was not done in time: of ${limit} this write waited ${waited} behind ` +
      'other writes; nothing was written, try again',
    { retryAfterSeconds: RETRY_SOON_SECONDS },
  );
}

function answerOf(run: ScriptRun): JsonObject | undefined {
  if (run.error !== undefined) throw refused(run.script, `${run.error.message}${printPlace(run.error)}`);
  if (run.value === undefined || run.value === null) return undefined;
  if (isJsonObject(run.value)) return run.value;
  throw refused(run.script, 'it did not return an object: a before-trigger returns the record, or nothing');
}

/** ` (fees.js:3:7)`, as far as the position is known. */
function printPlace({ script, line, column }: ScriptError): string {
  if (line === undefined) return '';
  return ` (${script}:${line}${column === undefined ? '' : `:${column}`})`;
}

function refused(script: string, why: string): ServiceError {
  return new ServiceError('SCRIPT_FAILED', `the script "${script}" refused the write: ${why}`);
}
