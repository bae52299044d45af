/**
 * Instants and days. A record holds them as text, and such a text is a date here: an instant as stored, or a
 * day, which is its midnight in UTC. Anything else is null. Without a `timezone` the zone is UTC, as in
 * Mongo.
 */
import { ServiceError } from '../../base/errors.js';
import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import {
  type CompileOperator,
  compileExpression,
  type Expressions,
  NotSupported,
} from './expression-context.js';
import {
  type ExpressionValue,
  once,
  onceEach,
  sqlJson,
  sqlNumber,
  sqlText,
  toInteger,
  toNumber,
  toText,
} from './expression-value.js';
import { jsonOf, literalInteger, literalText, named, one, wrongOperands } from './operands.js';

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
  if (timeZone.kind === 'literal' && timeZone.value === null) return Prisma.raw('null::text');
  const name = literalText(timeZone);
  if (name === undefined) throw new NotSupported('a computed timezone');
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

type Named<Name extends string> = Readonly<Partial<Record<Name, Expression>>>;

/** `{ $year: date }`, `{ $year: { date, timezone } }` */
function partOf(operator: string, field: string, plus = 0): CompileOperator {
  return (operand, expressions) => {
    const isNamed = operand.kind === 'object';
    const parts: { readonly date: Expression; readonly timezone?: Expression } = isNamed
      ? named(operator, operand, { required: ['date'], optional: ['timezone'] })
      : { date: one(operator, operand) };
    const time = local(parts.date, parts.timezone, expressions);
    return sqlNumber(Prisma.sql`(${extracted(field, time)} + ${Prisma.raw(String(plus))})::numeric`);
  };
}

/** `week` counts from 0, a new one on every Sunday; `millisecond` is that of the second. */
function extracted(field: string, time: Sql): Sql {
  if (field === 'week of Sundays')
    return Prisma.sql`div(${extracted('doy', time)} + 6 - ${extracted('dow', time)}, 7)`;
  const part = Prisma.sql`trunc(extract(${Prisma.raw(field)} from ${time}))`;
  return field === 'milliseconds' ? Prisma.sql`mod(${part}, 1000)` : part;
}

const PARTS = {
  month: 'month',
  day: 'day',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  millisecond: 'milliseconds',
};
const DATE_PARTS: Readonly<Record<string, string>> = { year: 'year', ...PARTS };
const ISO_PARTS: Readonly<Record<string, string>> = {
  isoWeekYear: 'isoyear',
  isoWeek: 'week',
  isoDayOfWeek: 'isodow',
  ...Object.fromEntries(Object.entries(PARTS).slice(2)),
};

function dateToParts(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$dateToParts', operand, { required: ['date'], optional: ['timezone', 'iso8601'] });
  const isIso = parts.iso8601?.kind === 'literal' ? parts.iso8601.value : parts.iso8601 && null;
  if (isIso !== undefined && typeof isIso !== 'boolean')
    throw wrongOperands('$dateToParts', 'true or false as iso8601');
  const members = Object.entries(isIso ? ISO_PARTS : DATE_PARTS);
  return sqlJson(
    onceEach([local(parts.date, parts.timezone, expressions)], (time = NEVER) => {
      const pairs = members.map(([name, field]) => Prisma.sql`${name}::text, ${extracted(field, time)}::int`);
      return Prisma.sql`case when ${time} is null then 'null'::jsonb
        else jsonb_build_object(${Prisma.join(pairs, ', ')}) end`;
    }),
  );
}

const NEVER = Prisma.raw('null::timestamp');

/**
 * A time on the clocks, of numbers by the names of `DATE_PARTS` or `ISO_PARTS`; null if one of them is null.
 * A number beyond what it counts continues in the next, or in the one before: month 14 is February.
 */
