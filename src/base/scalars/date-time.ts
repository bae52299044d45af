import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { Temporal } from 'temporal-polyfill';
import { isStoredInstant } from '../text/stored-instant.js';
import { readLiteral } from './literal.js';

/** An instant, ISO 8601 with `Z` or an offset; printed in UTC. @see decisions 2 */
export const DateTime = new GraphQLScalarType<string | Date, string>({
  name: 'DateTime',
  description:
    'An instant in UTC, e.g. "2026-07-01T04:30:00.000Z". Accepts any ISO 8601 form with Z or an ' +
    'offset, and a bare day such as "2026-07-01": its start in the time zone of the school, in a ' +
    'comparison the whole day.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => (value instanceof Date ? value.toISOString() : String(value)),
  parseValue: parseInstant,
  parseLiteral(node) {
    return readLiteral(node, () => parseInstant(node.kind === Kind.STRING ? node.value : undefined));
  },
});

const BARE_DAY = /^\d{4}-\d{2}-\d{2}$/;

function parseInstant(value: unknown): string {
  if (typeof value === 'string') {
    if (isStoredInstant(value)) return value;
    try {
      // Only the store knows the time zone.
      if (BARE_DAY.test(value)) return Temporal.PlainDate.from(value, { overflow: 'reject' }).toString();
      const instant = Temporal.Instant.from(value).toString({ fractionalSecondDigits: 3 });
      if (isStoredInstant(instant)) return instant;
    } catch {
      // Falls through to the one message.
    }
  }
  throw new GraphQLError(
    `Expected an instant of the years 0000 to 9999 such as "2026-07-01T04:30:00.000Z", ` +
      `not ${JSON.stringify(value)}.`,
  );
}
