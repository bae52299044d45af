/** Parameters shared by several reports. */

import type { ServiceError } from '../../../base/errors.js';
import {
  type Day,
  type DayOrMonth,
  dayOrMonthType,
  dayType,
  flagType,
  sessionType,
  textType,
} from '../engine/parameter-types.js';
import {
  type Default,
  defaulted,
  optional,
  type ParameterContext,
  parameterError,
} from '../engine/parameters.js';
import {
  daysAfter,
  firstDayOf,
  lastDayOf,
  monthOfDay,
  monthsAfter,
  sessionOf,
} from '../engine/school-calendar.js';

const TODAY = { default: 'today', value: ({ today }: ParameterContext) => today };

export const asOn = defaulted(
  dayType,
  'The day the report looks from: later receipts, rollbacks and concessions are not known yet.',
  TODAY,
);

export const onDate = defaulted(dayType, 'The day of the report.', TODAY);

export const inSession = defaulted(sessionType, 'The school year.', {
  default: 'the session of today',
  value: ({ today, settings }) => sessionOf(today, settings.sessionFirstMonth),
});

export const includeLeft = defaulted(
  flagType,
  'Includes students who are not on the roll on the day: those who have left, or are not admitted yet.',
  { default: 'false' },
);

const THIS_MONTH = {
  default: 'the first of this month',
  value: ({ today }: ParameterContext) => firstDayOf(monthOfDay(today)),
};

/** Days or months of a range of at most 12 months. */
export function startAndEnd(start: Default<DayOrMonth> = THIS_MONTH) {
  return {
    start: defaulted(dayOrMonthType, 'First day, or month.', start),
    end: defaulted(dayOrMonthType, 'Last day, or month; at most 12 months.', TODAY),
  };
}

/** Days of a range. `most` describes its greatest length. */
export function fromAndTo(most: string) {
  return {
    from: defaulted(dayType, 'First day.', THIS_MONTH),
    to: defaulted(dayType, `Last day; at most ${most}.`, TODAY),
  };
}

export const inClass = optional(textType, 'Only this class.');
export const inSection = optional(textType, 'Only this section.');

/** The error for an end before its start. */
export function endBeforeStart(
  [startName, start]: readonly [name: string, value: string],
  [endName, end]: readonly [name: string, value: string],
  unit: 'day' | 'month' = 'day',
): ServiceError {
  const expected = {
    day: '; expected the same day or a later one',
    month: '; expected the same month or a later one',
  }[unit];
  const fault = `is ${end}, before ${startName} ${start}${expected}`;
  return parameterError(endName, fault, { expected: `${start} or later`, sent: end });
}

/**
 * `unit` is that of the greatest number of days or months, which has its text beside it.
 *
 * @throws INVALID_VALUE (400) for an end before its start, or a longer range
 */
export function checkRange(
  [startName, start]: readonly [name: string, value: DayOrMonth],
  [endName, end]: readonly [name: string, value: DayOrMonth],
  [count, said]: readonly [count: number, said: string],
  unit: 'day' | 'month' = 'day',
): { readonly from: Day; readonly to: Day } {
  const [from, to] = [firstDayOf(start), lastDayOf(end)];
  if (to < from) throw endBeforeStart([startName, start], [endName, end], unit);
  const last = unit === 'day' ? daysAfter(from, count - 1) : monthsAfter(monthOfDay(from), count - 1);
  if (to > lastDayOf(last)) {
    const expected = `${last} or earlier`;
    const fault = `is ${end}, more than ${said} from ${startName} ${start}; expected ${expected}`;
    throw parameterError(endName, fault, { expected, sent: end });
  }
  return { from, to };
}
