/** Runs stored scripts with the principal that their settings name, and records every run. */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../../base/json/json.js';
import {
  credentialName,
  type Domain,
  type Principal,
  type Scope,
  systemPrincipal,
  withCall,
} from '../../../base/model/scope.js';
import { replaceUnstorableText } from '../../../base/model/unstorable-text.js';
import type { Database } from '../../../store/database/database.js';
import { assertIdOf } from '../../../store/database/keyset.js';
import { fromRow, type Queryable, type RowOf, type Transaction } from '../../../store/database/queryable.js';
import type { RecordStore } from '../../../store/record-store.js';
import { allHold, sql } from '../../../store/sql.js';
import { rehearse } from '../../../store/writing/atomically.js';
import { queueKeyOf } from '../run-queues.js';
import type { OutputLine, RunRequest, RunResult, ScriptError, ScriptSource } from '../run-request.js';
import { runsInReach } from '../script-log.js';
import { assertOfType, readDeclaredArguments, toGraphqlField } from './declared-field.js';
import type { Script } from './script.js';
import { assertMayEdit, type Scripts } from './scripts.js';

/** The trigger of a run. */
export type RunCause =
  | 'call'
  | 'script'
  | 'commandLine'
  | 'endpoint'
  | 'schedule'
  | 'topic'
  | 'before'
  | 'after';

/** A recorded run. */
export interface ScriptRun {
  readonly id: string;
  readonly script: string;
  /** `undefined`: the code came with the request. */
  readonly version: number | undefined;
  readonly cause: RunCause;
  /** The `_id` of the user, or `script:<name>` for a run with service roles. */
  readonly principal: string;
  readonly status: 'running' | 'succeeded' | 'failed';
  readonly startedAt: Date;
  readonly endedAt: Date | undefined;
  readonly cpuMs: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly hostCalls: number | undefined;
  readonly value: JsonValue | undefined;
  readonly error: ScriptError | undefined;
  readonly output: readonly OutputLine[];
  readonly requestId: string;
}

export interface RunQuery {
  readonly script?: string | undefined;
  readonly status?: ScriptRun['status'] | undefined;
  /** Only runs older than the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Options of a run beside the script itself. */
export interface StartOptions extends Omit<RunRequest, 'id' | 'source' | 'scope'> {
  readonly cause: RunCause;
  /** The domain that has the script. Default: that of the scope. */
  readonly domainId?: string | undefined;
  /** Rolls back all that the run writes, also its messages. Requests to other servers are sent. */
  readonly isDryRun?: boolean | undefined;
  /** Whether the result can be used; the run failed if this throws a `ServiceError`. */
  readonly assertUsable?: ((value: JsonValue | undefined) => unknown) | undefined;
}

export interface ScriptRunsOptions {
  readonly database: Database;
  readonly scripts: Scripts;
  readonly store: Pick<RecordStore, 'transaction'>;
  readonly runner: { run(request: RunRequest): Promise<RunResult> };
}

/** A run in progress for longer was lost with its gateway: no limit of a run is as long. */
const LOST_AFTER_HOURS = 6;

export class ScriptRuns {
  readonly #options: ScriptRunsOptions;

  constructor(options: ScriptRunsOptions) {
    this.#options = options;
  }

  /**
   * Runs a stored script for a caller, as the caller or with its service roles. If the script fails, or gives
   * another value than it declares, the run has an `error`; nothing is thrown.
   *
   * @throws NOT_FOUND; FORBIDDEN if the caller may not run it; INVALID_VALUE for arguments that it does not
   *   declare
   */
  async call(scope: Scope, name: string, { domainId, ...options }: StartOptions): Promise<ScriptRun> {
    const script = await this.#options.scripts.getRunnable(scope, name, options.within, domainId);
    // Counts for the caller even with service roles: otherwise one caller could take the permits of all who
    // call the script.
    const queueKey = options.queueKey ?? queueKeyOf(scope);
    // An endpoint is called by a request and answers it, whatever else the script declares.
    const field = options.cause === 'endpoint' ? undefined : script.field;
    const typed = field && toGraphqlField(field);
    const declared = typed && {
      arguments: readDeclaredArguments(typed, options.arguments),
      assertUsable: (value: unknown) => assertOfType(value, typed.type, typed.name),
    };
    const own = scopeOfRun(scope, script);
    const readsOnly = own.call.readsOnly || field?.kind === 'query';
    return await this.start(withCall(own, { readsOnly }), script, { ...options, ...declared, queueKey });
  }

