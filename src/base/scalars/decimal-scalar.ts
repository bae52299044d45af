import { Decimal as ExactDecimal } from 'decimal.js';
import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { ExactNumber, isExactNumber } from '../json/json.js';
import { readLiteral } from './literal.js';

const WRITTEN = /^-?\d{1,30}(\.\d{1,30})?$/;
/** A number in the syntax of JSON and GraphQL, not a text. */
const WITH_EXPONENT = /^-?\d{1,30}(\.\d{1,30})?e[+-]?\d{1,3}$/i;

/**
 * An exact decimal number, such as an amount of money: a string with its digits, so that no client rounds it.
 * Inside the service it is an `ExactNumber`, which prints into JSON with the same digits.
 *
 * @see decisions 2
 */
export const DecimalScalar = new GraphQLScalarType<ExactNumber | number, string>({
  name: 'Decimal',
  description:
    'An exact decimal number, e.g. an amount of money, as a string: "1234.50". Takes a string or a number.',
  specifiedByURL: 'https://www.w3.org/TR/xmlschema-2/#decimal',
  serialize: (value) => (isExactNumber(value) ? value.toString() : parseDecimal(value).toString()),
  parseValue: parseDecimal,
  parseLiteral(node) {
    if (node.kind === Kind.STRING) return readLiteral(node, () => parseDecimal(node.value));
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) {
      return readLiteral(node, () => parseDecimal(new ExactNumber(node.value)));
    }
    throw new GraphQLError('Expected a decimal number such as "1234.50".', { nodes: node });
  },
});

function parseDecimal(value: unknown): ExactNumber {
  const digits = typeof value === 'number' || isExactNumber(value) ? String(value) : undefined;
  const text =
    digits !== undefined && WITH_EXPONENT.test(digits)
      ? new ExactDecimal(digits).toFixed()
      : (digits ?? value);
  if (typeof text === 'string' && WRITTEN.test(text)) return new ExactNumber(text);
  throw new GraphQLError(
    'Expected a decimal number such as "1234.50", with up to 30 digits before and after the point, not ' +
      `${digits ?? JSON.stringify(value)}.`,
  );
}
