/** Converts a filter between the rows of a form and an oquery, so that either can be edited. */
import { type OqueryOperator, readConditions } from '../../../base/languages/oquery-conditions.js';
import { isObject, readJsonObject } from '../shell/read-json.js';

/** An operator of oquery as it is written, or one that the `where` expresses. */
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

function isFilledIn({ field, operator, value }: FilterCondition): boolean {
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

/** Prints conditions as a GraphQL `where`, to be copied into a query; '' if it cannot express one of them. */
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
  // A `where` does not have this word.
  '=daybeforeyesterday': '',
};

/** An empty text and a list without elements count as empty too. */
export type EmptinessKind = 'text' | 'list' | 'value';

/** A field that a row can test. */
export interface EmptinessChoice {
  readonly path: string;
  /** How a `where` tests whether the field is empty; absent if it cannot. */
  readonly emptiness?: { readonly path: string; readonly kind: EmptinessKind };
}

type Where = Readonly<Record<string, unknown>>;

export interface SplitWhere {
  readonly conditions: readonly FilterCondition[];
  /** The part that no row can express, as JSON; '' for none. */
  readonly rest: string;
}

/** Splits a `where` into rows and the rest; a text that is not a JSON object is returned as the rest. */
export function splitWhere(text: string, choices: readonly EmptinessChoice[]): SplitWhere {
  const read = readJsonObject(text);
  if (!read) return { conditions: [], rest: text };
  const { and, ...others } = read;
  const isList = Array.isArray(and) && Object.keys(others).length === 0;
  const members: readonly unknown[] = isList ? and : [read];
  const found = members.map((member) => ({ member, condition: readCondition(member, choices) }));
  const rest = found.filter(({ condition }) => condition === undefined).map(({ member }) => member);
  // Without rows, the text is returned unchanged.
  if (rest.length === members.length) return { conditions: [], rest: text };
  return {
    conditions: found.flatMap(({ condition }) => (condition === undefined ? [] : [condition])),
    rest: rest.length === 0 ? '' : JSON.stringify(rest.length === 1 ? rest[0] : { and: rest }),
  };
}

/** Joins rows and the rest into a `where`, as JSON; '' for none. */
export function joinWhere({ conditions, rest }: SplitWhere, choices: readonly EmptinessChoice[]): string {
  const members = conditions
    .filter((condition) => isOfWhere(condition) && isFilledIn(condition))
    .map((condition) => printCondition(condition, choices));
  const texts = [...members, ...(rest === '' ? [] : [rest])];
  return texts.length > 1 ? `{"and":[${texts.join(',')}]}` : (texts[0] ?? '');
}

function printCondition(
  { field, operator, value }: FilterCondition,
  choices: readonly EmptinessChoice[],
): string {
  // The `value` of a reference in REST is its `id` in GraphQL.
  if (operator === 'notEquals')
    return JSON.stringify(within(field.replace(/\.value$/, '.id'), { notEquals: value }));
  const { emptiness } = choices.find(({ path }) => path === field) ?? {};
  const { path = field, kind = 'value' } = emptiness ?? {};
  return JSON.stringify(whereOf(path, kind, operator === 'isNull'));
}

/** An empty text may be stored, and looks like a missing one. */
function whereOf(path: string, kind: EmptinessKind, isEmpty: boolean): Where {
  if (kind === 'list') return within(path, { isEmpty });
  if (kind === 'value') return within(path, { isNull: isEmpty });
  if (!isEmpty) return within(path, { isNull: false, notEquals: '' });
  return { or: [within(path, { isNull: true }), within(path, { equals: '' })] };
}

function within(path: string, operators: Where): Where {
  return path.split('.').reduceRight<Where>((below, step) => ({ [step]: below }), operators);
}

function readCondition(member: unknown, choices: readonly EmptinessChoice[]): FilterCondition | undefined {
  const text = JSON.stringify(member);
  const path = pathOf(member);
  if (path === undefined) return undefined;
  const { notEquals } = operatorsAt(member, path);
  if (typeof notEquals === 'string' && text === JSON.stringify(within(path, { notEquals }))) {
    const reference = path.replace(/\.id$/, '.value');
    const isReference = choices.some((choice) => choice.path === reference);
    return { field: isReference ? reference : path, operator: 'notEquals', value: notEquals };
  }
  for (const kind of ['text', 'list', 'value'] as const) {
    for (const isEmpty of [true, false]) {
      if (JSON.stringify(whereOf(path, kind, isEmpty)) !== text) continue;
      const field = choices.find(({ emptiness }) => emptiness?.path === path)?.path ?? path;
      return { field, operator: isEmpty ? 'isNull' : 'isFilled', value: '' };
    }
  }
  return undefined;
}

function operatorsAt(member: unknown, path: string): Where {
  const found = path.split('.').reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), member);
  return isObject(found) ? found : {};
}

/** Returns the path of the first condition, down to its operators. */
function pathOf(member: unknown): string | undefined {
  const [first] = isObject(member) && Array.isArray(member.or) ? member.or : [member];
  const steps: string[] = [];
  for (let at: unknown = first; isObject(at); ) {
    const [entry] = Object.entries(at);
    if (!entry) return undefined;
    const [name, below] = entry;
    if (!isObject(below)) break;
    steps.push(name);
    at = below;
  }
  return steps.length === 0 ? undefined : steps.join('.');
}
