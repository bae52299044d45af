/**
 * Instants and days. A record holds them as text, and such a text is a date here: an instant as stored, or a
 * day, which is its midnight in UTC. Anything else is null. Without a `timezone` the zone is UTC, as in
 * Mongo.
 */
import { ServiceError } from '../../../errors.js';
import { Prisma } from '../../../generated/prisma/client.js';
import type { Expression } from '../../../model/expression.js';
import { type CompileOperator, compileExpression, type Expressions, NotInSql } from './expression-context.js';
import { type ExpressionValue, once, sqlNumber, sqlText, toText } from './expression-value.js';
import { literalText, named, one, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

const INSTANT_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';

function instant(operand: Expression, expressions: Expressions): Sql {
  const written = toText(compileExpression(operand, expressions));
  return once(
    written,
    (of) => Prisma.sql`coalesce(instant_of(${of}), day_of(${of})::timestamp at time zone 'UTC')`,
  );
}

/** The time on the clocks of the zone. */
function local(date: Expression, timeZone: Expression | undefined, expressions: Expressions): Sql {
  return Prisma.sql`(${instant(date, expressions)} at time zone ${zone(timeZone)})`;
}

const OFFSET = /^[+-]\d{2}(?::?\d{2})?$/;

/**
 * A name of the IANA list or an offset, which Postgres would read the other way round unless it is an
 * interval.
 */
function zone(timeZone: Expression | undefined): Sql {
  if (timeZone === undefined) return Prisma.raw(`'UTC'`);
  const name = literalText(timeZone);
  if (name === undefined) throw new NotInSql('a computed timezone');
  if (OFFSET.test(name)) {
    const [, sign = '+', hours = '00', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(name) ?? [];
    return Prisma.sql`(${`${sign}${hours}:${minutes}`}::interval)`;
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch (cause) {
    const detail =
      `there is no timezone "${name}"; right would be a name such as Asia/Kolkata, or an offset such ` +
      'as +05:30';
    throw new ServiceError('MALFORMED_FILTER', detail, {
      cause,
      errors: [{ detail, expected: 'a time zone', sent: name }],
    });
  }
  return Prisma.sql`${name}::text`;
}

/** `{ $year: date }`, `{ $year: { date, timezone } }` */
function partOf(operator: string, field: string, plus = 0): CompileOperator {
  return (operand, expressions) => {
    const isNamed = operand.kind === 'object';
    const parts: { readonly date: Expression; readonly timezone?: Expression } = isNamed
      ? named(operator, operand, { required: ['date'], optional: ['timezone'] })
      : { date: one(operator, operand) };
    const time = local(parts.date, parts.timezone, expressions);
    return sqlNumber(
      Prisma.sql`(trunc(extract(${Prisma.raw(field)} from ${time})) + ${Prisma.raw(String(plus))})::numeric`,
    );
  };
}

const FORMATS: Readonly<Record<string, string>> = {
  Y: 'YYYY',
  m: 'MM',
  d: 'DD',
  H: 'HH24',
  M: 'MI',
  S: 'SS',
  L: 'MS',
  j: 'DDD',
  G: 'IYYY',
  V: 'IW',
  u: 'ID',
  b: 'Mon',
  B: 'FMMonth',
};

/** `%Y-%m` as a pattern of `to_char`; what stands between is quoted. */
function toCharPattern(format: string): string {
  let pattern = '';
  for (const [piece] of format.matchAll(/%.?|[^%]+/gs)) {
    if (piece === '%%') pattern += '"%"';
    else if (piece.startsWith('%')) {
      const known = FORMATS[piece.slice(1)];
      if (known === undefined) {
        throw wrongOperands(
          '$dateToString',
          `a format of %${Object.keys(FORMATS).join(', %')} and %%, not ${piece}`,
        );
      }
      pattern += known;
    } else pattern += `"${piece.replace(/["\\]/g, '\\$&')}"`;
  }
  return pattern;
}

function dateToString(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$dateToString', operand, {
    required: ['date'],
    optional: ['format', 'timezone', 'onNull'],
  });
  const format = parts.format === undefined ? '%Y-%m-%dT%H:%M:%S.%LZ' : literalText(parts.format);
  if (format === undefined) throw new NotInSql('$dateToString by a computed format');
  const printed = Prisma.sql`to_char(${local(parts.date, parts.timezone, expressions)},
    ${toCharPattern(format)})`;
  if (parts.onNull === undefined) return sqlText(printed);
  return sqlText(Prisma.sql`coalesce(${printed}, ${toText(compileExpression(parts.onNull, expressions))})`);
}

const UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

/** Weeks begin on Sunday in Mongo: left to it but for those that say Monday. */
function dateTrunc(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$dateTrunc', operand, {
    required: ['date', 'unit'],
    optional: ['timezone', 'startOfWeek'],
  });
  const unit = literalText(parts.unit);
  if (unit === undefined || !UNITS.includes(unit))
    throw wrongOperands('$dateTrunc', `a unit of ${UNITS.join(', ')}`);
  const isMonday = /^mon(day)?$/i.test(literalText(parts.startOfWeek) ?? '');
  const time = local(parts.date, parts.timezone, expressions);
  const shift = unit === 'week' && !isMonday ? Prisma.raw(`interval '1 day'`) : Prisma.raw(`interval '0'`);
  const start = Prisma.sql`(date_trunc(${unit}::text, ${time} + ${shift}) - ${shift})`;
  return storedInstant(Prisma.sql`(${start} at time zone ${zone(parts.timezone)})`);
}

function storedInstant(at: Sql): ExpressionValue {
  return sqlText(Prisma.sql`to_char(${at} at time zone 'UTC', ${INSTANT_FORMAT})`);
}

export const TIME_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $year: partOf('$year', 'year'),
  $month: partOf('$month', 'month'),
  $dayOfMonth: partOf('$dayOfMonth', 'day'),
  $dayOfYear: partOf('$dayOfYear', 'doy'),
  $dayOfWeek: partOf('$dayOfWeek', 'dow', 1),
  $isoDayOfWeek: partOf('$isoDayOfWeek', 'isodow'),
  $isoWeek: partOf('$isoWeek', 'week'),
  $isoWeekYear: partOf('$isoWeekYear', 'isoyear'),
  $hour: partOf('$hour', 'hour'),
  $minute: partOf('$minute', 'minute'),
  $second: partOf('$second', 'second'),
  $dateToString: dateToString,
  $dateTrunc: dateTrunc,
  $toDate: (operand, expressions) => storedInstant(instant(one('$toDate', operand), expressions)),
};
