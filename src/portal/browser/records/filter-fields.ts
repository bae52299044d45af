/** Lists the fields that a collection can be filtered by, with the operators that fit each. */
import { type Formats, phrase, type Texts, useFormats, useTexts } from '../language/use-texts';
import {
  type EmptinessChoice,
  type EmptinessKind,
  type FilterCondition,
  type FilterOperator,
  needsValue,
  parseConditions,
  splitWhere,
} from './filter-conditions';
import { type DeclaredField, useAllowedWords, useFieldNames } from './use-declared-collection';

const TEXT: readonly FilterOperator[] = ['=', 'notEquals', '=*', '=!*', '==', '=!='];

const OPERATORS_BY_TYPE: Readonly<Record<string, readonly FilterOperator[]>> = {
  number: ['===', '=>', '=<'],
  datetime: ['=on', '=#in', '=today', '=yesterday', '=>', '=<'],
  boolean: ['='],
};

const EMPTINESS: readonly FilterOperator[] = ['isNull', 'isFilled'];

const OPERATOR_NAMES: Readonly<Record<FilterOperator, string>> = {
  '=': phrase('is'),
  '===': phrase('equals'),
  notEquals: phrase('is not'),
  '==': phrase('starts with'),
  '=!=': phrase('does not start with'),
  '=*': phrase('contains'),
  '=!*': phrase('does not contain'),
  '=>': phrase('is greater than'),
  '=<': phrase('is less than'),
  '=on': phrase('is on the day'),
  '=#in': phrase('is in the month'),
  '=today': phrase('is today'),
  '=yesterday': phrase('was yesterday'),
  '=daybeforeyesterday': phrase('was the day before yesterday'),
  isNull: phrase('is empty'),
  isFilled: phrase('is not empty'),
};

/** A field, or a member of one, that conditions can test. */
export interface FilterField extends EmptinessChoice {
  readonly label: string;
  readonly type: string;
  readonly allowed: readonly string[] | null;
}

/**
 * Returns the filter fields of a field. A reference can be filtered by the label of its target, or by its id.
 */
export function filterFieldsOf(field: DeclaredField, nameOf: (name: string) => string): FilterField[] {
  const label = nameOf(field.name);
  if (field.type === 'object') {
    return (field.fields ?? []).map((member) => {
      const path = `${field.name}.${member.name}`;
      return {
        path,
        label: `${label}: ${nameOf(member.name)}`,
        type: member.type,
        allowed: member.allowed,
        // Left out for lists, because some elements may have a value and others not.
        ...(!field.isList && { emptiness: { path, kind: kindOf(member) } }),
      };
    });
  }
  const emptiness = { path: field.name, kind: kindOf(field) };
  if (field.type !== 'reference')
    return [{ path: field.name, label, type: field.type, allowed: field.allowed, emptiness }];
  return [
    { path: `${field.name}.label`, label, type: 'text', allowed: null, emptiness },
    { path: `${field.name}.value`, label: `${label} (_id)`, type: 'text', allowed: null },
  ];
}

function kindOf({ type, isList, allowed }: Omit<DeclaredField, 'fields'>): EmptinessKind {
  if (isList) return 'list';
  return type === 'text' && allowed === null ? 'text' : 'value';
}

export function operatorsOf(field: FilterField | undefined): readonly FilterOperator[] {
  const operators = OPERATORS_BY_TYPE[field?.type ?? ''] ?? TEXT;
  return field?.emptiness ? [...operators, ...EMPTINESS] : operators;
}

export function firstOperator(field: FilterField | undefined): FilterOperator {
  return operatorsOf(field)[0] ?? '=';
}

/**
 * Returns the name of an operator for the form and the button of a filter; days have names such as "after"
 * instead of "greater than".
 */
export function nameOfOperator(operator: FilterOperator, field: FilterField | undefined): string {
  if (field?.type === 'datetime' && operator === '=>') return phrase('is later than');
  if (field?.type === 'datetime' && operator === '=<') return phrase('is earlier than');
  return OPERATOR_NAMES[operator];
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MONTH = /^\d{4}-\d{2}$/;

/**
 * Returns a function that prints a filter for people: `class=5,name=*an` is "Class is 5 · Name contains an".
 * A malformed filter, and one that no row can express, is returned unchanged.
 */
export function useFilterWords(fields: readonly DeclaredField[]): (oquery: string, where: string) => string {
  const t = useTexts();
  const formats = useFormats();
  const nameOf = useFieldNames();
  const wordsOf = useAllowedWords();
  const choices = fields.flatMap((field) => filterFieldsOf(field, nameOf));
  const say = (condition: FilterCondition) => {
    const field = choices.find(({ path }) => path === condition.field);
    const said = {
      field: field?.label ?? condition.field,
      operator: t(nameOfOperator(condition.operator, field)),
      value: sayValue(condition, field, { t, formats, wordsOf }),
    };
    return t('{field} {operator} {value}', said).trim();
  };
  return (oquery, where) => {
    const { conditions, rest } = splitWhere(where, choices);
    const written = parseConditions(oquery);
    const said = [...(written?.map(say) ?? [oquery]), ...conditions.map(say)].join(' · ');
    return [said, rest].filter((part) => part !== '').join(' + ');
  };
}

interface Words {
  readonly t: Texts;
  readonly formats: Formats;
  wordsOf(value: string): string;
}

function sayValue(
  { operator, value }: FilterCondition,
  field: FilterField | undefined,
  { t, formats, wordsOf }: Words,
): string {
  if (!needsValue(operator)) return '';
  if (operator === '=#in' && MONTH.test(value)) return formats.month(value);
  if (field?.type === 'datetime' && DAY.test(value)) return formats.day(value);
  if (field?.type === 'boolean') return value === 'true' ? t('yes') : t('no');
  const isWhole = operator === '=' || operator === 'notEquals';
  return isWhole && field?.allowed?.includes(value) ? wordsOf(value) : value;
}
