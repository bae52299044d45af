/**
 * Joins new records that several requests send at the same time into one statement: PostgreSQL then pays most
 * of the cost of a statement and a commit once for all. A single request does not wait; while a statement
 * runs, later requests gather for the next one.
 *
 * No request fails or waits because of another: if the shared statement cannot serve a record, the record is
 * created by a statement of its own.
 */

import { printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { Batcher } from '../../base/process/batcher.js';
import { isTraced } from '../../base/process/traced.js';
import { type EffectiveAccess, findAccess } from '../access/access.js';
import { wasRefused } from '../database/database-errors.js';
import { printStored } from '../reading/stored-record.js';
import { type Sql, sql } from '../sql.js';
import {
  areThere,
  keyOfLookedUp,
  type LookedUpTarget,
  labelledData,
  listLookedUpTargets,
  selectFound,
} from './looked-up-targets.js';
import type { RecordEnvironment } from './record-environment.js';
import {
  type Author,
  auditedCredential,
  insertInput,
  isFollowed,
  type NewRecord,
  type WriteContext,
} from './record-statements.js';
import { linksHold } from './select-unlinked.js';
import type { StoredChange } from './validation.js';

/** A create whose rights and record have been checked. */
interface LoneCreate {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly access: EffectiveAccess;
  readonly now: Date;
  readonly record: NewRecord;
  readonly change: StoredChange;
}

const MOST_RECORDS = 64;
const MOST_BYTES = 256 * 1024;
/** All requests of a statement share its lock waits; those that would wait longer are retried alone. */
const LOCK_TIMEOUT_MS = '100';

interface Waiting {
  readonly create: LoneCreate;
  /** The record and its author as the statement reads them. */
  readonly text: string;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The requests that one statement can serve, with what it needs to know of them all. */
interface Line {
  readonly context: WriteContext;
  readonly sought: readonly LookedUpTarget[];
  /** Whether the texts of a record that another one has are right. */
  readonly linked: Sql;
  readonly creates: Batcher<Waiting>;
}

export class BatchedCreates {
  readonly #environment: RecordEnvironment;
  readonly #lines = new WeakMap<Collection, Map<string, Line>>();

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * Creates the record together with others, and returns what the caller sees of it, as JSON text.
   * `undefined`: nothing was stored, and the record needs a statement of its own.
   *
   * @throws UNAVAILABLE
   */
  async store(create: LoneCreate): Promise<string | undefined> {
    const line = this.#lineOf(create);
    if (line === undefined) return undefined;
    return await new Promise((resolve, reject) => {
      line.creates.add({ create, text: printInput(create), resolve, reject });
    });
  }

  #lineOf(create: LoneCreate): Line | undefined {
    const { scope, collection, access, record, change } = create;
    // A listener must hear only the request's own statements, and a script's statement must end with the
    // script.
    if (scope.onStatement !== undefined || scope.scriptDepth !== undefined || isTraced()) return undefined;
    // The follow-ups of a write name its own author.
    const { triggers } = this.#environment;
    if (access.rows !== undefined || isFollowed({ scope, collection, triggers }, 'create')) return undefined;
    const findCollection = (name: string) => this.#environment.catalog.find(name);
    const sought = listLookedUpTargets({ ...change, id: record.id }, { scope, collection, findCollection });
    if (sought === undefined) return undefined;
    const lines = this.#lines.get(collection) ?? new Map<string, Line>();
    this.#lines.set(collection, lines);
    const hidden = findAccess(scope, collection, 'read')?.hiddenFields;
    const shown = hidden === undefined ? 'nothing' : [...hidden].join();
    const key = `${scope.domain.id} ${shown} ${keyOfLookedUp(sought)}`;
    const known = lines.get(key);
    if (known !== undefined) return known;
    const linked = linksHold(collection, this.#environment.linkContext(scope, true));
    if (linked === undefined) return undefined;
    const line: Line = {
      context: this.#environment.writeContext(scope, collection, create.now),
      sought,
      linked,
      creates: new Batcher<Waiting>({
        takeNext: takeFirst,
        work: (served) => this.#serve(line, served),
        concurrency: 2,
        onIdle: () => lines.delete(key),
      }),
    };
    lines.set(key, line);
    return line;
  }

  async #serve(line: Line, served: readonly Waiting[]): Promise<void> {
    try {
      const shownById = await this.#insert(line, served);
      for (const { create, resolve } of served) resolve(shownById.get(create.record.id));
    } catch (error) {
      // One of the records may have caused it; each is retried alone, and the culprit's own statement reports
      // it.
      const isToBeTriedAlone = wasRefused(error);
      for (const { resolve, reject } of served) {
        if (isToBeTriedAlone) resolve(undefined);
        else reject(error);
      }
    }
  }

  /** The visible part of the stored records, by id. */
  async #insert(
    { context, sought, linked }: Line,
    served: readonly Waiting[],
  ): Promise<ReadonlyMap<string, string>> {
    const { scope, collection } = context;
    const records = `[${served.map(({ text }) => text).join()}]`;
    // A slow statement is logged under the first request.
    const [first] = served;
    const { requestId, operation } = first?.create.scope ?? scope;
    const startedAt = performance.now();
    const rows = await this.#environment.write<{ id: string; json: string }>(context, {
      operation: 'create',
      columns: 'id text, json text',
      caller: { requestId, operation },
      statement: (changed) => insertJoined(changed, { sought, linked, records }),
    });
    const durationMs = performance.now() - startedAt;
    for (const { create } of served) create.scope.onDuration?.(durationMs);
    this.#environment.announceCommit(scope, collection, rows);
    const print = (id: string, json: string) => (context.fields === undefined ? json : printStored(id, json));
    return new Map(rows.map(({ id, json }) => [id, print(id, json)]));
  }
}

