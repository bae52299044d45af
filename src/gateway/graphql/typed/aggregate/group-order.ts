/** Converts `orderBy` to an order of the store. */
import { ServiceError } from '../../../../base/errors.js';
import type { GroupOrder } from '../../../../base/model/aggregate-query.js';
import type { SortDirection } from '../../../resolvers/records/generic-record.js';
import type { AggregateFields } from './aggregate-fields.js';
import type { FieldMeasure } from './measure-types.js';

export interface GroupOrderByValue {
  /** The name of an enum value. */
  readonly field?: string | null;
  readonly measure?: FieldMeasure | null;
  readonly direction: SortDirection;
}

/** @throws INVALID_VALUE (400) for a key of an order that names neither a measure nor a key of the groups */
export function toGroupOrder(
  { field, measure, direction }: GroupOrderByValue,
  fields: AggregateFields,
): GroupOrder {
  if (!field) {
    if (measure === 'count') return { by: { measure: { kind: 'records' } }, direction };
    throw wrong('One key of orderBy has no field, which only the measure COUNT does without.', null);
  }
  if (!measure) {
    const key = fields.keys.find(({ enumName }) => enumName === field);
    if (key) return { by: { key: key.key }, direction };
  }
  const own = fields.own.find(({ enumName }) => enumName === field);
  if (own && measure) return { by: { measure: { kind: measure, path: own.path } }, direction };
  throw wrong(`Nothing is computed of ${field}: it is no field of the record itself.`, field);
}

function wrong(detail: string, sent: string | null): ServiceError {
  return new ServiceError('INVALID_VALUE', detail, {
    errors: [{ parameter: 'orderBy', detail, expected: 'a field, a measure of a field, or COUNT', sent }],
  });
}
