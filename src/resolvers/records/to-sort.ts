import { toPath } from '../../model/path.js';
import type { SortKey } from '../../model/record-query.js';
import type { OrderByInput } from './generic-record.js';

/**
 * The argument `orderBy` as the order of the store; `undefined` where it was not sent. The fields of a typed
 * collection are values of an enum, whose inner values are stored paths too.
 */
export function toSort(orderBy: readonly OrderByInput[] | null | undefined): readonly SortKey[] | undefined {
  return orderBy?.map(({ field, direction }) => ({ path: toPath(field), direction }));
}
