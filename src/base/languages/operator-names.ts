/** Names that other systems give to the operators of `where`, for hints. */
import { didYouMean } from '../text/did-you-mean.js';

/** The operators by name without `_`, `$` and case: `_eq`, `$eq` and `EQ` are `eq`. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['eq', 'equals'],
  ['equal', 'equals'],
  ['equalto', 'equals'],
  ['is', 'equals'],
  ['ne', 'notEquals'],
  ['neq', 'notEquals'],
  ['notequal', 'notEquals'],
  ['notequalto', 'notEquals'],
  ['isnot', 'notEquals'],
  ['gt', 'greaterThan'],
  ['after', 'greaterThan'],
  ['gte', 'greaterOrEqual'],
  ['ge', 'greaterOrEqual'],
  ['greaterthanorequal', 'greaterOrEqual'],
  ['greaterthanorequalto', 'greaterOrEqual'],
  ['lt', 'lessThan'],
  ['before', 'lessThan'],
  ['lte', 'lessOrEqual'],
  ['le', 'lessOrEqual'],
  ['lessthanorequal', 'lessOrEqual'],
  ['lessthanorequalto', 'lessOrEqual'],
  ['nin', 'notIn'],
  ['oneof', 'in'],
  ['anyof', 'in'],
  ['like', 'contains'],
  ['ilike', 'contains'],
  ['includes', 'contains'],
  ['icontains', 'contains'],
  ['beginswith', 'startsWith'],
  ['prefix', 'startsWith'],
  ['null', 'isNull'],
  ['some', 'any'],
  ['every', 'all'],
  ['value', 'id'],
]);

const COMPARISONS: ReadonlySet<string> = new Set(['equals', 'notEquals', 'in', 'notIn']);

/** ` Did you mean "equals"?` for a name from another system or a typo; empty if nothing is close. */
export function hintAtOperatorName(name: string, known: readonly string[]): string {
  const meant = OTHER_NAMES.get(name.replaceAll(/[_$]/g, '').toLowerCase());
  if (meant !== undefined && known.includes(meant)) return ` Did you mean "${meant}"?`;
  // A reference itself has no comparison operators; its id has.
  if (known.includes('id') && COMPARISONS.has(meant ?? name)) return ' Did you mean "id"?';
  return didYouMean(name, known);
}
