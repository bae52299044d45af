/** Lists the fields that a collection can be filtered by, with the operators that fit each. */
import { phrase } from '../language/use-texts';
import type { DeclaredField } from './declared-field';
import type { FilterOperator } from './filter-conditions';
import type { EmptinessChoice, EmptinessKind } from './split-where';

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
