/** What a filter can be about, and how: the fields of a collection with the operators that suit them. */
import { phrase } from '../language/use-texts';
import type { DeclaredField } from './declared-field';
import type { FilterOperator } from './filter-conditions';
import type { EmptinessChoice, EmptinessKind } from './split-where';

const TEXT: readonly FilterOperator[] = ['equals', 'differs', 'contains', 'lacks', 'startsWith'];

const OPERATORS_BY_TYPE: Readonly<Record<string, readonly FilterOperator[]>> = {
  number: ['is', 'greater', 'less'],
  datetime: ['on', 'inMonth', 'today', 'yesterday', 'greater', 'less'],
  boolean: ['equals'],
};

const EMPTINESS: readonly FilterOperator[] = ['empty', 'filled'];

const OPERATOR_NAMES: Readonly<Record<FilterOperator, string>> = {
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
  empty: phrase('is empty'),
  filled: phrase('is not empty'),
};

/** What a condition can be about. */
export interface FilterField extends EmptinessChoice {
  readonly label: string;
  readonly type: string;
  readonly allowed: readonly string[] | null;
}

/** A reference is asked for by the label of what it points to, or by its id. */
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
        // Of a list, some elements may have it and others not.
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
  return operatorsOf(field)[0] ?? 'equals';
}

/** As the form and the button of a filter say it. Of days nobody says that one is greater. */
export function nameOfOperator(operator: FilterOperator, field: FilterField | undefined): string {
  if (field?.type === 'datetime' && operator === 'greater') return phrase('is later than');
  if (field?.type === 'datetime' && operator === 'less') return phrase('is earlier than');
  return OPERATOR_NAMES[operator];
}
