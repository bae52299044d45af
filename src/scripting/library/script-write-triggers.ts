/** Scripts as what a write starts: asked before it, in its transaction, or begun by a job once it is committed. */
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AskedWrite, BeforeTrigger, WriteTriggers } from '../../store/write-triggers.js';
import { principalOfRun, type ScriptRun, type ScriptRuns } from './script-runs.js';
import { RUN_TASK, SCRIPT_ATTEMPTS } from './script-tasks.js';
import type { ScriptOutline, Scripts } from './scripts.js';

export interface ScriptWriteTriggersOptions {
  readonly scripts: () => Scripts;
  readonly runs: () => ScriptRuns;
  /** How long a write waits for each script. */
  readonly beforeTimeoutMs: number;
}

/** The services come late: they are built on the store that asks here. */
export function createWriteTriggers(options: ScriptWriteTriggersOptions): WriteTriggers {
  return {
    before: (domainId, collection, operation) =>
      options
        .scripts()
        .starts.before(domainId, collection, operation)
        .map((script) => beforeTrigger(script, options)),
    after: ({ domain }, collection, operation) => {
      const scripts = options.scripts().starts.after(domain.id, collection, operation);
      if (scripts.length === 0) return undefined;
      return Prisma.sql`(
    select count(*)
    from unnest(${scripts.map(({ name }) => name)}::text[]) as script (name)
    cross join lateral campus_jobs.add_job(
      ${RUN_TASK},
      json_build_object(
        'domain', ${domain.id}::text, 'script', script.name, 'cause', 'after',
        'arguments', json_build_object(
          'operation', ${operation}::text, 'collection', ${collection}::text, 'id', r.id, 'version', r.version)),
      max_attempts => ${SCRIPT_ATTEMPTS}::int
    )
  )`;
    },
  };
}

function beforeTrigger(outline: ScriptOutline, o: ScriptWriteTriggersOptions): BeforeTrigger {
  return {
    principalFor: (scope) => principalOfRun(scope, outline),
    ask: async (write, within) => {
      const script = await o.scripts().findEnabled(outline.domainId, outline.name);
      if (script === undefined) return undefined;
      const run = await o.runs().start(write.scope, script, {
        cause: 'before',
        arguments: argumentsOf(write),
        // A script whose writes ask scripts again goes no deeper than the runner lets it.
        depth: (write.scope.scriptDepth ?? 0) + 1,
        within,
        wallTimeMs: o.beforeTimeoutMs,
      });
      return answerOf(run);
    },
  };
}

function argumentsOf({ operation, collection, record, previous }: AskedWrite): JsonObject {
  return { operation, collection, record, previous: previous ?? null };
}

function answerOf(run: ScriptRun): JsonObject | undefined {
  if (run.error !== undefined) {
    const { message, line, column } = run.error;
    const place =
      line === undefined ? '' : ` (${run.script}:${line}${column === undefined ? '' : `:${column}`})`;
    throw refused(run.script, `${message}${place}`);
  }
  if (run.value === undefined || run.value === null) return undefined;
  if (isJsonObject(run.value)) return run.value;
  throw refused(run.script, 'it gave back no object: a before-trigger gives the record, or nothing');
}

function refused(script: string, why: string): ServiceError {
  return new ServiceError('SCRIPT_FAILED', `the script "${script}" refused the write: ${why}`);
}