function timeOf(parts: ReadonlyMap<string, Sql>): Sql {
  const names = parts.has('isoWeekYear') ? ISO_PARTS : DATE_PARTS;
  const start = { hour: 0, minute: 0, second: 0, millisecond: 0 } as Readonly<Record<string, number>>;
  const numbers = Object.keys(names).map((name) => parts.get(name) ?? Prisma.raw(`${start[name] ?? 1}`));
  return onceEach(numbers, (year = NEVER, b = NEVER, c = NEVER, ...clock) => {
    const [hour = NEVER, minute = NEVER, second = NEVER, millisecond = NEVER] = clock;
    const isIso = names === ISO_PARTS;
    const first = isIso
      ? Prisma.sql`date_trunc('week', make_date(${year}, 1, 4)::timestamp)`
      : Prisma.sql`make_date(${year}, 1, 1)::timestamp`;
    const unit = Prisma.raw(isIso ? 'weeks' : 'months');
    const others = Prisma.join([b, c, ...clock], ', ');
    return Prisma.sql`case when ${year} between 1 and 9999
      and least(${others}) >= -32768 and greatest(${others}) <= 32767 then ${first}
      + make_interval(${unit} => ${b} - 1, days => ${c} - 1, hours => ${hour}, mins => ${minute})
      + (${second} * 1000::bigint + ${millisecond}) * interval '1 millisecond' end`;
  });
}

function dateFromParts(operand: Expression, expressions: Expressions): ExpressionValue {
  const members = operand.kind === 'object' ? operand.members : [];
  const isIso = members.some(({ name }) => name === 'isoWeekYear');
  const [first = 'year', ...others] = Object.keys(isIso ? ISO_PARTS : DATE_PARTS);
  const parts: Named<string> = named('$dateFromParts', operand, {
    required: [first],
    optional: [...others, 'timezone'],
  });
  const numbers = Object.entries(parts).flatMap(([name, value]): [string, Sql][] =>
    value === undefined || name === 'timezone'
      ? []
      : [[name, toInteger(compileExpression(value, expressions))]],
  );
  return atZone(timeOf(new Map(numbers)), parts.timezone);
}

/** How a format writes each part, in a regular expression. */
const READ_FORMATS: Readonly<Record<string, readonly [part: string, pattern: string]>> = {
  Y: ['year', '\\d{1,4}'],
  m: ['month', '0?[1-9]|1[0-2]'],
  d: ['day', '0?[1-9]|[12]\\d|3[01]'],
  H: ['hour', '[01]?\\d|2[0-3]'],
  M: ['minute', '[0-5]?\\d'],
  S: ['second', '[0-5]?\\d'],
  L: ['millisecond', '\\d{3}'],
  G: ['isoWeekYear', '\\d{1,4}'],
  V: ['isoWeek', '0?[1-9]|[1-4]\\d|5[0-3]'],
  u: ['isoDayOfWeek', '[1-7]'],
};
const ISO_TEXT =
  '^(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])' +
  '(?:[T ]([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d)(?:\\.(\\d{3}))?)?Z?)?$';

/** Without a `format`: a day, or an instant in UTC or on the clocks of the zone. */
function dateFromString(operand: Expression, expressions: Expressions): ExpressionValue {
  const given = named('$dateFromString', operand, {
    required: ['dateString'],
    optional: ['format', 'timezone', 'onError', 'onNull'],
  });
  const { pattern, names } = readPattern(given.format);
  const written = toText(compileExpression(given.dateString, expressions));
  const json = jsonOf(given.dateString, expressions);
  const read = onceEach([Prisma.sql`regexp_match(${written}, ${pattern})`], (groups = NEVER) => {
    const parts = names.map((name, index): [string, Sql] => {
      const group = Prisma.sql`(${groups})[${Prisma.raw(String(index + 1))}]::int`;
      const isOptional = given.format === undefined && index > 2;
      return [name, isOptional ? Prisma.sql`coalesce(${group}, 0)` : group];
    });
    // The 31st of a month that has none would be a day of the next.
    const [, day = Prisma.raw('null::int')] = parts.find(([name]) => name === 'day') ?? [];
    return onceEach(
      [timeOf(new Map(parts)), day],
      (time = NEVER, of = NEVER) =>
        Prisma.sql`case when coalesce(extract(day from ${time}) = ${of}, true) then ${time} end`,
    );
  });
  const value = atZone(read, given.timezone);
  const [onError, onNull] = [given.onError, given.onNull].map((other) =>
    other === undefined ? Prisma.raw(`'null'::jsonb`) : jsonOf(other, expressions),
  );
  return sqlJson(
    Prisma.sql`(case when coalesce(${json}, 'null') = 'null' then ${onNull}
      else coalesce(to_jsonb(${value.sql}), ${onError}) end)`,
  );
}

