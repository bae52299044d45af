/**
 * A scalar field type as one value: its declaration, the conversion of input, its conditions and measures.
 * Everything about a type is here, except what belongs to one module, such as SQL or a GraphQL scalar: that
 * is in a table of the module, by the names in `SCALAR_TYPES`.
 */
import type { JsonValue } from '../../json/json.js';
import type { Period } from '../aggregate-query.js';
import type { Operand } from '../operand.js';
import type { Clock, ValueCondition, ValueTest } from '../value-test.js';
import type { Comparable } from './operand-errors.js';

/**
 * `identity`: equal or not · `membership`: one of several · `text`: how it starts, what it contains ·
 * `order`: greater and less · `time`: on a day, in a month.
 */
export type OperatorFamily = 'identity' | 'membership' | 'text' | 'order' | 'time';

export interface ScalarType extends Comparable {
  /** The name in a declaration. */
  readonly declared: {
    readonly type: string;
    readonly format?: string;
    readonly isDecimal?: true;
  };
  /** The name in error messages: `a month field`. */
  readonly noun: string;
  /** The JSON type of a value. */
  readonly json: 'string' | 'number' | 'boolean';
  /** The schema in an OpenAPI document. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /**
   * Converts input to the stored value; `undefined` if it is not a value of the type. Numbers of telephones
   * without a country are of the one with this calling code.
   */
  readonly toStored: (sent: JsonValue, timeZone: string, callingCode?: string) => JsonValue | undefined;
  /** The accepted input, for error messages. */
  readonly expectation: string;
  /** Whether a declaration may use it as the default. */
  readonly isDefault: (value: string | number | boolean) => boolean;
  /** The value of the default `now`; absent if the type does not support it. */
  readonly stamp?: (now: Date, timeZone: string) => string;
  /** For a text format: whether a text can be an operand of a comparison. */
  readonly isOfFormat?: (text: string) => boolean;
  /** The operators in a structured `where`, in display order. */
  readonly operators: readonly OperatorFamily[];
  /** Converts a condition to a test of the value. @throws MALFORMED_FILTER, INVALID_VALUE (400) */
  readonly testOf: (condition: ValueCondition, clock: Clock) => ValueTest;
  /** Whether greater and less are meaningful to people; for a name they are not. */
  readonly isOrdered: boolean;
  /** Whether conditions may ask for a day or a month. */
  readonly isOfTime: boolean;
  /** The measures of a group's values: only their count; also the extremes; or also sums and averages. */
  readonly measures: 'counts' | 'extremes' | 'sums';
  /** Converts the operand of a comparison with a measure; `undefined` if it is not a value of the type. */
  readonly toMeasured: (operand: Operand, timeZone: string) => Operand | undefined;
  /** The operands that a value can be compared with, in the words of an error. */
  readonly comparesWith: string;
  /** The periods it can be grouped by. */
  readonly periods: readonly Period[];
  /**
   * Whether several records have a value in common, as those of a class do; amounts and times are of one
   * record.
   */
  readonly isShared: boolean;
}

/** Whether its values are texts that are looked into and have no greater and less, as a month has. */
export function isPlainText({ operators, isOrdered }: ScalarType): boolean {
  return operators.includes('text') && !isOrdered;
}
