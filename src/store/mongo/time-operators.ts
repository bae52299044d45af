/**
 * Instants and days. A record holds them as text, and such a text is a date here: an instant as stored, or a
 * day, which is its midnight in UTC. Anything else is null. Without a `timezone` the zone is UTC, as in
 * Mongo.
 */
import type { Expression } from '../../base/model/expression.js';
import { type Sql, sql } from '../sql.js';
import {
  byTemplate,
  type CompileOperator,
  type ExpressionValue,
  fill,
  literalInteger,
  literalText,
  notSupported,
  type Operation,
  type Operators,
  operandOf,
  reader,
  resultOf,
  severalOf,
  wrongOperands,
} from './expression-value.js';

const ZONE = `timezone:zone='UTC'`;
/** The time on the clocks of the zone. */
const LOCAL = '($1 at time zone $2)';
/** An instant as it is stored. */
const stored = (instant: string) => `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const part = (field: string, time: string) => `trunc(extract(${field} from ${time}))`;
/** Milliseconds are those of the second. */
const partOfClock = (field: string, time: string) =>
  field === 'milliseconds' ? `mod(${part(field, time)}, 1000)` : part(field, time);

/** `{ $year: date }`, `{ $year: { date, timezone } }` */
function ofDate(value: string): CompileOperator {
  const compile = byTemplate('number', `date:time ${ZONE}`, `(${value})::numeric`);
  return (operation) => {
    if (operation.operand.kind === 'object') return compile(operation);
    const [date] = severalOf(operation, { most: 1 });
    const members = date === undefined ? [] : [{ name: 'date', value: date }];
    return compile({ ...operation, operand: { kind: 'object', members } });
  };
}

const CLOCK = { hour: 'hour', minute: 'minute', second: 'second', millisecond: 'milliseconds' };
const DATE_PARTS: Readonly<Record<string, string>> = { year: 'year', month: 'month', day: 'day', ...CLOCK };
const ISO_PARTS: Readonly<Record<string, string>> = {
  ...{ isoWeekYear: 'isoyear', isoWeek: 'week', isoDayOfWeek: 'isodow' },
  ...CLOCK,
};

const dateToParts = byTemplate('value', `date:time ${ZONE} iso8601:json=null`, (operation) => {
  const iso8601 = operandOf(operation, 'iso8601');
  const isIso = iso8601?.kind === 'literal' ? iso8601.value : iso8601 && null;
  if (isIso !== undefined && typeof isIso !== 'boolean')
    throw wrongOperands(operation, 'true or false as iso8601');
  const pairs = Object.entries(isIso ? ISO_PARTS : DATE_PARTS).map(
    ([name, field]) => `'${name}', ${partOfClock(field, 't.time')}::int`,
  );
  return `(select case when t.time is not null then jsonb_build_object(${pairs.join(', ')}) end
    from (select ${LOCAL} as time offset 0) as t)`;
});

/**
 * A time on the clocks, of numbers by the names of `DATE_PARTS` or `ISO_PARTS`; null if one of them is null.
 * A number beyond what it counts continues in the next, or in the one before: month 14 is February.
 */
function timeOf(parts: ReadonlyMap<string, Sql>): Sql {
  const isIso = parts.has('isoWeekYear');
  const numbers = Object.keys(isIso ? ISO_PARTS : DATE_PARTS).map(
    (name) => parts.get(name) ?? sql.raw(Object.hasOwn(CLOCK, name) ? '0' : '1'),
  );
  const first = isIso
    ? `date_trunc('week', make_date($1, 1, 4)::timestamp)`
    : 'make_date($1, 1, 1)::timestamp';
  return fill(
    `case when $1 between 1 and 9999 and least($2, $3, $4, $5, $6, $7) >= -32768
      and greatest($2, $3, $4, $5, $6, $7) <= 32767 then ${first}
      + make_interval(${isIso ? 'weeks' : 'months'} => $2 - 1, days => $3 - 1, hours => $4, mins => $5)
      + ($6 * 1000::bigint + $7) * interval '1 millisecond' end`,
    numbers,
  );
}

const CLOCK_OPERANDS = 'hour:whole=0 minute:whole=0 second:whole=0 millisecond:whole=0';
const FROM_DATE = reader(`year:whole month:whole=1 day:whole=1 ${CLOCK_OPERANDS} ${ZONE}`);
const FROM_WEEK = reader(`isoWeekYear:whole isoWeek:whole=1 isoDayOfWeek:whole=1 ${CLOCK_OPERANDS} ${ZONE}`);

function dateFromParts(operation: Operation): ExpressionValue {
  const isIso = operandOf(operation, 'isoWeekYear') !== undefined;
  const numbers = (isIso ? FROM_WEEK : FROM_DATE)(operation);
  const names = Object.keys(isIso ? ISO_PARTS : DATE_PARTS);
  const time = timeOf(new Map(names.map((name, index) => [name, numbers[index] ?? sql.empty])));
  return resultOf('text', instantAt(time, numbers.at(-1) ?? sql.empty));
}

/** A time on the clocks of the zone as a stored instant. */
function instantAt(time: Sql, zone: Sql): Sql {
  return fill(stored(LOCAL), [time, zone]);
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

const FROM_STRING = reader(
  `dateString:json ${ZONE} onNull:json='null'::jsonb onError:json='null'::jsonb format:json=null`,
);

/** Without a `format`: a day, or an instant in UTC or on the clocks of the zone. */
function dateFromString(operation: Operation): ExpressionValue {
  const [json, zone, onNull, onError] = FROM_STRING(operation) as [Sql, Sql, Sql, Sql];
  const format = operandOf(operation, 'format');
  const { pattern, names } = readPattern(operation, format);
  const numbers = names.map((name, index): [string, Sql] => {
    const group = `(g.groups)[${index + 1}]::int`;
    const isOptional = format === undefined && index > 2;
    return [name, sql.raw(isOptional ? `coalesce(${group}, 0)` : group)];
  });
  // The 31st of a month that has none would be a day of the next.
  const [, day = sql.raw('null::int')] = numbers.find(([name]) => name === 'day') ?? [];
  const time = sql`(select case when coalesce(extract(day from t.time) = ${day}, true) then t.time end
    from (select regexp_match(doc_text(${json}), ${pattern}) as groups offset 0) as g,
      lateral (select ${timeOf(new Map(numbers))} as time offset 0) as t)`;
  return resultOf(
    'json',
    fill(`case when coalesce($1, 'null') = 'null' then $2 else coalesce(to_jsonb($3), $4) end`, [
      ...[json, onNull, instantAt(time, zone), onError],
    ]),
  );
}

function readPattern(
  operation: Operation,
  format: Expression | undefined,
): { pattern: string; names: readonly string[] } {
  if (format === undefined) return { pattern: ISO_TEXT, names: Object.keys(DATE_PARTS) };
  const names: string[] = [];
  const pieces = piecesOf(operation, format, READ_FORMATS, {
    known: ([name, pattern], piece) => {
      if (names.includes(name)) throw wrongOperands(operation, `a format with each part once, not ${piece}`);
      names.push(name);
      return `(${pattern})`;
    },
    between: (text) => text.replace(/[^\w ]/g, '\\$&'),
  });
  if (!names.includes('year') && !names.includes('isoWeekYear'))
    throw wrongOperands(operation, 'a format with %Y or %G');
  return { pattern: `^${pieces}$`, names };
}

/** A format translated piece by piece: the parts it names, and the text between them. */
function piecesOf<Part>(
  operation: Operation,
  format: Expression,
  parts: Readonly<Record<string, Part>>,
  print: {
    readonly known: (part: Part, piece: string) => string;
    readonly between: (text: string) => string;
  },
): string {
  const text = literalText(format);
  if (text === undefined) throw notSupported(`${operation.name} by a computed format`);
  return text.replace(/%.?|[^%]+/gs, (piece) => {
    if (piece === '%%') return print.between('%');
    if (!piece.startsWith('%')) return print.between(piece);
    const part = parts[piece.slice(1)];
    if (part !== undefined) return print.known(part, piece);
    const known = Object.keys(parts).join(', %');
    throw wrongOperands(operation, `a format of %${known} and %%, not ${piece}`);
  });
}

/** The patterns of `to_char`. */
const FORMATS: Readonly<Record<string, string>> = {
  ...{ Y: 'YYYY', m: 'MM', d: 'DD', H: 'HH24', M: 'MI', S: 'SS', L: 'MS', j: 'DDD' },
  ...{ G: 'IYYY', V: 'IW', u: 'ID', b: 'Mon', B: 'FMMonth' },
};
const DEFAULT_FORMAT: Expression = { kind: 'literal', value: '%Y-%m-%dT%H:%M:%S.%LZ' };
const DATE_IN_ZONE = reader(`date:time ${ZONE} format:json=null onNull:json='null'::jsonb`);

function dateToString(operation: Operation): ExpressionValue {
  const [date, zone, , onNull] = DATE_IN_ZONE(operation) as [Sql, Sql, Sql, Sql];
  const pattern = piecesOf(operation, operandOf(operation, 'format') ?? DEFAULT_FORMAT, FORMATS, {
    known: (part) => part,
    between: (text) => `"${text.replace(/["\\]/g, '\\$&')}"`,
  });
  return resultOf(
    'json',
    fill(`case when $1 is null then $4 else coalesce(to_jsonb(to_char(${LOCAL}, $3)), 'null') end`, [
      ...[date, zone, sql`${pattern}::text`, onNull],
    ]),
  );
}

