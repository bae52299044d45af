/** The log of scripts, kept to be read later: lines with a level, by script and run. */
import { ServiceError } from '../../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../base/json/json.js';
import { credentialName, type Scope } from '../../base/model/scope.js';
import { replaceUnstorableText } from '../../base/model/unstorable-text.js';
import { isAdmin } from '../../store/access/access.js';
import type { Database } from '../../store/database/database.js';
import { assertIdOf, assertNumberOf } from '../../store/database/keyset.js';
import type { Queryable } from '../../store/database/queryable.js';
import { allHold, type Sql, sql } from '../../store/sql.js';
import type { CallingRun } from './platform/host-binding.js';
import { OUTPUT_LEVELS, type OutputLevel } from './run-request.js';

export interface ScriptLogLine {
  readonly level: OutputLevel;
  readonly message: string;
  readonly data: JsonValue | undefined;
}

export interface ScriptLogEntry extends ScriptLogLine {
  /** Goes up with time; what `before` takes. */
  readonly id: string;
  readonly at: Date;
  readonly script: string;
  readonly runId: string;
  /** `_id` of the user, or the name of the task, as whom the script ran. */
  readonly principal: string;
}

export interface ScriptLogQuery {
  readonly script?: string | undefined;
  readonly runId?: string | undefined;
  /** This level and the more severe ones. */
  readonly level?: OutputLevel | undefined;
  /** Only entries older than the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const LONGEST_MESSAGE = 10_000;
const LONGEST_DATA = 100_000;

export class ScriptLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Keeps a line. It stays also when the transaction of the run is taken back: that is when it is read.
   * `isInTransaction`: the run is in a transaction, so the line is kept by another
   * connection.
   *
   * @throws LIMIT_EXCEEDED for a message or data that are too long
   */
  async write(
    scope: Scope,
    run: CallingRun,
    { isInTransaction, ...line }: ScriptLogLine & { readonly isInTransaction: boolean },
  ): Promise<void> {
    const data = line.data === undefined ? undefined : printExactJson(line.data);
    if (line.message.length > LONGEST_MESSAGE || (data?.length ?? 0) > LONGEST_DATA) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `A line of the log has at most ${LONGEST_MESSAGE} characters, its data ${LONGEST_DATA} of JSON.`,
      );
    }
    const queryable = isInTransaction ? this.#database.background : this.#database;
    await queryable.query(
      sql`
        insert into script_log (domain_id, script, run_id, level, message, data, principal, credential)
        values (
          ${scope.domain.id}, ${run.name}, ${run.id}::uuid, ${line.level},
          ${line.message.replaceAll('\0', '\u{fffd}').toWellFormed()},
          ${data === undefined ? null : replaceUnstorableText(data)}::jsonb, ${scope.principal.id},
          ${credentialName(scope.principal.credential)}
        )`,
      { name: 'script-log-write' },
    );
  }

  /**
   * The newest first: an admin's view of all of the domain, anybody's view of their own runs. @throws
   * INVALID_VALUE
   */
  async list(scope: Scope, query: ScriptLogQuery): Promise<readonly ScriptLogEntry[]> {
    const conditions = [
      runsInReach(scope),
      query.script !== undefined && sql`script = ${query.script}`,
      query.runId !== undefined && sql`run_id = ${assertIdOf('a run')(query.runId, 'runId')}::uuid`,
      query.level !== undefined &&
        sql`level = any(${OUTPUT_LEVELS.slice(OUTPUT_LEVELS.indexOf(query.level))}::text[])`,
      query.before !== undefined &&
        sql`id < ${assertNumberOf('a line of the log')(query.before, 'before')}::bigint`,
    ];
    const rows = await this.#database.query<ScriptLogRow>(sql`
      select id::text as id, at, script, run_id::text as "runId",
        level, message, data::text as data, principal
      from script_log
      where ${allHold(conditions)}
      order by script_log.id desc
      limit ${query.limit}`);
    return rows.map(({ data, ...row }) => ({
      ...row,
      data: data === null ? undefined : parsePlainJson(data),
    }));
  }

  /** Takes away what was logged before. How many lines went. */
  async purge(queryable: Queryable, before: Date): Promise<number> {
    const rows = await queryable.query(
      sql`delete from script_log where at < ${before.toISOString()}::timestamptz returning 1`,
    );
    return rows.length;
  }
}

type ScriptLogRow = Omit<ScriptLogEntry, 'data'> & { readonly data: string | null };

/**
 * A condition on rows with `domain_id`, `principal` and `credential`: all of the domain for an admin, else
 * what ran as the caller. Who has a part of its user's rights (an API key, a token of `platform.signToken`)
 * reaches what it started itself: what the user's other credentials were answered may be more than it may
 * read.
 */
export function runsInReach({ domain, principal }: Scope): Sql {
  const inDomain = sql`domain_id = ${domain.id}`;
  if (isAdmin(principal)) return inDomain;
  const own = sql`${inDomain} and principal = ${principal.id}`;
  if (principal.scopes === undefined) return own;
  return sql`${own} and credential = ${credentialName(principal.credential)}`;
}
