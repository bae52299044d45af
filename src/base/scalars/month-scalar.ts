import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { readLiteral } from './literal.js';

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