/** The interval of each unit. One of the calendar depends on the time zone, one of the clock does not. */
const CALENDAR: Readonly<Record<string, string>> = {
  ...{ year: '1 year', quarter: '3 months', month: '1 month', week: '7 days', day: '1 day' },
};
const UNITS: Readonly<Record<string, string>> = {
  ...CALENDAR,
  ...{ hour: '1 hour', minute: '1 minute', second: '1 second', millisecond: '1 millisecond' },
};

function unitOf(operation: Operation): string {
  const name = literalText(operandOf(operation, 'unit')) ?? '';
  if (Object.hasOwn(UNITS, name)) return name;
  throw wrongOperands(operation, `a unit of ${Object.keys(UNITS).join(', ')}`);
}

const WEEK_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** The start of the unit that a time is in. Weeks begin on Sundays unless another day is given. */
function truncated(operation: Operation, unit: string, time: string): string {
  const startOfWeek = operandOf(operation, 'startOfWeek');
  if (unit !== 'week') return `date_trunc('${unit}', ${time})`;
  const written = startOfWeek === undefined ? 'sunday' : (literalText(startOfWeek) ?? '').toLowerCase();
  const day = WEEK_DAYS.findIndex((name) => name === written || name.slice(0, 3) === written);
  if (day === -1) throw wrongOperands(operation, 'a day of the week as startOfWeek');
  return `(date_trunc('week', ${time} - interval '${day} days') + interval '${day} days')`;
}

