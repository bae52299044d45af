/** The jobs that start scripts without a caller: after a write, for a message of a topic, or by schedule. */

import { z } from 'zod';
import { ifRefused, OUT_OF_REACH } from '../../../base/errors.js';
import { type JsonObject, type JsonValue, parsePlainJson } from '../../../base/json/json.js';
import { type Domain, type Scope, systemPrincipal } from '../../../base/model/scope.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { Database } from '../../../store/database/database.js';
import { databaseTime, type Transaction } from '../../../store/database/queryable.js';
import type { RecordStore } from '../../../store/record-store.js';
import { sql } from '../../../store/sql.js';
import { lastDue, parseSchedule } from '../../jobs/cron-schedule.js';
import type { JobQueue, JobTask } from '../../jobs/job-queue.js';
import type { ScriptLog } from '../script-log.js';
import type { ScriptRun, ScriptRuns } from './script-runs.js';
import type { Scripts } from './scripts.js';

export interface ScriptTaskServices {
  readonly database: Database;
  readonly domains: Pick<Domains, 'find'>;
  readonly store: Pick<RecordStore, 'get'>;
  readonly jobs: Pick<JobQueue, 'add'>;
  readonly scripts: Scripts;
  readonly runs: ScriptRuns;
  readonly scriptLog: Pick<ScriptLog, 'write'>;
  /** The longest chain of scripts that start each other. */
  readonly maxDepth: number;
}

/** A failed script is retried: what it depends on (an SMS provider, a bank) may be available again. */
export const SCRIPT_ATTEMPTS = 4;
export const RUN_TASK = 'scripts.run';
/** Checks every minute for due schedules; `src/gateway/compose/jobs.ts` lists it. */
export const SCHEDULE_TASK = 'scripts.schedule';

const RunPayload = z.object({
  domain: z.string(),
  script: z.string(),
  cause: z.enum(['after', 'topic', 'schedule']),
  /** How many scripts, each started by the one before, led to this one. */
  depth: z.number().int().min(0).default(0),
  arguments: z.record(z.string(), z.unknown()),
});
type RunPayload = z.infer<typeof RunPayload>;

/** The subject of an `after` script, among its arguments. */
const Written = z.object({ collection: z.string(), id: z.string() });

export function createScriptTasks(services: ScriptTaskServices): readonly JobTask[] {
  return [
    {
      name: RUN_TASK,
      run: async (payload) => await runJob(services, RunPayload.parse(payload)),
    },
    {
      name: SCHEDULE_TASK,
      run: async () => await startDueScripts(services, await databaseTime(services.database)),
    },
  ];
}

async function runJob(services: ScriptTaskServices, job: RunPayload): Promise<void> {
  const { domains, runs, store } = services;
  const domain = domains.find(job.domain);
  if (domain === undefined) return;
  const sent = job.arguments as JsonObject;
  const run = await runs.runAsService(domain, job.script, {
    cause: job.cause,
    depth: job.depth + 1,
    argumentsFor: async (scope) =>
      job.cause === 'after' ? { ...sent, record: await findWritten(store, scope, sent) } : sent,
  });
  if (run?.error === undefined) return;
  if (job.depth >= services.maxDepth) await recordEndlessChain(services, { domain, run });
  else throw new Error(`the script "${job.script}" failed: ${run.error.message}`);
}

/** The run was not started and will not be retried: its author finds the reason in the log of the script. */
async function recordEndlessChain(
  { scriptLog, maxDepth }: ScriptTaskServices,
  { domain, run }: { readonly domain: Domain; readonly run: ScriptRun },
): Promise<void> {
  const scope = {
    domain,
    principal: systemPrincipal(run.principal, [], domain.id),
    call: { requestId: run.requestId },
  };
  const message =
    `not started by this ${run.cause === 'topic' ? 'message' : 'write'}: ${maxDepth} scripts, one ` +
    'started by what the other wrote or ' +
    `published, led to it, and no more may (SCRIPT_DEPTH). Most likely "${run.script}" starts ` +
    'itself: have it look whether ' +
    'there is anything left to change before it writes.';
  await scriptLog.write(
    scope,
    { id: run.id, name: run.script, depth: maxDepth + 1 },
    { level: 'error', message, data: undefined, isInTransaction: false },
  );
}

/** The present record, as far as the script may read it; null if it no longer exists. */
async function findWritten(
  store: ScriptTaskServices['store'],
  scope: Scope,
  sent: JsonObject,
): Promise<JsonValue> {
  const { collection, id } = Written.parse(sent);
  const found = await store.get(scope, collection, id).catch(ifRefused(OUT_OF_REACH, undefined));
  return found === undefined ? null : parsePlainJson(found.json);
}

/**
 * Queues a job for every script that became due since the last check on any gateway; each once, even if it
 * was due several times while no gateway was up. Check and jobs share a transaction, so no time is lost or
 * processed twice.
 */
export async function startDueScripts(services: ScriptTaskServices, now: Date): Promise<void> {
  const { database, domains, jobs, scripts } = services;
  await database.transaction(async (within) => {
    const lastLook = await moveClock(within, now);
    for (const { domainId, name, schedule } of scripts.starts.scheduled) {
      const domain = domains.find(domainId);
      if (domain === undefined || schedule === undefined) continue;
      const cron = parseSchedule(schedule, domain.timeZone);
      const due = lastDue(cron, { after: lastLook, until: now });
      if (due === undefined) continue;
      const scheduled = { cause: 'schedule', arguments: { scheduledFor: due.toISOString() } };
      const options = { key: `schedule ${domainId} ${name}`, maxAttempts: SCRIPT_ATTEMPTS };
      await jobs.add(RUN_TASK, { domain: domainId, script: name, ...scheduled }, options, within);
    }
  });
}

const SETTING = 'scriptScheduleLookedAt';
/** Runs missed while no gateway was up for longer than this are skipped. */
const LONGEST_GAP_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

/**
 * Records that all schedules are processed up to now, and returns the previous time; the row stays locked
 * until the transaction ends.
 */
export async function moveClock(within: Transaction, now: Date): Promise<Date> {
  const earliest = new Date(now.getTime() - LONGEST_GAP_MS);
  const [row] = await within.query<{ at: string | null }>(sql`
    with last as (
      select value #>> '{}' as at
      from settings
      where name = ${SETTING}
      for update
    )
    insert into settings (name, value, updated_at)
    select ${SETTING}, to_jsonb(greatest(${now.toISOString()}, (select at from last))), now()
    on conflict (name) do update
    set value = excluded.value, updated_at = now()
    returning (select at from last)`);
  // At the first look, all that may be due is what became due while the job of this minute waited.
  if (row === undefined || row.at === null) return new Date(now.getTime() - MINUTE_MS);
  const last = new Date(row.at);
  return last < earliest ? earliest : last;
}
