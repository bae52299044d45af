/**
 * Keyset paging: pages of a list in a fixed order between two positions, forwards from the start or backwards
 * from the end. Each page is read through the index of the order, so its cost does not depend on its depth.
 */
import { validate as isUuid } from 'uuid';
import { ServiceError } from '../../base/errors.js';
import { allHold, type Sql, sql } from '../sql.js';

export interface KeysetRequest<Place = string> {
  readonly limit: number;
  /** Returns the last `limit` instead of the first. */
  readonly fromEnd?: boolean | undefined;
  readonly after?: Place | undefined;
  readonly before?: Place | undefined;
}

export interface KeysetPage<Row> {
  /** In the order of the list, regardless of the reading direction. */
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** Use as `where … and ${condition} ${tail}`; `toKeysetPage` converts the result. */
export interface KeysetSql {
  readonly condition: Sql;
  /** `order by … limit …`, with one row more than the page, to know whether more follow. */
  readonly tail: Sql;
}

export function compileKeyset<Place>(
  request: KeysetRequest<Place>,
  order: {
    /** Expressions that together order the list; the last one is unique. */
    readonly keys: readonly Sql[];
    readonly direction: 'ascending' | 'descending';
    /** The values of the keys at a position. */
    readonly toValues: (place: Place) => readonly Sql[];
  },
): KeysetSql {
  const { after, before, fromEnd = false, limit } = request;
  const isUpward = order.direction === 'ascending';
  const keys = sql.join([...order.keys]);
  const beyond = (place: Place, than: '<' | '>') =>
    sql`(${keys}) ${sql.raw(than)} (${sql.join([...order.toValues(place)])})`;
  const direction = sql.raw(isUpward === fromEnd ? 'desc' : 'asc');
  const orderBy = order.keys.map((key) => sql`${key} ${direction}`);
  return {
    condition: allHold([
      sql.raw('true'),
      after !== undefined && beyond(after, isUpward ? '>' : '<'),
      before !== undefined && beyond(before, isUpward ? '<' : '>'),
    ]),
    tail: sql`order by ${sql.join(orderBy)} limit ${limit + 1}::int`,
  };
}

/** Converts the rows read by `compileKeyset` to a page. */
export function toKeysetPage<Row>(
  read: readonly Row[],
  { limit, fromEnd = false, after, before }: KeysetRequest<unknown>,
): KeysetPage<Row> {
  const rows = read.slice(0, limit);
  const hasMoreAhead = read.length > limit;
  if (!fromEnd) return { rows, hasNextPage: hasMoreAhead, hasPreviousPage: after !== undefined };
  return { rows: rows.reverse(), hasNextPage: before !== undefined, hasPreviousPage: hasMoreAhead };
}

/** For rows whose ids increase with time. */
export function newestFirst(request: KeysetRequest, key: Sql, type: 'uuid' | 'bigint'): KeysetSql {
  const toValues = (id: string) => [sql`${id}::${sql.raw(type)}`];
  return compileKeyset(request, { keys: [key], direction: 'descending', toValues });
}

/** Validates the positions of a request. The second argument of `check` is the name of the position. */
export function withPlaces<Sent, Place>(
  request: KeysetRequest<Sent>,
  check: (place: Sent, parameter: 'after' | 'before') => Place,
): KeysetRequest<Place> {
  const { after, before } = request;
  return {
    limit: request.limit,
    fromEnd: request.fromEnd,
    after: after === undefined ? undefined : check(after, 'after'),
    before: before === undefined ? undefined : check(before, 'before'),
  };
}

/** The check of a parameter that is the id, a UUID, of e.g. "a file". @throws INVALID_VALUE */
export function assertIdOf(thing: string, isId: (id: string) => boolean = isUuid) {
  return (id: string, parameter: string): string => {
    if (isId(id)) return id;
    const [sent, expected] = [id.slice(0, 50), `the id of ${thing}`];
    const errors = [{ parameter, detail: 'not an id', expected, sent }];
    throw new ServiceError('INVALID_VALUE', `"${sent}" is not ${expected}`, { errors });
  };
}

/** Does the same as `assertIdOf` for numbered rows. */
export function assertNumberOf(thing: string): (id: string, parameter: string) => string {
  return assertIdOf(thing, (id) => /^\d{1,18}$/.test(id));
}
