/** The structured filter of GraphQL as a parameter. @see languages/where.ts */
import { isJsonObject, type JsonObject, type JsonValue, parsePlainJson } from '../../base/json/json.js';
import { invalidParameter } from './parameter-reader.js';
import { inQuery } from './route.js';

const EXPECTED = 'a JSON object, such as {"amount": {"greaterThan": 100}}';

export const WHERE = inQuery(
  'where',
  'the `where` of GraphQL as JSON, for what oquery cannot say: or, not, in, isNull, records that are ' +
    'referred to. Holds together with oquery. In a body, the object itself',
  {
    schema: { type: 'string', contentMediaType: 'application/json' },
    // Collections have no other field in common.
    example: '{"or":[{"_id":{"equals":"mend-the-roof"}},{"not":{"_id":{"in":["a","b"]}}}]}',
    isJson: true,
  },
);

/** @throws MALFORMED_FILTER (400) for what is no JSON object */
export function parseWhereParameter(text: string): JsonObject {
  const value = parsed(text);
  if (isJsonObject(value)) return value;
  throw invalidParameter('where', shortened(text), EXPECTED, 'MALFORMED_FILTER');
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parsePlainJson(text);
  } catch {
    return undefined;
  }
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