function readPattern(format: Expression | undefined): { pattern: string; names: readonly string[] } {
  if (format === undefined) return { pattern: ISO_TEXT, names: Object.keys(DATE_PARTS) };
  const text = literalText(format);
  if (text === undefined) throw new NotSupported('$dateFromString by a computed format');
  const names: string[] = [];
  const pieces = [...text.matchAll(/%.?|[^%]+/gs)].map(([piece]) => {
    if (piece === '%%') return '%';
    if (!piece.startsWith('%')) return piece.replace(/[^\w ]/g, '\\$&');
    const [name, pattern] = READ_FORMATS[piece.slice(1)] ?? [];
    const known = Object.keys(READ_FORMATS).join(', %');
    if (name === undefined || names.includes(name))
      throw wrongOperands('$dateFromString', `a format of %${known} and %%, each once, not ${piece}`);
    names.push(name);
    return `(${pattern})`;
  });
  if (!names.includes('year') && !names.includes('isoWeekYear'))
    throw wrongOperands('$dateFromString', 'a format with %Y or %G');
  return { pattern: `^${pieces.join('')}$`, names };
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
  if (format === undefined) throw new NotSupported('$dateToString by a computed format');
  const printed = Prisma.sql`to_char(${local(parts.date, parts.timezone, expressions)},
    ${toCharPattern(format)})`;
  if (parts.onNull === undefined) return sqlText(printed);
  const isNull = Prisma.sql`${instant(parts.date, expressions)} is null`;
  return sqlJson(
    Prisma.sql`(case when ${isNull} then ${jsonOf(parts.onNull, expressions)}
      else coalesce(to_jsonb(${printed}), 'null') end)`,
  );
}

/** The interval of each unit. One of the calendar depends on the time zone, one of the clock does not. */
const UNITS: Readonly<Record<string, { readonly interval: string; readonly isOfCalendar: boolean }>> = {
  year: { interval: '1 year', isOfCalendar: true },
  quarter: { interval: '3 months', isOfCalendar: true },
  month: { interval: '1 month', isOfCalendar: true },
  week: { interval: '7 days', isOfCalendar: true },
  day: { interval: '1 day', isOfCalendar: true },
  hour: { interval: '1 hour', isOfCalendar: false },
  minute: { interval: '1 minute', isOfCalendar: false },
  second: { interval: '1 second', isOfCalendar: false },
  millisecond: { interval: '1 millisecond', isOfCalendar: false },
};

function unitOf(operator: string, operand: Expression) {
  const name = literalText(operand) ?? '';
  const unit = Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
  if (unit === undefined) throw wrongOperands(operator, `a unit of ${Object.keys(UNITS).join(', ')}`);
  return { name, isOfCalendar: unit.isOfCalendar, interval: Prisma.raw(`interval '${unit.interval}'`) };
}

const WEEK_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** How many days after a Monday the weeks begin; on Sundays unless it is said. */
function startOfWeek(operator: string, operand: Expression | undefined): number {
  const written = operand === undefined ? 'sunday' : (literalText(operand) ?? '').toLowerCase();
  const day = WEEK_DAYS.findIndex((name) => name === written || name.slice(0, 3) === written);
  if (day === -1) throw wrongOperands(operator, 'a day of the week as startOfWeek');
  return day;
}

/** The start of the unit that a time is in. */
function truncated(unit: string, time: Sql, firstDay: number): Sql {
  if (unit !== 'week') return Prisma.sql`date_trunc(${unit}::text, ${time})`;
  const shift = Prisma.raw(`interval '${firstDay} days'`);
  return Prisma.sql`(date_trunc('week', ${time} - ${shift}) + ${shift})`;
}

