/** Which bounds a field of a declaration may have, and that they make sense together. */
import { isDay } from '../../base/model/calendar.js';
import { parseLinearPattern } from '../../base/model/linear-pattern.js';
import type { FieldDefinition } from './collection-definition.js';

export interface FieldRule {
  readonly key: keyof FieldDefinition;
  readonly expected: string;
  readonly faultOf: (field: FieldDefinition, place: 'top' | 'member') => string | undefined;
}

/** The longest text that a pattern is held against. */
const MAX_PATTERN_TEXT = 1_000;

export const BOUND_RULES: readonly FieldRule[] = [
  ...(['minimum', 'maximum'] as const).map(
    (key): FieldRule => ({
      key,
      expected: 'a number with type number; a day YYYY-MM-DD or `now` with type datetime',
      faultOf: (field) => {
        const bound = field[key];
        if (bound === undefined) return undefined;
        const fits =
          typeof bound === 'number'
            ? field.type === 'number'
            : field.type === 'datetime' && (bound === 'now' || isDay(bound));
        return fits ? undefined : `${JSON.stringify(bound)} is no ${key} of a ${field.type}`;
      },
    }),
  ),
  ...(['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const).map((key): FieldRule => {
    const faultOf = (field: FieldDefinition) =>
      field[key] !== undefined && field.type !== 'number' ? `a ${field.type} takes no ${key}` : undefined;
    return { key, expected: 'type number', faultOf };
  }),
  ...(['minLength', 'maxLength', 'pattern'] as const).map((key): FieldRule => {
    const faultOf = ({ type, enum: allowed, format, ...field }: FieldDefinition) =>
      field[key] !== undefined && (type !== 'text' || allowed !== undefined || format !== undefined)
        ? `only a plain text takes ${key}`
        : undefined;
    return { key, expected: 'type text without enum and format', faultOf };
  }),
  {
    key: 'pattern',
    expected:
      '^ … $ of characters, classes and escapes with quantifiers; beside it a maxLength up to ' +
      MAX_PATTERN_TEXT,
    faultOf: ({ pattern, maxLength = Number.POSITIVE_INFINITY }) =>
      pattern === undefined
        ? undefined
        : (faultOfPattern(pattern) ??
          (maxLength > MAX_PATTERN_TEXT ? 'a pattern needs a maxLength beside it' : undefined)),
  },
  ...(
    [
      ['minimum', 'maximum'],
      ['exclusiveMinimum', 'exclusiveMaximum'],
      ['minLength', 'maxLength'],
    ] as const
  ).map(([key, upper]): FieldRule => {
    const faultOf = ({ [key]: low, [upper]: high }: FieldDefinition) =>
      typeof low === 'number' && typeof high === 'number' && low > high
        ? `${low} is above the ${upper} ${high}`
        : undefined;
    return { key, expected: `at most ${upper}`, faultOf };
  }),
];

function faultOfPattern(pattern: string): string | undefined {
  try {
    parseLinearPattern(pattern);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}
