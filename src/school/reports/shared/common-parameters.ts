/** Parameters shared by several reports. */

import {
  type Day,
  type DayOrMonth,
  dayOrMonthType,
  dayType,
  flagType,
  sessionType,
  textType,
} from '../engine/parameter-types.js';
import { defaulted, optional, type ParameterContext, parameterError } from '../engine/parameters.js';
import {
  daysAfter,
  firstDayOf,
  lastDayOf,
  monthOfDay,
  monthsAfter,
  sessionOf,
} from '../engine/school-calendar.js';

export const asOn = defaulted(dayType, {
  restName: 'as_on',
  description: 'The day the report looks from: later receipts, rollbacks and concessions are not known yet.',
  default: 'today',
  value: ({ today }) => today,
});

export const onDate = defaulted(dayType, {
  restName: 'date',
  description: 'The day of the report.',
  default: 'today',
  value: ({ today }) => today,
});

export const inSession = defaulted(sessionType, {
  restName: 'session',
  description: 'The school year.',
  default: 'the session of today',
  value: ({ today, settings }) => sessionOf(today, settings.sessionFirstMonth),
});

export const includeLeft = defaulted(flagType, {
  restName: 'include_left',
  description: 'Also students who are not on the roll on the day: who have left, or are not admitted yet.',
  default: 'false',
  value: () => false,
});

/** Days or months of a range of at most 12 months. */
export function startAndEnd(
  start: { readonly default: string; readonly value: (context: ParameterContext) => DayOrMonth } = {
    default: 'the first of this month',
    value: ({ today }) => firstOfMonth(today),
  },
) {
  return {
    start: defaulted(dayOrMonthType, { restName: 'start', description: 'First day, or month.', ...start }),
    end: defaulted(dayOrMonthType, {
      restName: 'end',
      description: 'Last day, or month; at most 12 months.',
      default: 'today',
      value: ({ today }): DayOrMonth => today,
    }),
  };
}

/** Days of a range; `most` says how many at most. */
export function fromAndTo(most: string) {
  return {
    from: defaulted(dayType, {
      restName: 'from',
      description: 'First day.',
      default: 'the first of this month',
      value: ({ today }) => firstOfMonth(today),
    }),
    to: defaulted(dayType, {
      restName: 'to',
      description: `Last day; at most ${most}.`,
      default: 'today',
      value: ({ today }) => today,
    }),
  };
}

export const inClass = optional(textType, { restName: 'class', description: 'One class alone.' });
export const inSection = optional(textType, { restName: 'section', description: 'One section alone.' });

/** The first of the current month. */
function firstOfMonth(today: Day): Day {
  return firstDayOf(monthOfDay(today));
}

/**
 * `unit` is that of `most`: the greatest number of days or months, and how it is said.
 *
 * @throws INVALID_VALUE (400) for an end before its start, or a longer range
 */
export function checkRange(
  [startName, start]: readonly [name: string, value: DayOrMonth],
  [endName, end]: readonly [name: string, value: DayOrMonth],
  most?: readonly [count: number, said: string],
  unit: 'day' | 'month' = 'day',
): { readonly from: Day; readonly to: Day } {
  const [from, to] = [firstDayOf(start), lastDayOf(end)];
  if (to < from) {
    const expected = {
      day: '; expected the same day or a later one',
      month: '; expected the same month or a later one',
    }[unit];
    const fault = `is ${end}, before ${startName} ${start}${expected}`;
    throw parameterError(endName, fault, { expected: `${start} or later`, sent: end });
  }
  if (!most) return { from, to };
  const [count, said] = most;
  const last = unit === 'day' ? daysAfter(from, count - 1) : monthsAfter(monthOfDay(from), count - 1);
  if (to > lastDayOf(last)) {
    const expected = `${last} or earlier`;
    const fault = `is ${end}, more than ${said} from ${startName} ${start}; expected ${expected}`;
    throw parameterError(endName, fault, { expected, sent: end });
  }
  return { from, to };
}
