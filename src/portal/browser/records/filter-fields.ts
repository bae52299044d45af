/** What a filter can be about, and how: the fields of a collection with the operators that suit them. */
import { phrase } from '../language/use-texts';
import type { DeclaredField } from './declared-field';
import type { OqueryOperator } from './filter-conditions';

const TEXT: readonly OqueryOperator[] = ['equals', 'differs', 'contains', 'lacks', 'startsWith'];

const OPERATORS_BY_TYPE: Readonly<Record<string, readonly OqueryOperator[]>> = {
  number: ['is', 'greater', 'less'],
  datetime: ['on', 'inMonth', 'today', 'yesterday', 'greater', 'less'],
  boolean: ['equals'],
};

const OPERATOR_NAMES: Readonly<Record<OqueryOperator, string>> = {
  equals: phrase('is'),
  is: phrase('equals'),
  differs: phrase('is not'),
  startsWith: phrase('starts with'),
  contains: phrase('contains'),
  lacks: phrase('does not contain'),
  greater: phrase('is greater than'),
  less: phrase('is less than'),
  on: phrase('is on the day'),
  inMonth: phrase('is in the month'),
  today: phrase('is today'),
  yesterday: phrase('was yesterday'),
};

/** What a condition can be about. */
export interface FilterField {
  readonly path: string;
  readonly label: string;
  readonly type: string;
  readonly allowed: readonly string[] | null;
}

/** A reference is asked for by the label of what it points to, or by its id. */
export function filterFieldsOf(field: DeclaredField, nameOf: (name: string) => string): FilterField[] {
  const label = nameOf(field.name);
  if (field.type === 'object') {
    return (field.fields ?? []).map((member) => ({
      path: `${field.name}.${member.name}`,
      label: `${label}: ${nameOf(member.name)}`,
      type: member.type,
      allowed: member.allowed,
    }));
  }
  if (field.type !== 'reference')
    return [{ path: field.name, label, type: field.type, allowed: field.allowed }];
  return [
    { path: `${field.name}.label`, label, type: 'text', allowed: null },
    { path: `${field.name}.value`, label: `${label} (_id)`, type: 'text', allowed: null },
  ];
}

export function operatorsOf(field: FilterField | undefined): readonly OqueryOperator[] {
  return OPERATORS_BY_TYPE[field?.type ?? ''] ?? TEXT;
}

export function firstOperator(field: FilterField | undefined): OqueryOperator {
  return operatorsOf(field)[0] ?? 'equals';
}

/** As the form and the button of a filter say it. Of days nobody says that one is greater. */
export function nameOfOperator(operator: OqueryOperator, field: FilterField | undefined): string {
  if (field?.type === 'datetime' && operator === 'greater') return phrase('is later than');
  if (field?.type === 'datetime' && operator === 'less') return phrase('is earlier than');
  return OPERATOR_NAMES[operator];
}
