/** The groups of a record set, read by one statement under the rights of the set. */
import { ServiceError } from '../../base/errors.js';
import { type JsonValue, parseExactJson } from '../../base/json/json.js';
import type { AggregateQuery, Group } from '../../base/model/aggregate-query.js';
import type { Scope } from '../../base/model/scope.js';
import { assertReadable, type EffectiveAccess, type FindReadable, type Readable } from '../access/access.js';
import type { Database } from '../database/database.js';
import { compileAggregate, listAggregatePaths, listGroupKeys } from '../sql/compile-aggregate.js';
import type { CompileContext } from '../sql/compile-filter.js';
import { statementName } from '../sql/statement-name.js';
import type { Sql } from '../sql.js';

/**
 * @throws FORBIDDEN naming a hidden field that a key, measure, condition or order uses, of the record or of a
 *   reference's target, or naming the target's collection; INVALID_VALUE as `compileAggregate` does
 */
export async function readGroups(
  query: AggregateQuery,
  set: {
    readonly database: Pick<Database, 'query'>;
    readonly scope: Scope;
    readonly access: EffectiveAccess;
    readonly context: CompileContext;
    /** Over the alias `r`. */
    readonly where: Sql;
    readonly findReadable: FindReadable;
    /** @see QueryOptions.rows */
    readonly rows: number;
  },
): Promise<readonly Group[]> {
  const { database, scope, access, context, where, findReadable, rows: rowsScanned } = set;
  assertReadable(listAggregatePaths(query), access, context.collection);
  const readable = (name: string): Readable => {
    const found = findReadable(name);
    if (found !== undefined) return found;
    throw new ServiceError('FORBIDDEN', `you may not read records of ${name}, so you may not group by them`);
  };
  for (const { of } of listGroupKeys(query)) {
    if (of === undefined) continue;
    const target = readable(of.collection);
    assertReadable([of.path], target.access, target.collection);
  }
  const sql = compileAggregate(query, { context, where, readable });
  const rows = await database.query<{ json: string }>(sql, {
    name: statementName(sql.text),
    signal: scope.call.signal,
    call: scope.call,
    rows: rowsScanned,
  });
  return rows.map(({ json }) => {
    const values = parseExactJson(json) as readonly JsonValue[];
    const keyCount = query.groupBy.length;
    return { keys: values.slice(0, keyCount), measures: values.slice(keyCount) };
  });
}