  /**
   * Runs a script started by its own settings, with its service roles. `undefined` if it was removed or
   * disabled.
   */
  async runAsService(
    domain: Domain,
    name: string,
    options: Omit<StartOptions, 'arguments'> & {
      /** Default: a new one. */
      readonly requestId?: string;
      /** Provides the arguments, as far as the script's roles may know them. */
      readonly argumentsFor: (scope: Scope) => Promise<JsonValue>;
    },
  ): Promise<ScriptRun | undefined> {
    const script = await this.#options.scripts.findEnabled(domain.id, name);
    if (script?.serviceRoles === undefined) return undefined;
    const { argumentsFor, requestId = randomUUID(), ...others } = options;
    const principal = servicePrincipal(domain, name, script.serviceRoles);
    const scope = { domain, principal, call: { requestId } };
    return await this.start(scope, script, { ...others, arguments: await argumentsFor(scope) });
  }

  /** Runs code that is not saved, as the caller. @throws FORBIDDEN unless the caller may save it */
  async tryOut(scope: Scope, source: ScriptSource, options: StartOptions): Promise<ScriptRun> {
    assertMayEdit(scope);
    return await this.start(scope, source, options);
  }

  /** Runs code in the given scope and records the run. The caller must have checked the right to do so. */
  async start(
    scope: Scope,
    source: ScriptSource & { readonly version?: number },
    options: StartOptions,
  ): Promise<ScriptRun> {
    const { cause, assertUsable, isDryRun = false, ...request } = options;
    if (isDryRun) {
      const run = (within: Transaction) =>
        rehearse(within, () => this.start(scope, source, { ...options, isDryRun: false, within }));
      return await this.#options.store.transaction(scope, run, options);
    }
    const id = randomUUID();
    const startedAt = new Date();
    const begun = { id, script: source.name, version: source.version, cause, startedAt };
    // A `before` script is part of a write, which does not wait for a record of its start; its result is
    // recorded.
    const notes = options.within === undefined ? this.#options.database : this.#options.database.background;
    if (cause !== 'before') await this.#keep(notes, scope, { ...begun, status: 'running' });
    const ended = usable(await this.#run({ id, source, scope, ...request }), source.name, assertUsable);
    const { status, value, error, output, cpuMs, memoryBytes, hostCalls } = ended;
    const run: ScriptRun = {
      ...{ ...begun, status, value, error, output, cpuMs, memoryBytes, hostCalls },
      principal: scope.principal.id,
      endedAt: new Date(),
      requestId: scope.call.requestId,
    };
    await this.#keep(notes, scope, run);
    return run;
  }

  /**
   * The runs of the domain, newest first: all for an admin, one's own for others.
   *
   * @throws INVALID_VALUE if `before` is not the id of a run
   */
  async list(scope: Scope, query: RunQuery): Promise<readonly ScriptRun[]> {
    const conditions = [
      runsInReach(scope),
      query.script !== undefined && sql`script = ${query.script}`,
      query.status !== undefined && sql`status = ${query.status}`,
      query.before !== undefined &&
        sql`(started_at, id) < (select started_at, id from script_runs
              where ${runsInReach(scope)} and id = ${assertIdOf('a run')(query.before, 'before')}::uuid)`,
    ];
    const rows = await this.#options.database.query<RunRow>(sql`
      select ${COLUMNS}
      from script_runs
      where ${allHold(conditions)}
      order by started_at desc, id desc
      limit ${query.limit}`);
    return rows.map(toScriptRun);
  }

  /** @throws NOT_FOUND for a run the caller may not see */
  async get(scope: Scope, id: string): Promise<ScriptRun> {
    const [row] = await this.#options.database.query<RunRow>(sql`
      select ${COLUMNS}
      from script_runs
      where ${runsInReach(scope)} and id = ${assertIdOf('a run')(id, 'id')}::uuid`);
    if (row === undefined) throw new ServiceError('NOT_FOUND', `there is no run "${id}"`);
    return toScriptRun(row);
  }

  /** Deletes runs that started before a time, and marks lost ones. Returns how many were deleted. */
  async purge(startedBefore: Date): Promise<number> {
    const [gone] = await this.#options.database.query<{ count: number }>(sql`
with lost as (
  update script_runs
  set status = 'failed', ended_at = now(),
    error = jsonb_build_object('name', 'Error', 'message', 'the gateway that ran it ended', 'script', script,
      'stack', '')
  where status = 'running' and started_at < now() - make_interval(hours => ${LOST_AFTER_HOURS}::int)
),
gone as (
  delete from script_runs
  where started_at < ${startedBefore.toISOString()}::timestamptz
  returning 1
)
select count(*)::int as count from gone`);
    return gone?.count ?? 0;
  }

  async #run(request: RunRequest): Promise<RunResult> {
    try {
      return await this.#options.runner.run(request);
    } catch (fault) {
      // The runner refuses before it begins: too many runs wait, or the caller has gone.
      const error = errorOf(request.source.name, fault);
      const none = { durationMs: 0, cpuMs: 0, memoryBytes: 0, hostCalls: 0 };
      return { ...none, id: randomUUID(), status: 'failed', error, output: [] };
    }
  }

  async #keep(notes: Queryable, scope: Scope, run: KeptRun): Promise<void> {
    await notes.query(sql`
insert into script_runs (
  id, domain_id, script, version, cause, principal, credential, status, started_at, ended_at,
  cpu_ms, memory_bytes, host_calls, value, error, output, request_id
)
values (
  ${run.id}::uuid, ${scope.domain.id}, ${run.script}, ${run.version ?? null}::int, ${run.cause},
  ${scope.principal.id}, ${credentialName(scope.principal.credential)}, ${run.status},
    ${run.startedAt.toISOString()}::timestamptz,
    case when ${run.status} <> 'running' then now() end,
  ${run.cpuMs ?? null}::float8, ${run.memoryBytes ?? null}::bigint, ${run.hostCalls ?? null}::int,
  ${storable(run.value === undefined ? undefined : printExactJson(run.value))}::jsonb,
  ${storable(run.error && JSON.stringify(run.error))}::jsonb,
    ${storable(run.output && JSON.stringify(run.output))}::jsonb,
    ${scope.call.requestId}
)
on conflict (id, domain_id) do update
set status = excluded.status, ended_at = excluded.ended_at, cpu_ms = excluded.cpu_ms,
  memory_bytes = excluded.memory_bytes,
  host_calls = excluded.host_calls, value = excluded.value, error = excluded.error,
  output = excluded.output`);
  }
}

/** A run as far as it has come. */
type KeptRun = Pick<ScriptRun, 'id' | 'script' | 'version' | 'cause' | 'startedAt' | 'status'> &
  Partial<ScriptRun>;

/** The scope of a script run for a caller: with its service roles, or as the caller. */
function scopeOfRun(scope: Scope, script: Pick<Script, 'name' | 'serviceRoles'>): Scope {
  if (script.serviceRoles === undefined) return scope;
  // With roles of its own, the run needs none of the caller's rights after its start.
  return { ...withCall(scope, { assertRights: undefined }), principal: principalOfRun(scope, script) };
}

export function principalOfRun(scope: Scope, script: Pick<Script, 'name' | 'serviceRoles'>): Principal {
  if (script.serviceRoles === undefined) return scope.principal;
  return servicePrincipal(scope.domain, script.name, script.serviceRoles);
}

function servicePrincipal(domain: Domain, name: string, roles: readonly string[]): Principal {
  return systemPrincipal(`script:${name}`, roles, domain.id);
}

function usable(result: RunResult, script: string, assertUsable: StartOptions['assertUsable']): RunResult {
  if (result.status !== 'succeeded') return result;
  try {
    assertUsable?.(result.value);
    return result;
  } catch (fault) {
    const { value: _, ...others } = result;
    return { ...others, status: 'failed', error: errorOf(script, fault) };
  }
}

/** Throws anything but a refusal again. */
function errorOf(script: string, fault: unknown): ScriptError {
  if (!(fault instanceof ServiceError)) throw fault;
  const { code, status, errors, message } = fault;
  return { name: 'Error', message, code, status, errors, script, stack: '' };
}

type RunRow = Omit<RowOf<ScriptRun>, 'value' | 'output'> & {
  readonly value: string | null;
  readonly output: readonly (Omit<OutputLine, 'at'> & { readonly at: string })[] | null;
};

const COLUMNS = sql`id::text as id, script, version, cause, principal, status, started_at as "startedAt",
  ended_at as "endedAt", cpu_ms as "cpuMs", memory_bytes as "memoryBytes", host_calls as "hostCalls",
  value::text as value, error, output, request_id as "requestId"`;

function toScriptRun({ value, output, ...row }: RunRow): ScriptRun {
  return {
    ...fromRow<Omit<ScriptRun, 'value' | 'output'>>(row),
    value: value === null ? undefined : parsePlainJson(value),
    output: (output ?? []).map((line) => ({ ...line, at: new Date(line.at) })),
  };
}

/** Output may contain characters that Postgres cannot store; it is only kept for reading. */
function storable(json: string | undefined): string | null {
  return json === undefined ? null : replaceUnstorableText(json);
}
