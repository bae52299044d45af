/** Scripts as what a write or a message starts: asked before a write, in its transaction, or begun by a job once it is committed. */
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { TopicTriggers } from '../../messaging/topics.js';
import type { AskedWrite, BeforeTrigger, WriteTriggers } from '../../store/write-triggers.js';
import { principalOfRun, type RunCause, type ScriptRun, type ScriptRuns } from './script-runs.js';
import { RUN_TASK, SCRIPT_ATTEMPTS } from './script-tasks.js';
import type { ScriptOutline, Scripts } from './scripts.js';

export interface StartedScripts {
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
}

export interface ScriptTriggersOptions {
  /** `undefined` until there are any: scripts work on the store and the topics that ask here. */
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
      const outlines = started?.scripts.starts.before(domainId, collection, operation) ?? [];
      if (started === undefined || outlines.length === 0) return NONE;
      return outlines.map((outline) => beforeTrigger(outline, { ...started, beforeTimeoutMs }));
    },
    after: ({ domain }, collection, operation) =>
      addJobs(scripting()?.scripts.starts.after(domain.id, collection, operation), {
        domainId: domain.id,
        cause: 'after',
        arguments: Prisma.sql`json_build_object(
        'operation', ${operation}::text, 'collection', ${collection}::text, 'id', r.id, 'version', r.version)`,
      }),
    afterMessage: (domainId, topic) =>
      addJobs(scripting()?.scripts.starts.onTopic(domainId, topic), {
        domainId,
        cause: 'topic',
        arguments: Prisma.sql`json_build_object('topic', m.topic, 'message', m.message)`,
      }),
  };
}

const NONE: readonly BeforeTrigger[] = [];

/** An expression that adds a job for each script, in the statement and so in the transaction of what starts them. */
function addJobs(
  scripts: readonly ScriptOutline[] | undefined,
  job: { readonly domainId: string; readonly cause: RunCause; readonly arguments: Prisma.Sql },
): Prisma.Sql | undefined {
  if (scripts === undefined || scripts.length === 0) return undefined;
  return Prisma.sql`(
    select count(*)
    from unnest(${scripts.map(({ name }) => name)}::text[]) as script (name)
    cross join lateral campus_jobs.add_job(
      ${RUN_TASK},
      json_build_object(
        'domain', ${job.domainId}::text, 'script', script.name, 'cause', ${job.cause}::text,
        'arguments', ${job.arguments}),
      max_attempts => ${SCRIPT_ATTEMPTS}::int
    )
  )`;
}

function beforeTrigger(
  outline: ScriptOutline,
  o: StartedScripts & Pick<ScriptTriggersOptions, 'beforeTimeoutMs'>,
): BeforeTrigger {
  return {
    principalFor: (scope) => principalOfRun(scope, outline),
    ask: async (write, within) => {
      const script = await o.scripts.findEnabled(outline.domainId, outline.name);
      if (script === undefined) return undefined;
      const run = await o.scriptRuns.start(write.scope, script, {
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
