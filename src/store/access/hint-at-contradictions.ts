import type { JsonValue } from '../../base/json/json.js';
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import { isPlainText } from '../../base/model/field-types/scalar-type.js';
import { scalarTypeOf } from '../../base/model/field-types/scalar-types.js';
import type { Condition, Filter } from '../../base/model/filter.js';
import { isBehind } from '../../base/model/is-behind.js';
import type { Path } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';

/**
 * Adds a hint for two conditions on the same field that no record satisfies together, such as
 * `status=absent,status=late`: their result is empty, and looks like an answer. Some callers take the comma
 * of oquery for "or".
 */
export function hintAtContradictions(filter: Filter, scope: Scope, collection: Collection): void {
  if (scope.onHint === undefined || filter.kind !== 'all') return;
  const conditions = conditionsOf(filter).slice(0, MAX_COMPARED);
  for (const [index, one] of conditions.entries()) {
    const other = conditions.slice(index + 1).find((later) => exclude(one, later, collection));
    if (other === undefined) continue;
    const place = `"${one.path.join('.')}" of ${collection.name}`;
    scope.onHint(
      `No record satisfies both conditions on ${place}: all conditions of a filter must hold. ` +
        'For one or the other, use `in` or `or` in `where`, `$in` or `$or` in a script.',
    );
  }
}

/** Each condition is compared with each other one. */
const MAX_COMPARED = 32;

type PathCondition = Extract<Condition, { readonly path: Path }>;

/** The conditions that all must hold. */
function conditionsOf(filter: Filter): readonly PathCondition[] {
  if (filter.kind === 'all') return filter.filters.flatMap(conditionsOf);
  return COMPARED.has(filter.kind) ? [filter as PathCondition] : [];
}

const LOWER = ['greaterThan', 'greaterOrEqual'];
const UPPER = ['lessThan', 'lessOrEqual'];
const COMPARED: ReadonlySet<string> = new Set(['looseEquals', 'equals', 'on', ...LOWER, ...UPPER]);

function exclude(one: PathCondition, other: PathCondition, collection: Collection): boolean {
  if (one.path.join('.') !== other.path.join('.') || !isSingle(one.path, collection)) return false;
  if (one.kind === 'on' && other.kind === 'on') {
    const [day, otherDay] = [one.day, other.day];
    if (typeof day === 'string' || typeof otherDay === 'string') {
      return typeof day === typeof otherDay && day !== otherDay;
    }
    return day.word !== otherDay.word;
  }
  const texts = [textOf(one, collection), textOf(other, collection)];
  if (!texts.includes(undefined)) return texts[0] !== texts[1];
  return isEmptyRange(one, other) || isEmptyRange(other, one);
}

/** A field of which a record has one value. */
function isSingle(path: Path, { fieldsByName }: Collection): boolean {
  const [first = '', ...members] = path;
  if (members.length === 0 && (first === '_id' || first === CREATED_ON)) return true;
  let field: Field | undefined = fieldsByName.get(first);
  for (const member of members) {
    if (field === undefined || field.isList) return false;
    if (field.type === 'reference') return members.length === 1;
    field = field.fields.find(({ name }) => name === member);
  }
  return field !== undefined && !field.isList;
}

/** The text with which a condition compares the whole value; `undefined`: it is compared otherwise. */
function textOf(condition: PathCondition, collection: Collection): string | undefined {
  const [first = ''] = condition.path;
  const field = collection.fieldsByName.get(first);
  const type = field && condition.path.length === 1 ? scalarTypeOf(field) : undefined;
  const isText = first === '_id' || field?.type === 'reference' || (type !== undefined && isPlainText(type));
  if (!isText) return undefined;
  if (condition.kind === 'looseEquals') {
    return condition.isInsensitive === true ? condition.text.toLowerCase() : condition.text;
  }
  const value: JsonValue = condition.kind === 'equals' ? condition.value : null;
  return typeof value === 'string' ? value : undefined;
}

function isEmptyRange(lower: PathCondition, upper: PathCondition): boolean {
  if (!('value' in lower && 'value' in upper)) return false;
  return LOWER.includes(lower.kind) && UPPER.includes(upper.kind) && isBehind(lower.value, upper.value);
}
