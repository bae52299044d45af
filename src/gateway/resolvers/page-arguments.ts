/** The paging arguments of Relay, and their translation for a `RecordSet`. */
import { faultAt, invalidAt, type ServiceError } from '../../base/errors.js';
import { toPath } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { argumentsType, nullable, type ValueOf } from '../../base/scalars/declared-type.js';
import type { OrderByInput } from './records/generic-record.js';

/** The default and the maximum size of a page. @see decisions 9 */
export interface PageSizes {
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

/** The arguments of every page, to be spread into those of a list. */
export const PAGE_ARGUMENTS = {
  first: nullable.whole(
    'The most records to return, from the start of the order or after the cursor `after`.',
  ),
  after: nullable.text('A cursor (`pageInfo.endCursor`, `edges.cursor`). Returns only records after it.'),
  last: nullable.whole(
    'Instead of `first`: returns this many of the last records, at the end of the order or before the ' +
      'cursor `before`.',
  ),
  before: nullable.text('A cursor. Returns only records before it.'),
};

export const PageArguments = argumentsType(PAGE_ARGUMENTS);
export type PageArguments = ValueOf<typeof PageArguments>;

export interface PageRequest {
  readonly limit: number;
  readonly fromEnd: boolean;
  readonly after: string | undefined;
  readonly before: string | undefined;
}

/** @throws INVALID_VALUE, LIMIT_EXCEEDED (400) */
export function toPageRequest(page: PageArguments, sizes: PageSizes): PageRequest {
  const { first, last } = page;
  if (isGiven(first) && isGiven(last)) {
    throw wrong('last', 'Give first or last, not both.');
  }
  const fromEnd = isGiven(last);
  const limit = last ?? first ?? sizes.defaultPageSize;
  const parameter = fromEnd ? 'last' : 'first';
  if (limit < 0) throw wrong(parameter, `${parameter} is a number of records, from 0 on, not ${limit}.`);
  if (limit > sizes.maxPageSize) {
    throw faultAt(
      'LIMIT_EXCEEDED',
      `${parameter} is at most ${sizes.maxPageSize}, not ${limit}. Read on with ` +
        `${fromEnd ? 'before' : 'after'}.`,
      { parameter, detail: 'the page is too large', expected: `<= ${sizes.maxPageSize}`, sent: limit },
    );
  }
  return { limit, fromEnd, after: page.after ?? undefined, before: page.before ?? undefined };
}

/** Limits a list of ids in the same way as a page. @throws LIMIT_EXCEEDED (400) */
export function assertPageSize(parameter: string, count: number, { maxPageSize }: PageSizes): void {
  if (count <= maxPageSize) return;
  const detail = `${parameter} has at most ${maxPageSize} elements, not ${count}. Split the list.`;
  throw faultAt('LIMIT_EXCEEDED', detail, {
    parameter,
    detail: 'the list is too long',
    expected: `<= ${maxPageSize}`,
    sent: count,
  });
}

function isGiven(size: number | null | undefined): size is number {
  return size !== undefined && size !== null;
}

function wrong(parameter: string, detail: string): ServiceError {
  return invalidAt(detail, { parameter });
}

/**
 * The argument `orderBy` as an order of the store; `undefined` if it was not sent. For a typed collection the
 * fields are enum values, whose internal values are stored paths too.
 */
export function toSort(orderBy: readonly OrderByInput[] | null | undefined): readonly SortKey[] | undefined {
  return orderBy?.map(({ field, direction }) => ({ path: toPath(field), direction }));
}

export const CI_ARGUMENT = nullable.flag('The text operators of `oquery` ignore case.');

export const OQUERY_BESIDE_WHERE = nullable.text(
  'Conditions as in the REST interface; combined with `where` by and.',
);

export const FORCE_ARGUMENT = nullable.flag(
  'Removes records although others point to them; the references stay and lead to nothing. Admins only.',
);

export const RENAME_ARGUMENT = nullable.flag(
  'For admins: where other records use a name that is changed, such as that of a class or fee head, they ' +
    'get the new one, in one transaction. Without it, the change is then refused (CONFLICT), and the ' +
    'records ' +
    'are counted by collection.',
);
