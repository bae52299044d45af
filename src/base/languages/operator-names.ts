/** Names that other systems give to the operators of `where`, for hints. */
import { didYouMean } from '../text/did-you-mean.js';

/** The other names of each operator, without `_`, `$` and case: `_eq`, `$eq` and `EQ` are `eq`. */
const OTHER_NAMES = {
  equals: 'eq equal equalto is',
  notEquals: 'ne neq notequal notequalto isnot',
  greaterThan: 'gt after',
  greaterOrEqual: 'gte ge greaterthanorequal greaterthanorequalto',
  lessThan: 'lt before',
  lessOrEqual: 'lte le lessthanorequal lessthanorequalto',
  notIn: 'nin',
  in: 'oneof anyof',
  contains: 'like ilike includes icontains',
  startsWith: 'beginswith prefix',
  isNull: 'null',
  any: 'some',
  all: 'every',
  id: 'value',
};

const OPERATORS_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_NAMES).flatMap(([operator, names]) =>
    names.split(' ').map((name): [string, string] => [name, operator]),
  ),
);

const COMPARISONS: ReadonlySet<string> = new Set(['equals', 'notEquals', 'in', 'notIn']);

/** ` Did you mean "equals"?` for a name from another system or a typo; empty if nothing is close. */
export function hintAtOperatorName(name: string, known: readonly string[]): string {
  const meant = OPERATORS_BY_NAME.get(name.replaceAll(/[_$]/g, '').toLowerCase());
  if (meant !== undefined && known.includes(meant)) return ` Did you mean "${meant}"?`;
  // A reference itself has no comparison operators; its id has.
  if (known.includes('id') && COMPARISONS.has(meant ?? name)) return ' Did you mean "id"?';
  return didYouMean(name, known);
}
