/** Converts a filter between the rows of a form and an oquery, so that either can be edited. */
import { type OqueryOperator, readConditions } from '../../../base/languages/oquery-conditions.js';

/** An operator of oquery as it is written, or one that the `where` expresses. @see split-where.ts */
export type FilterOperator = OqueryOperator | 'notEquals' | 'isNull' | 'isFilled';

export interface FilterCondition {
  /** A field, or the path to a member of it (`student.value`). */
  readonly field: string;
  readonly operator: FilterOperator;
  /** Empty for operators without a value. */
  readonly value: string;
}

type RowOfOquery = FilterCondition & { readonly operator: OqueryOperator };

/** Parses `class=5,total=>100` into conditions; `undefined` for a malformed oquery. */
export function parseConditions(oquery: string): readonly RowOfOquery[] | undefined {
  try {
    return readConditions(oquery).map(({ path, operator, value }) => {
      return { field: path.join('.'), operator, value };
    });
  } catch {
    return undefined;
  }
}

/** Prints conditions as an oquery. Incomplete rows are left out, and those that no oquery can express. */
export function printConditions(conditions: readonly FilterCondition[]): string {
  return conditions
    .filter((condition) => !isOfWhere(condition) && isFilledIn(condition))
    .map(({ field, operator, value }) => field + operator + printValue(operator, value))
    .join(',');
}

export function isFilledIn({ field, operator, value }: FilterCondition): boolean {
  return field !== '' && (value !== '' || !needsValue(operator));
}

export function isOfWhere({ operator }: FilterCondition): boolean {
  return !operator.startsWith('=');
}

export function needsValue(operator: FilterOperator): boolean {
  return !['=today', '=yesterday', '=daybeforeyesterday', 'isNull', 'isFilled'].includes(operator);
}

/** Escapes a value, so that every character stands for itself. */
export function escapeValue(value: string): string {
  return value.replaceAll(/[\\,]/g, String.raw`\$&`).replace(/^[=*!><#]/, String.raw`\$&`);
}

function printValue(operator: FilterOperator, value: string): string {
  // `name=today` would mean the present day, not the word.
  const isWord = operator === '=' && /^(?:today|yesterday|daybeforeyesterday|on\d)/.test(value);
  return isWord ? `\\${value}` : escapeValue(value);
}

/** Prints conditions as a GraphQL `where`, to be copied into a query; '' if it cannot say one of them. */
export function printWhere(
  conditions: readonly FilterCondition[],
  isNumber: (field: string) => boolean,
): string {
  const complete = parseConditions(printConditions(conditions)) ?? [];
  if (complete.some(({ operator }) => OPERATORS_OF_WHERE[operator] === '')) return '';
  const members = complete.map(({ field, operator, value }) => {
    const operand = isNumber(field) ? printNumberOperand(value) : JSON.stringify(value);
    // The `value` of a reference in REST is its `id` in GraphQL.
    const steps = [
      ...field.replace(/\.value$/, '.id').split('.'),
      OPERATORS_OF_WHERE[operator].replace('!', ''),
    ];
    const inner = steps.reduceRight(
      (below, step) => `{${JSON.stringify(step)}:${below}}`,
      needsValue(operator) ? operand : 'true',
    );
    return OPERATORS_OF_WHERE[operator].startsWith('!') ? `{"not":${inner}}` : inner;
  });
  return members.length > 1 ? `{"and":[${members.join(',')}]}` : (members[0] ?? '');
}

/** Prints a number with the typed digits, which a float would round; any other text stays a text. */
function printNumberOperand(value: string): string {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return value;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return JSON.stringify(Number.isFinite(number) ? number : value);
}

const OPERATORS_OF_WHERE: Readonly<Record<OqueryOperator, string>> = {
  '=': 'equals',
  '===': 'equals',
  '==': 'startsWith',
  '=!=': '!startsWith',
  '=*': 'contains',
  '=!*': '!contains',
  '=>': 'greaterThan',
  '=<': 'lessThan',
  '=on': 'on',
  '=#in': 'inMonth',
  '=today': 'today',
  '=yesterday': 'yesterday',
  // A `where` has no such word.
  '=daybeforeyesterday': '',
};
