/** The operators of a `where` by the type of the field, as `parseWhere` and the input types have them. */
import type { OperatorFamily } from '../model/field-types/scalar-type.js';
import { byScalar, type ValueKind } from '../model/field-types/scalar-types.js';

/** What operators apply to: `id` is the id of the record, `list` any field that is declared as a list. */
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
  /** The operator to use instead. */
  readonly deprecated?: string;
}

function operator(
  name: string,
  operand: OperandKind,
  description: string,
  deprecated?: { readonly deprecated: string },
): WhereOperator {
  return { name, operand, description, ...deprecated };
}

const PRESENCE = [
  operator('isNull', 'flag', 'The field is missing or null.'),
  operator('exists', 'flag', 'The field is present, null included.'),
];

const FAMILIES: Readonly<Record<OperatorFamily, readonly WhereOperator[]>> = {
  identity: [
    operator('equals', 'value', 'Is this value.'),
    operator('notEquals', 'value', 'Is not this value; holds when the field is missing, too.'),
  ],
  membership: [
    operator('in', 'values', 'Is one of these values; none of an empty list.'),
    operator('notIn', 'values', 'Is none of these values; holds when the field is missing, too.'),
  ],
  text: [
    operator('startsWith', 'value', 'Starts with this text.'),
    operator(
      'notStartsWith',
      'value',
      'Does not start with this text; holds when the field is missing, too.',
    ),
    operator('contains', 'value', 'Contains this text.'),
    operator('notContains', 'value', 'Does not contain this text; holds when the field is missing, too.'),
    operator(
      'mode',
      'mode',
      'Whether upper and lower case differ (`sensitive`, the default) or not (`insensitive`).',
    ),
  ],
  order: [
    operator('greaterThan', 'value', 'Is greater, strictly; later than the whole day, for a day.'),
    operator('greaterOrEqual', 'value', 'Is greater or equal.'),
    operator('lessThan', 'value', 'Is less, strictly; before the start of the day, for a day.'),
    operator('lessOrEqual', 'value', 'Is less or equal.'),
    operator('between', 'range', 'Is from one value to another, both included.'),
  ],
  time: [
    operator('on', 'day', "Is on this day of the domain's time zone."),
    operator('inMonth', 'month', "Is in this month of the domain's time zone."),
    operator('within', 'month', "Is within this month of the domain's time zone.", {
      deprecated: 'Use `inMonth`.',
    }),
    operator('today', 'flag', "Is today in the domain's time zone."),
    operator('yesterday', 'flag', "Is yesterday in the domain's time zone."),
  ],
};

/**
 * The operators of each type, in the order they are shown. An object also has those of its members.
 */
export const WHERE_OPERATORS: Readonly<Record<WhereType, readonly WhereOperator[]>> = {
  id: [...FAMILIES.identity, ...FAMILIES.membership, ...FAMILIES.text],
  ...byScalar(({ operators }) => [...operators.flatMap((family) => FAMILIES[family]), ...PRESENCE]),
  reference: [
    operator('id', 'textCondition', 'The id of the record that is pointed to.'),
    operator('label', 'textCondition', 'The text kept with the reference, as a rule a name.'),
    operator(
      'record',
      'recordCondition',
      'The record that is pointed to: there, in your reach, and all of this holds for it. Under ' +
        '`not`, also what points nowhere is found.',
    ),
    ...PRESENCE,
  ],
  object: PRESENCE,
  list: [
    operator('any', 'elementCondition', 'One element or more satisfies all of this.'),
    operator('all', 'elementCondition', 'Every element satisfies this; holds for an empty list.'),
    operator('none', 'elementCondition', 'No element satisfies this; holds for an empty list.'),
    operator('isEmpty', 'flag', 'The list has no element, or is missing.'),
    ...PRESENCE,
  ],
};

/** The operands of `mode`. */
export const TEXT_MODES = ['sensitive', 'insensitive'] as const;

export function findOperator(type: WhereType, name: string): WhereOperator | undefined {
  return WHERE_OPERATORS[type].find((operator) => operator.name === name);
}
