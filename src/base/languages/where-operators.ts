/**
 * The operators of a structured `where`, by the type of the field: what `parseWhere` reads and what input
 * types are made of.
 */
import type { OperatorFamily } from '../model/field-types/scalar-type.js';
import { byScalar, type ValueKind } from '../model/field-types/scalar-types.js';

/**
 * What operators are applied to: `id` is the record's own; `list` a field of any type that is declared a
 * list.
 */
export type WhereType = 'id' | ValueKind | 'list';

/**
 * `value`, `values`: of the field's type · `range`: `{from, to}`, both included · `day`: `YYYY-MM-DD` ·
 * `month`: `YYYY-MM` · `flag`: true, or false for the opposite · `mode`: `sensitive` or `insensitive`, of the
 * other operators beside it · `recordCondition`: a `where` of the record that is pointed to ·
 * `textCondition`: an object of the operators of text · `elementCondition`: an object of the operators of the
 * element's type.
 */
export type OperandKind =
  | 'value'
  | 'values'
  | 'range'
  | 'day'
  | 'month'
  | 'flag'
  | 'mode'
  | 'textCondition'
  | 'recordCondition'
  | 'elementCondition';

export interface WhereOperator {
  readonly name: string;
  readonly operand: OperandKind;
  readonly description: string;
  /** What to say instead. */
  readonly deprecated?: string;
}

const PRESENCE: readonly WhereOperator[] = [
  { name: 'isNull', operand: 'flag', description: 'The field is missing or null.' },
  { name: 'exists', operand: 'flag', description: 'The field is present, null included.' },
];

const IDENTITY: readonly WhereOperator[] = [
  { name: 'equals', operand: 'value', description: 'Is this value.' },
  {
    name: 'notEquals',
    operand: 'value',
    description: 'Is not this value; holds when the field is missing, too.',
  },
];

const MEMBERSHIP: readonly WhereOperator[] = [
  { name: 'in', operand: 'values', description: 'Is one of these values; none of an empty list.' },
  {
    name: 'notIn',
    operand: 'values',
    description: 'Is none of these values; holds when the field is missing, too.',
  },
];

const TEXT: readonly WhereOperator[] = [
  { name: 'startsWith', operand: 'value', description: 'Starts with this text.' },
  {
    name: 'notStartsWith',
    operand: 'value',
    description: 'Does not start with this text; holds when the field is missing, too.',
  },
  { name: 'contains', operand: 'value', description: 'Contains this text.' },
  {
    name: 'notContains',
    operand: 'value',
    description: 'Does not contain this text; holds when the field is missing, too.',
  },
  {
    name: 'mode',
    operand: 'mode',
    description:
      'Whether upper and lower case are told apart (`sensitive`, the default) or not (`insensitive`).',
  },
];

const ORDER: readonly WhereOperator[] = [
  {
    name: 'greaterThan',
    operand: 'value',
    description: 'Is greater, strictly; later than the whole day, for a day.',
  },
  { name: 'greaterOrEqual', operand: 'value', description: 'Is greater or equal.' },
  {
    name: 'lessThan',
    operand: 'value',
    description: 'Is less, strictly; before the start of the day, for a day.',
  },
  { name: 'lessOrEqual', operand: 'value', description: 'Is less or equal.' },
  { name: 'between', operand: 'range', description: 'Is from one value to another, both included.' },
];

const TIME: readonly WhereOperator[] = [
  { name: 'on', operand: 'day', description: "Is on this day of the domain's time zone." },
  { name: 'inMonth', operand: 'month', description: "Is in this month of the domain's time zone." },
  {
    name: 'within',
    operand: 'month',
    description: "Is within this month of the domain's time zone.",
    deprecated: 'Use `inMonth`.',
  },
  { name: 'today', operand: 'flag', description: "Is today in the domain's time zone." },
  { name: 'yesterday', operand: 'flag', description: "Is yesterday in the domain's time zone." },
];

const FAMILIES: Readonly<Record<OperatorFamily, readonly WhereOperator[]>> = {
  identity: IDENTITY,
  membership: MEMBERSHIP,
  text: TEXT,
  order: ORDER,
  time: TIME,
};

/**
 * The operators of each type, in the order they are shown. An object has those of its members beside these.
 */
export const WHERE_OPERATORS: Readonly<Record<WhereType, readonly WhereOperator[]>> = {
  id: [...IDENTITY, ...MEMBERSHIP, ...TEXT],
  ...byScalar(({ operators }) => [...operators.flatMap((family) => FAMILIES[family]), ...PRESENCE]),
  reference: [
    { name: 'id', operand: 'textCondition', description: 'The id of the record that is pointed to.' },
    {
      name: 'label',
      operand: 'textCondition',
      description: 'The text kept with the reference, as a rule a name.',
    },
    {
      name: 'record',
      operand: 'recordCondition',
      description:
        'The record that is pointed to: there, in your reach, and all of this holds for it. Under ' +
        '`not`, also what points nowhere is found.',
    },
    ...PRESENCE,
  ],
  object: PRESENCE,
  list: [
    { name: 'any', operand: 'elementCondition', description: 'One element or more satisfies all of this.' },
    {
      name: 'all',
      operand: 'elementCondition',
      description: 'Every element satisfies this; holds for an empty list.',
    },
    {
      name: 'none',
      operand: 'elementCondition',
      description: 'No element satisfies this; holds for an empty list.',
    },
    { name: 'isEmpty', operand: 'flag', description: 'The list has no element, or is missing.' },
    ...PRESENCE,
  ],
};

/** The operands of `mode`. */
export const TEXT_MODES = ['sensitive', 'insensitive'] as const;

export function findOperator(type: WhereType, name: string): WhereOperator | undefined {
  return WHERE_OPERATORS[type].find((operator) => operator.name === name);
}
