/**
 * A type of fields whose value is one JSON scalar, as one value: how it is declared, what is stored of what
 * is sent, how conditions read it, and what is computed of it. Whoever needs one of these asks the type; only
 * what a room alone may know, such as SQL or a GraphQL scalar, is a table of that room by the names in
 * `SCALAR_TYPES`.
 */
import type { JsonValue } from '../../json.js';
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
  /** How a declaration names it. */
  readonly declared: {
    readonly type: string;
    readonly format?: string;
    readonly isDecimal?: true;
  };
  /** The name in an error: `a month field`. */
  readonly noun: string;
  /** What a value is in JSON. */
  readonly json: 'string' | 'number' | 'boolean';
  /** The schema in an OpenAPI document. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** What is stored of what was sent; `undefined`: it is no value of the type. */
  readonly toStored: (sent: JsonValue, timeZone: string) => JsonValue | undefined;
  /** What a field takes, in the words of an error. */
  readonly expectation: string;
  /** Whether a declaration may give it as the default. */
  readonly isDefault: (value: string | number | boolean) => boolean;
  /** What the default `now` stands for; without it the type takes no such default. */
  readonly stamp?: (now: Date, timeZone: string) => string;
  /** Of a text of a format: whether a text that something is compared with can be one. */
  readonly isOfFormat?: (text: string) => boolean;
  /** What a structured condition (`where`) has, in the order it is shown. */
  readonly operators: readonly OperatorFamily[];
  /** What a condition asks of the value. @throws MALFORMED_FILTER, INVALID_VALUE (400) */
  readonly testOf: (condition: ValueCondition, clock: Clock) => ValueTest;
  /** Whether greater and less have a meaning for people; a name has none. */
  readonly isOrdered: boolean;
  /** Whether a day or a month is asked of it. */
  readonly isOfTime: boolean;
  /**
   * What is computed of a group's values: how many, the smallest and largest too, or sums and averages too.
   */
  readonly measures: 'counts' | 'extremes' | 'sums';
  /** What a measure is compared with; `undefined`: that is no value of the type. */
  readonly toMeasured: (operand: Operand, timeZone: string) => Operand | undefined;
  /** What is compared with a value, in the words of an error. */
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