function takeFirst(waiting: Waiting[]): readonly Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { text } of waiting) {
    bytes += text.length;
    if (count > 0 && (count === MOST_RECORDS || bytes > MOST_BYTES)) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** The record and its author, for `insertJoined`. */
function printInput({ scope, now, record }: LoneCreate): string {
  const { id, data, keys } = record;
  const author = JSON.stringify({
    id,
    at: now.toISOString(),
    principal: scope.principal.id,
    credential: auditedCredential(scope),
    request_id: scope.requestId,
    operation: scope.operation ?? null,
  });
  const keysText = keys === undefined ? 'null' : printExactJson(keys);
  return `${author.slice(0, -1)},"data":${printExactJson(data)},"keys":${keysText}}`;
}

/** Each record has its own author. */
const AUTHOR: Author = {
  at: sql`i.at`,
  principal: sql`i.principal`,
  credential: sql`i.credential`,
  requestId: sql`i.request_id`,
  operation: sql`i.operation`,
  input: sql`join input i on i.id = w.id`,
};

/**
 * Inserts the records whose targets exist, and returns a row for each. The text does not depend on the number
 * of records.
 */
function insertJoined(
  context: WriteContext,
  { sought, linked, records }: Pick<Line, 'sought' | 'linked'> & { readonly records: string },
): Sql {
  const { scope, fields, projection } = context;
  const input = sql`
  select
    s.id, ${labelledData(sought)} as data, s.keys, s.position, s.at, s.principal,
    s.credential, s.request_id, s.operation
  from (
    select i.*${selectFound(scope, sought)}
    from (select set_config('lock_timeout', ${LOCK_TIMEOUT_MS}, true) as timeout) as waiting,
      rows from (
        jsonb_to_recordset(${records}::jsonb)
        as (
          id text, data jsonb, keys jsonb, at timestamptz, principal text, credential text,
          request_id text, operation text
        )
      ) with ordinality as i (
        id, data, keys, at, principal, credential, request_id, operation, position
      )
    where waiting.timeout is not null
    offset 0
  ) as s
  where ${areThere(sought)} and ${linked}`;
  const shown = fields === undefined ? projection : sql`${fields}::text`;
  return sql`
${insertInput(context, { input, refusal: sql.empty, count: MOST_RECORDS, author: AUTHOR })}
select r.id, ${shown} as json from written r`;
}
