/**
 * The instants of a query as records hold them. A datetime is stored as UTC text of fixed width, and a query
 * compares texts: `{"$gte": "2026-04-01"}` or an instant with another offset would stand in the wrong place
 * among them. So an operand for a field that is declared a datetime is read as a value written to that field
 * would be: ISO 8601 with an offset is that instant, a bare day is its midnight in the domain's time zone.
 * Everything else stays as it is: JSON has no dates, and a `Date` of a script has become such a text already.
 *
 * @see decisions 2
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { instantFrom } from '../../base/model/calendar.js';
import type { Path } from '../../base/model/path.js';

/** Whether a path leads to values declared as datetimes with a time. */
export type IsInstant = (path: Path) => boolean;

const VALUE_OPERATORS: ReadonlySet<string> = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
const LIST_OPERATORS: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);
const QUERY_LISTS: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/** The query with its instants as stored. What is malformed passes unchanged, for the parser to say so. */
export function withStoredTimes(
  query: JsonValue,
  times: { readonly isInstant: IsInstant; readonly timeZone: string },
  base: Path = [],
): JsonValue {
  if (!isJsonObject(query)) return query;
  const stored = (path: Path, value: JsonValue): JsonValue => {
    if (!times.isInstant(path)) return value;
    const text = isJsonObject(value) && typeof value.$date === 'string' ? value.$date : value;
    return typeof text === 'string' ? (instantFrom(text, times.timeZone) ?? text) : value;
  };
  const condition = (path: Path, operand: JsonValue): JsonValue => {
    if (!isJsonObject(operand)) return stored(path, operand);
    if (!Object.keys(operand).some((name) => name.startsWith('$')) || '$date' in operand)
      return stored(path, operand);
    return mapMembers(operand, (name, value) => {
      if (VALUE_OPERATORS.has(name)) return stored(path, value);
      if (LIST_OPERATORS.has(name) && Array.isArray(value)) {
        return value.map((element: JsonValue) =>
          isJsonObject(element) && '$elemMatch' in element ? condition(path, element) : stored(path, element),
        );
      }
      if (name === '$not') return condition(path, value);
      if (name !== '$elemMatch') return value;
      const isOfValues = isJsonObject(value) && Object.keys(value).every((one) => one.startsWith('$'));
      return isOfValues ? condition(path, value) : withStoredTimes(value, times, path);
    });
  };
  return mapMembers(query, (name, operand) => {
    if (QUERY_LISTS.has(name) && Array.isArray(operand)) {
      return operand.map((part: JsonValue) => withStoredTimes(part, times, base));
    }
    return name.startsWith('$') ? operand : condition([...base, ...name.split('.')], operand);
  });
}

function mapMembers(
  object: Readonly<Record<string, JsonValue>>,
  map: (name: string, value: JsonValue) => JsonValue,
): JsonValue {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(name, value)]));
}
