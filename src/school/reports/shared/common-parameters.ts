/** Parameters shared by several reports. */

import { type Day, type DayOrMonth, dayType, sessionType, textType } from '../engine/parameter-types.js';
import { defaulted, optional, parameterError } from '../engine/parameters.js';
import {
  countDays,
  daysAfter,
  firstDayOf,
  lastDayOf,
  monthOfDay,
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

export const inClass = optional(textType, { restName: 'class', description: 'One class alone.' });
export const inSection = optional(textType, { restName: 'section', description: 'One section alone.' });

/** The first of the current month. */
export function firstOfMonth(today: Day): Day {
  return firstDayOf(monthOfDay(today));
}

/** @throws INVALID_VALUE (400) for an end before its start, or more days than `most` */
export function checkRange(
  start: { readonly name: string; readonly value: DayOrMonth },
  end: { readonly name: string; readonly value: DayOrMonth },
  most: { readonly days: number; readonly said: string },
): { readonly from: Day; readonly to: Day } {
  const from = firstDayOf(start.value);
  const to = lastDayOf(end.value);
  if (to < from) {
    throw parameterError(
      end.name,
      `is ${end.value}, before ${start.name} ${start.value}; expected the same day or a later one`,
      {
        expected: `${start.value} or later`,
        sent: end.value,
      },
    );
  }
  if (countDays(from, to) > most.days) {
    const last = daysAfter(from, most.days - 1);
    throw parameterError(
      end.name,
      `is ${end.value}, more than ${most.said} from ${start.name} ${start.value}; expected ${last} ` +
        'or earlier',
      {
        expected: `${last} or earlier`,
        sent: end.value,
      },
    );
  }
  return { from, to };
}
