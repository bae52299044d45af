/** Converts a filter between the rows of a form and an oquery, so that either can be edited. */

export type OqueryOperator =
  | 'equals'
  | 'differs'
  | 'startsWith'
  | 'contains'
  | 'lacks'
  | 'is'
  | 'greater'
  | 'less'
  | 'on'
  | 'inMonth'
  | 'today'
  | 'yesterday';

/** The last two are expressed by the `where` of a filter. @see split-where.ts */
export type FilterOperator = OqueryOperator | 'empty' | 'filled';

export interface FilterCondition {
  /** A field, or the path to a member of it (`student.value`). */
  readonly field: string;
  readonly operator: FilterOperator;
  /** Empty for operators without a value. */
  readonly value: string;
}

/** The operators as written; of those with the same beginning, the longest first. */
const SIGNS: readonly (readonly [sign: string, operator: OqueryOperator])[] = [
  ['===', 'is'],
  ['=!=', 'differs'],
  ['=!*', 'lacks'],
  ['=#in', 'inMonth'],
  ['==', 'startsWith'],
  ['=*', 'contains'],
  ['=>', 'greater'],
  ['=<', 'less'],
];

/** Parses `class=5,total=>100` into conditions; `undefined` for a malformed oquery. */
export function parseConditions(oquery: string): readonly OqueryCondition[] | undefined {
  const parts = splitAtCommas(oquery).filter((part, _index, all) => part !== '' || all.length > 1);
  const conditions = parts.map(parseOne);
  return conditions.includes(undefined) ? undefined : (conditions as readonly OqueryCondition[]);
}

/** Prints conditions as an oquery. Incomplete rows are left out, and those that no oquery can express. */
export function printConditions(conditions: readonly FilterCondition[]): string {
  return conditions
    .filter(inOquery)
    .filter(({ field, operator, value }) => field !== '' && (value !== '' || !needsValue(operator)))
    .map(({ field, operator, value }) => field + signOf(operator) + printValue(operator, value))
    .join(',');
}

export function needsValue(operator: FilterOperator): boolean {
  return !['today', 'yesterday', 'empty', 'filled'].includes(operator);
}

type OqueryCondition = FilterCondition & { readonly operator: OqueryOperator };

function inOquery(condition: FilterCondition): condition is OqueryCondition {
  return condition.operator !== 'empty' && condition.operator !== 'filled';
}

/** Escapes a value, so that every character stands for itself. */
export function escapeValue(value: string): string {
  return value.replaceAll(/[\\,]/g, String.raw`\$&`).replace(/^[=*!><#]/, String.raw`\$&`);
}

/** Splits a text at each comma that is not escaped. */
function splitAtCommas(text: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(/\\[\s\S]|,|[^\\,]+|\\/g)) {
    if (piece === ',') parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

function parseOne(text: string): OqueryCondition | undefined {
  const at = text.indexOf('=');
  const field = text.slice(0, at);
  if (at < 1 || !/^[\w$-]+(?:\.[\w$-]+)*$/.test(field)) return undefined;
  const rest = text.slice(at);
  if (rest === '=today' || rest === '=yesterday') {
    return { field, operator: rest === '=today' ? 'today' : 'yesterday', value: '' };
  }
  const day = /^=on(\d{4}-\d{2}-\d{2})$/.exec(rest)?.[1];
  if (day !== undefined) return { field, operator: 'on', value: day };
  const [sign, operator] = SIGNS.find(([one]) => rest.startsWith(one)) ?? (['=', 'equals'] as const);
  return { field, operator, value: rest.slice(sign.length).replaceAll(/\\([\s\S])/g, '$1') };
}

function signOf(operator: OqueryOperator): string {
  const sign = SIGNS.find(([, one]) => one === operator)?.[0];
  if (sign !== undefined) return sign;
  return operator === 'equals' ? '=' : `=${operator}`;
}

function printValue(operator: OqueryOperator, value: string): string {
  if (!needsValue(operator)) return '';
  // `name=today` would mean the present day, not the word.
  const isWord = operator === 'equals' && /^(?:today|yesterday|daybeforeyesterday|on\d)/.test(value);
  return isWord ? `\\${value}` : escapeValue(value);
}

/** Prints conditions as a GraphQL `where`, to be copied into a query. */
export function printWhere(
  conditions: readonly FilterCondition[],
  isNumber: (field: string) => boolean,
): string {
  const complete = parseConditions(printConditions(conditions)) ?? [];
  const members = complete.map(({ field, operator, value }) => {
    const operand = isNumber(field) ? printNumberOperand(value) : JSON.stringify(value);
    // The `value` of a reference in REST is its `id` in GraphQL.
    const steps = [...field.replace(/\.value$/, '.id').split('.'), OPERATORS_OF_WHERE[operator]];
    const inner = steps.reduceRight(
      (below, step) => `{${JSON.stringify(step)}:${below}}`,
      needsValue(operator) ? operand : 'true',
    );
    return operator === 'lacks' ? `{"not":${inner}}` : inner;
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
  equals: 'equals',
  is: 'equals',
  differs: 'notEquals',
  startsWith: 'startsWith',
  contains: 'contains',
  lacks: 'contains',
  greater: 'greaterThan',
  less: 'lessThan',
  on: 'on',
  inMonth: 'inMonth',
  today: 'today',
  yesterday: 'yesterday',
};