function dateTrunc(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$dateTrunc', operand, {
    required: ['date', 'unit'],
    optional: ['timezone', 'startOfWeek', 'binSize'],
  });
  if (parts.binSize !== undefined && literalInteger(parts.binSize) !== 1)
    throw new NotSupported('$dateTrunc with a binSize other than 1');
  const { name } = unitOf('$dateTrunc', parts.unit);
  const time = local(parts.date, parts.timezone, expressions);
  const firstDay = name === 'week' ? startOfWeek('$dateTrunc', parts.startOfWeek) : 0;
  return atZone(truncated(name, time, firstDay), parts.timezone);
}

/** Months are added on the calendar: 31 January and a month is the last of February. */
function dateAdd(operator: '$dateAdd' | '$dateSubtract'): CompileOperator {
  return (operand, expressions) => {
    const parts = named(operator, operand, {
      required: ['startDate', 'unit', 'amount'],
      optional: ['timezone'],
    });
    const { isOfCalendar, interval } = unitOf(operator, parts.unit);
    const count = toInteger(compileExpression(parts.amount, expressions));
    const sign = Prisma.raw(operator === '$dateAdd' ? '+' : '-');
    const change = (from: Sql) => Prisma.sql`(${from} ${sign} ${count} * ${interval})`;
    if (isOfCalendar)
      return atZone(change(local(parts.startDate, parts.timezone, expressions)), parts.timezone);
    const moved = change(instant(parts.startDate, expressions));
    return storedInstant(Prisma.sql`(case when ${zone(parts.timezone)} is not null then ${moved} end)`);
  };
}

/** How often a unit begins between two times. */
function dateDiff(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$dateDiff', operand, {
    required: ['startDate', 'endDate', 'unit'],
    optional: ['timezone', 'startOfWeek'],
  });
  const { name, isOfCalendar, interval } = unitOf('$dateDiff', parts.unit);
  const firstDay = name === 'week' ? startOfWeek('$dateDiff', parts.startOfWeek) : 0;
  const times = [parts.startDate, parts.endDate].map((date) =>
    truncated(name, local(date, parts.timezone, expressions), firstDay),
  );
  const months = { year: 12, quarter: 3, month: 1 }[name];
  return sqlNumber(
    onceEach(times, (start = NEVER, end = NEVER) => {
      if (months !== undefined) {
        const monthOf = (time: Sql) =>
          Prisma.sql`(extract(year from ${time}) * 12 + extract(month from ${time}))`;
        return Prisma.sql`div(${monthOf(end)} - ${monthOf(start)}, ${Prisma.raw(String(months))})`;
      }
      const at = (time: Sql) =>
        isOfCalendar ? time : Prisma.sql`(${time} at time zone ${zone(parts.timezone)})`;
      const seconds = Prisma.sql`extract(epoch from ${at(end)} - ${at(start)})`;
      return Prisma.sql`round(${seconds} / extract(epoch from ${interval}))`;
    }),
  );
}

/** A time on the clocks of the zone as a stored instant. */
function atZone(time: Sql, timeZone: Expression | undefined): ExpressionValue {
  return storedInstant(Prisma.sql`(${time} at time zone ${zone(timeZone)})`);
}

function storedInstant(at: Sql): ExpressionValue {
  return sqlText(Prisma.sql`to_char(${at} at time zone 'UTC', ${INSTANT_FORMAT})`);
}

/** A number is of milliseconds since 1970. */
function toDate(operand: Expression, expressions: Expressions): ExpressionValue {
  const value = one('$toDate', operand);
  const count = toNumber(compileExpression(value, expressions));
  const counted = Prisma.sql`timestamptz 'epoch' + trunc(${count})::float8 * interval '1 millisecond'`;
  return storedInstant(Prisma.sql`coalesce(${instant(value, expressions)}, ${counted})`);
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
  $millisecond: partOf('$millisecond', 'milliseconds'),
  $week: partOf('$week', 'week of Sundays'),
  $dateAdd: dateAdd('$dateAdd'),
  $dateSubtract: dateAdd('$dateSubtract'),
  $dateDiff: dateDiff,
  $dateFromParts: dateFromParts,
  $dateFromString: dateFromString,
  $dateToParts: dateToParts,
  $dateToString: dateToString,
  $dateTrunc: dateTrunc,
  $toDate: toDate,
};
