/** `platform.format`: days, times, amounts and numbers as texts in the zone and language of the school. */
import { z } from 'zod';
import { ServiceError } from '../../../base/errors.js';
import { instantFrom } from '../../../base/model/calendar.js';
import type { Scope } from '../../../base/model/scope.js';
import type { Domains } from '../../../store/catalog/domains.js';
import { DEFAULT_LANGUAGE, REPORT_DEFAULTS } from '../../../store/catalog/known-properties.js';
import { bindFunction } from './arguments.js';
import type { FunctionBinding } from './host-binding.js';

/** An instant, or a day of the school. */
const instant = z.union([z.string(), z.number()]).optional();
const amount = z.union([z.number(), z.string().regex(/^-?\d{1,30}(\.\d{1,20})?$/, 'expected a number')]);

const DAY_STYLES = { iso: undefined, short: 'short', medium: 'medium', long: 'long', full: 'full' } as const;
const dayStyle = z.enum(['iso', 'short', 'medium', 'long', 'full']).default('iso');

export function createFormatBindings(services: {
  readonly domains: Pick<Domains, 'property'>;
}): readonly FunctionBinding[] {
  const text = ({ domain }: Scope, name: string, byDefault: string) => {
    const value = services.domains.property(domain.id, name);
    return typeof value === 'string' ? value : byDefault;
  };
  const languageOf = (scope: Scope) => text(scope, 'language', DEFAULT_LANGUAGE);
  return [
    bindFunction('format.day', { date: instant, style: dayStyle }, ({ date, style }, { scope }) => {
      const dateStyle = DAY_STYLES[style];
      // Swedish writes days as ISO 8601 does.
      const format = new Intl.DateTimeFormat(dateStyle ? languageOf(scope) : 'sv-SE', {
        timeZone: scope.domain.timeZone,
        dateStyle: dateStyle ?? 'short',
      });
      return format.format(toDate(scope, 'day', date));
    }),
    bindFunction(
      'format.time',
      { date: instant, style: z.enum(['short', 'medium']).default('short') },
      (given, { scope }) => {
        const { timeZone } = scope.domain;
        const options = { timeZone, timeStyle: given.style } as const;
        return new Intl.DateTimeFormat(languageOf(scope), options).format(toDate(scope, 'time', given.date));
      },
    ),
    bindFunction(
      'format.money',
      {
        amount,
        currency: z
          .string()
          .regex(/^[A-Z]{3}$/)
          .optional(),
      },
      (given, { scope }) => {
        const currency = given.currency ?? text(scope, 'currency', REPORT_DEFAULTS.currency);
        return printNumber(languageOf(scope), given.amount, { style: 'currency', currency });
      },
    ),
    bindFunction(
      'format.number',
      { number: amount, digits: z.number().int().min(0).max(20).optional() },
      (given, { scope }) => {
        const { digits } = given;
        return printNumber(languageOf(scope), given.number, {
          minimumFractionDigits: digits,
          maximumFractionDigits: digits ?? 20,
        });
      },
    ),
  ];
}

function printNumber(language: string, number: z.output<typeof amount>, options: Intl.NumberFormatOptions) {
  // A text keeps its digits: amounts of records may have more than a double holds.
  return new Intl.NumberFormat(language, options).format(number as Intl.StringNumericLiteral);
}

function toDate({ domain }: Scope, short: string, date: z.output<typeof instant>): Date {
  const given = typeof date === 'string' ? (instantFrom(date, domain.timeZone) ?? Number.NaN) : date;
  const read = given === undefined ? new Date() : new Date(given);
  if (!Number.isNaN(read.getTime())) return read;
  const detail = `"${String(date).slice(0, 100)}" is not a date`;
  throw new ServiceError('INVALID_VALUE', `platform.format.${short}: date: ${detail}`, {
    errors: [
      { parameter: 'date', detail, expected: 'a Date, an ISO 8601 text, or a day such as 2026-11-28' },
    ],
  });
}
