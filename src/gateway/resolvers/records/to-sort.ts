import { toPath } from '../../../base/model/path.js';
import type { SortKey } from '../../../base/model/record-query.js';
import type { OrderByInput } from './generic-record.js';

/**
 * The argument `orderBy` as an order of the store; `undefined` if it was not sent. For a typed collection the
 * fields are enum values, whose internal values are stored paths too.
 */
export function toSort(orderBy: readonly OrderByInput[] | null | undefined): readonly SortKey[] | undefined {
  return orderBy?.map(({ field, direction }) => ({ path: toPath(field), direction }));
}
