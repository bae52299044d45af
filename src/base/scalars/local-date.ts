import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { Temporal } from 'temporal-polyfill';
import { readLiteral } from './literal.js';

/** A day without a time, `YYYY-MM-DD`; never passed through a JavaScript `Date`. @see decisions 2 */
export const LocalDate = new GraphQLScalarType<string, string>({
  name: 'LocalDate',
  description: 'A day of the calendar, YYYY-MM-DD, e.g. "2026-07-01", in the time zone of the school.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize: (value) => String(value),
  parseValue: parseDay,
  parseLiteral(node) {
    return readLiteral(node, () => parseDay(node.kind === Kind.STRING ? node.value : undefined));
  },
});

function parseDay(value: unknown): string {
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)) {
    try {
      return Temporal.PlainDate.from(value, { overflow: 'reject' }).toString();
    } catch {
      // Falls through to the one message: the shape is right but there is no such day.
    }
  }
  throw new GraphQLError(`Expected a day as YYYY-MM-DD, e.g. "2026-07-01", not ${JSON.stringify(value)}.`);
}

const WRITTEN = /^\d{4}-(0[1-9]|1[0-2])$/;

/** A calendar month, `YYYY-MM`. @see decisions 2 */
export const MonthScalar = new GraphQLScalarType<string, string>({
  name: 'Month',
  description: 'A calendar month, YYYY-MM, e.g. "2026-07".',
  specifiedByURL: 'https://www.w3.org/TR/xmlschema-2/#gYearMonth',
  serialize: (value) => String(value),
  parseValue: parseMonth,
  parseLiteral(node) {
    return readLiteral(node, () => parseMonth(node.kind === Kind.STRING ? node.value : undefined));
  },
});

function parseMonth(value: unknown): string {
  if (typeof value === 'string' && WRITTEN.test(value)) return value;
  throw new GraphQLError(`Expected a month as YYYY-MM, e.g. "2026-07", not ${JSON.stringify(value)}.`);
}
