/**
 * The reader of expressions in Mongo's writing.
 *
 *   expression : "$path" | "$$variable" [ ".path" ] | { "$operator": operand }
 *              | { name: expression … } | [ expression … ] | scalar
 *
 * `{ "$multiply": ["$amount", 2] }` is { kind: 'operator', name: '$multiply', operand: { kind: 'list',
 * elements: [ { kind: 'field', path: ['amount'] }, { kind: 'literal', value: 2 } ] } }.
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import { type MongoPlace, malformedMongo, mongoPathAt, withinMongo } from './mongo-place.js';

const VARIABLE = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Variables of a document. */
const DOCUMENT_VARIABLES: ReadonlySet<string> = new Set(['ROOT', 'CURRENT']);

/** @throws MALFORMED_FILTER, LIMIT_EXCEEDED (400) with the pointer and what would be right */
export function parseMongoExpression(value: JsonValue, place: MongoPlace): Expression {
  place.enter();
  if (typeof value === 'string') return parseText(value, place);
  if (Array.isArray(value)) {
    const elements = value.map((element: JsonValue, index) =>
      parseMongoExpression(element, withinMongo(place, String(index))),
    );
    return { kind: 'list', elements };
  }
  if (!isJsonObject(value)) return { kind: 'literal', value };
  const entries = Object.entries(value);
  const [first] = entries;
  const operator = entries.find(([name]) => name.startsWith('$'));
  if (operator === undefined || first === undefined) {
    const members = entries.map(([name, member]) => ({
      name: memberName(name, place),
      value: parseMongoExpression(member, withinMongo(place, name)),
    }));
    return { kind: 'object', members };
  }
  if (typeof value.$regex === 'string') return { kind: 'literal', value };
  if (entries.length > 1) {
    throw malformedMongo(
      place,
      `one operator alone in an object; ${operator[0]} stands beside others`,
      value,
    );
  }
  const [name, operand] = first;
  if (name === '$literal') return { kind: 'literal', value: operand };
  return { kind: 'operator', name, operand: parseMongoExpression(operand, withinMongo(place, name)) };
}

function parseText(text: string, place: MongoPlace): Expression {
  if (!text.startsWith('$')) return { kind: 'literal', value: text };
  if (!text.startsWith('$$')) return { kind: 'field', path: mongoPathAt(text.slice(1), place) };
  const [name = '', ...path] = text.slice(2).split('.');
  if (!VARIABLE.test(name)) throw malformedMongo(place, 'a variable such as $$ROOT or $$name', text);
  const steps = path.length === 0 ? [] : mongoPathAt(path.join('.'), place);
  // `$$CURRENT.a` is `$a`.
  if (DOCUMENT_VARIABLES.has(name) && steps.length > 0) return { kind: 'field', path: steps };
  return { kind: 'variable', name: name === 'CURRENT' ? 'ROOT' : name, path: steps };
}

function memberName(name: string, place: MongoPlace): string {
  if (name !== '' && !name.includes('.')) return name;
  throw malformedMongo(withinMongo(place, name), 'a name without a dot', name);
}