const dateTrunc = byTemplate(
  'text',
  `date:time ${ZONE} unit:json binSize:json=1 startOfWeek:json=null`,
  (operation) => {
    const binSize = operandOf(operation, 'binSize');
    if (binSize !== undefined && literalInteger(binSize) !== 1)
      throw notSupported('$dateTrunc with a binSize other than 1');
    return stored(`(${truncated(operation, unitOf(operation), LOCAL)} at time zone $2)`);
  },
);

/** Months are added on the calendar: 31 January and a month is the last of February. */
const dateAdd = (sign: '+' | '-') =>
  byTemplate('text', `startDate:time ${ZONE} amount:whole unit:json`, (operation) => {
    const unit = unitOf(operation);
    const change = `${sign} $3 * interval '${UNITS[unit]}'`;
    return stored(
      Object.hasOwn(CALENDAR, unit)
        ? `((${LOCAL} ${change}) at time zone $2)`
        : `(case when $2 is not null then $1 ${change} end)`,
    );
  });

/** How often a unit begins between two times. */
const dateDiff = byTemplate(
  'number',
  `startDate:time ${ZONE} endDate:time unit:json startOfWeek:json=null`,
  (operation) => {
    const unit = unitOf(operation);
    const months = { year: 12, quarter: 3, month: 1 }[unit];
    const [from, to] = ['$1', '$3'].map((date) => truncated(operation, unit, `(${date} at time zone $2)`));
    const at = Object.hasOwn(CALENDAR, unit) ? '' : ' at time zone $2';
    const month = (time = '') => `extract(year from ${time}) * 12 + extract(month from ${time})`;
    return months === undefined
      ? `round(extract(epoch from (${to}${at}) - (${from}${at}))
          / extract(epoch from interval '${UNITS[unit]}'))`
      : `div(${month(to)} - (${month(from)}), ${months})`;
  },
);

export const TIME_OPERATORS: Operators = {
  $year: ofDate(part('year', LOCAL)),
  $month: ofDate(part('month', LOCAL)),
  $dayOfMonth: ofDate(part('day', LOCAL)),
  $dayOfYear: ofDate(part('doy', LOCAL)),
  $dayOfWeek: ofDate(`${part('dow', LOCAL)} + 1`),
  $isoDayOfWeek: ofDate(part('isodow', LOCAL)),
  $isoWeek: ofDate(part('week', LOCAL)),
  $isoWeekYear: ofDate(part('isoyear', LOCAL)),
  $hour: ofDate(part('hour', LOCAL)),
  $minute: ofDate(part('minute', LOCAL)),
  $second: ofDate(part('second', LOCAL)),
  $millisecond: ofDate(partOfClock('milliseconds', LOCAL)),
  // From 0, a new one on every Sunday.
  $week: ofDate(`div(${part('doy', LOCAL)} + 6 - ${part('dow', LOCAL)}, 7)`),
  $dateAdd: dateAdd('+'),
  $dateSubtract: dateAdd('-'),
  $dateDiff: dateDiff,
  $dateFromParts: dateFromParts,
  $dateFromString: dateFromString,
  $dateToParts: dateToParts,
  $dateToString: dateToString,
  $dateTrunc: dateTrunc,
  // A number counts milliseconds since 1970.
  $toDate: byTemplate(
    'text',
    'json',
    stored(`coalesce(instant_of(doc_text($1)), day_of(doc_text($1))::timestamp at time zone 'UTC',
      timestamptz 'epoch' + trunc(to_number($1))::float8 * interval '1 millisecond')`),
  ),
};
