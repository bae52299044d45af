/**
 * Mongo's part of `Filter` to SQL. A declared value compiles to the form a b-tree serves, equality of
 * anything else to a jsonpath that the GIN index on the record serves. Any other condition tests the values
 * found at the path.
 */

import type { JsonValue } from '../../base/json/json.js';
import { instantFrom } from '../../base/model/calendar.js';
import { waysOf } from '../../base/model/field-types/text.js';
import type { Comparison, Filter, MatchTest } from '../../base/model/filter.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { isOperand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import { numberRange, textRange, type ValueTest } from '../../base/model/value-test.js';
import { respelled } from '../access/respelled.js';
import { columnTest, idTest, needsByteOrder } from '../sql/column-test.js';
import { jsonpathTest } from '../sql/jsonpath-test.js';
import type { FieldExpression } from '../sql/names.js';
import { compileJsonpath } from '../sql/spellings.js';
import { jsonpathSteps, storable, storableJson } from '../sql/storable-json.js';
import { combined, type Sql, sql } from '../sql.js';
import { type Declared, type DocumentRoot, documentRoot, type MatchTarget } from './document-root.js';
import { startExpressions } from './expression-operators.js';
import { compileExpression, type ExpressionContext, toCondition } from './expression-value.js';

const NULL_JSON = sql.raw(`'null'::jsonb`);

/** A boolean SQL expression. It may be null instead of false, but not below a negation. */
export function compileDocumentFilter(filter: Filter, root: DocumentRoot, context: ExpressionContext): Sql {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return combined(filter, (part) => compileDocumentFilter(part, root, context));
    case 'not':
      return sql`not coalesce(${compileDocumentFilter(filter.filter, root, context)}, false)`;
    case 'expression':
      return toCondition(compileExpression(filter.expression, startExpressions(root, context)));
    case 'match':
      return compileMatch(filter.test, root.targetAt(filter.path), context);
    default:
      throw new Error(`a ${filter.kind} is a condition on records, not on documents`);
  }
}

function compileMatch(sent: MatchTest, target: MatchTarget, context: ExpressionContext): Sql {
  const declared = target.form === 'id' ? undefined : target.declared;
  const test = storedMatch(sent, declared?.place.type, context);
  const plain = scalarTest(test);
  if (plain === undefined) return otherMatch(test, target, { context, declared });
  const scalar =
    declared === undefined
      ? plain
      : respelled(plain, declared.place.path, { ...context, collection: declared.collection });
  if (target.form === 'id') return idTest(textsOf(scalar), context);
  if (target.form === 'path' && target.path.length > 0) return scalarMatch(scalar, target);
  if (target.form === 'column' && (context.isByteOrdered || !needsByteOrder(scalar)))
    return columnTest(scalar, target.field);
  const { json } = target.form === 'column' ? target.field : target;
  return sql`${json} @? ${compileJsonpath(`strict $ ? ${jsonpathTest(scalar)}`)}`;
}

/** A test that is not one of scalars. */
function otherMatch(test: MatchTest, target: MatchTarget, surroundings: Surroundings): Sql {
  if (target.form === 'id')
    return columnMatch(test, { json: sql.raw('to_jsonb(r.id)'), text: sql.raw('r.id') }, surroundings);
  if (target.form === 'column') return columnMatch(test, target.field, surroundings);
  if (target.path.length > 0) return pathMatch(test, target, surroundings);
  const { json } = target;
  return columnMatch(test, { json, text: sql`(${json} #>> '{}')` }, surroundings);
}

/**
 * The test with its operands as a declared field is stored. One of a datetime is read as a value written to
 * the field: a day is its midnight in the school's time zone.
 *
 * @see decisions 2
 */
function storedMatch(
  test: MatchTest,
  type: Declared['place']['type'] | undefined,
  { timeZone }: ExpressionContext,
): MatchTest {
  if (type !== 'text' && type !== 'datetime') return test;
  const stored = (text: string) =>
    type === 'text' ? toNormalText(text) : (instantFrom(text, timeZone) ?? text);
  // A text is also found as it was sent: records may be older than the normal form.
  const waysOfAll = <Value>(values: readonly Value[]) =>
    type === 'text'
      ? waysOf(values)
      : values.map((value) => (typeof value === 'string' ? stored(value) : value));
  if (test.kind === 'in') return { kind: 'in', values: waysOfAll(test.values) };
  if (test.kind === 'equals' && typeof test.value === 'string') {
    const [value = test.value, ...others] = waysOfAll([test.value]);
    return others.length === 0 ? { kind: 'equals', value } : { kind: 'in', values: [value, ...others] };
  }
  if (isComparison(test) && typeof test.value === 'string') return { ...test, value: stored(test.value) };
  return test;
}

function isComparison(test: MatchTest): test is ComparisonTest {
  return 'value' in test && test.kind !== 'equals';
}

/** The condition on a scalar that satisfies the test, if the test is one of scalars. */
function scalarTest(test: MatchTest): ValueTest | undefined {
  switch (test.kind) {
    case 'equals':
      return isOperand(test.value) ? { kind: 'is', value: test.value } : undefined;
    case 'in':
      return test;
    default:
      return isComparison(test) ? rangeTest(test) : undefined;
  }
}

type ComparisonTest = Extract<MatchTest, { readonly kind: Comparison }>;

function rangeTest({ kind, value }: ComparisonTest): ValueTest {
  if (typeof value === 'boolean') {
    const isIncluded = kind === 'greaterOrEqual' || kind === 'lessOrEqual';
    const isLower = kind === 'greaterThan' || kind === 'greaterOrEqual';
    const beyond = isLower === value ? [] : [!value];
    return { kind: 'in', values: isIncluded ? [value, ...beyond] : beyond };
  }
  return typeof value === 'string'
    ? textRange('all', kind, { first: value, last: value })
    : numberRange(kind, value);
}

/** An `_id` is text: the number 5 is not "5". */
function textsOf(test: ValueTest): ValueTest {
  if (test.kind === 'in')
    return { kind: 'in', values: test.values.filter((value) => typeof value === 'string') };
  return test.kind === 'is' && typeof test.value !== 'string' ? { kind: 'in', values: [] } : test;
}

interface Surroundings {
  readonly context: ExpressionContext;
  readonly declared: Declared | undefined;
}

interface Place {
  readonly json: Sql;
  readonly path: Path;
}

/** A jsonpath in its lax mode looks into lists one level at each step, as a query does. */
function scalarMatch(test: ValueTest, { json, path }: Place): Sql {
  if (!path.some(isNumber))
    return sql`${json} @? ${compileJsonpath(`$${jsonpathSteps(path)} ? ${jsonpathTest(test)}`)}`;
  return sql`exists (select from ${valuesAt({ json, path })} as v(value)
    where v.value @? ${compileJsonpath(`$ ? ${jsonpathTest(test)}`)})`;
}

/** The values at a path, with `withMissing` a null for each that is missing. */
function valuesAt({ json, path }: Place, missing: 'with missing' | 'found' = 'found'): Sql {
  if (missing === 'found' && !path.some(isNumber)) {
    return sql`jsonb_path_query(${json}, ${`$${jsonpathSteps(path)}`}::jsonpath)`;
  }
  return sql`doc_values(${json}, ${path.map(storable)}::text[])`;
}

/** A step that may also be the number of an element. */
function isNumber(step: string): boolean {
  return /^\d+$/.test(step);
}

/** The tests of one value that are not comparisons with a scalar; only `element` looks into it. */
type ColumnForms = Pick<FieldExpression, 'json' | 'text'>;

function columnMatch(test: MatchTest, { json, text }: ColumnForms, surroundings: Surroundings): Sql {
  switch (test.kind) {
    case 'equals':
      if (test.value === null) return sql`coalesce(${json} = ${NULL_JSON}, true)`;
      return sql`${json} = ${jsonbOf(test.value)}`;
    case 'exists':
      return sql`${json} is not null`;
    case 'type':
      return sql`coalesce(jsonb_typeof(${json}) = any(${[...test.types]}::text[]), false)`;
    case 'pattern':
      return sql`(jsonb_typeof(${json}) = 'string' and ${text} ~ ${test.pattern})`;
    case 'size':
      return sql`case jsonb_typeof(${json}) when 'array' then jsonb_array_length(${json}) = ${test.size}
        else false end`;
    case 'remainder':
      // The remainder is of whole numbers, as Mongo has it: what comes after the point is cut off.
      return sql`coalesce(mod(trunc(to_number(${json})),
        ${String(test.divisor)}::numeric) = ${String(test.remainder)}::numeric, false)`;
    case 'element':
      return hasElement(json, test, surroundings);
    default:
      throw new Error(`${test.kind} is a comparison with a scalar`);
  }
}

function pathMatch(test: MatchTest, place: Place, surroundings: Surroundings): Sql {
  const { json, path } = place;
  const ofValue = (condition = columnMatch(test, columnOf('v'), surroundings)) =>
    sql`exists (select from ${valuesAt(place)} as v(value) where ${condition})`;
  const ofElement = () =>
    sql`exists (select from ${valuesAt(place)} as v(value), jsonb_path_query(v.value,
      '$[*]') as e(value) where ${columnMatch(test, columnOf('e'), surroundings)})`;
  switch (test.kind) {
    case 'equals':
      if (test.value === null) {
        const [only] = path;
        // A list contains the null that is in it.
        if (path.length === 1 && only !== undefined) {
          return sql`coalesce((${json} -> ${storable(only)}::text) @> ${NULL_JSON}, true)`;
        }
        return sql`exists (select from ${valuesAt(place, 'with missing')} as v(value)
          where coalesce(v.value @> ${NULL_JSON}, true))`;
      }
      return ofValue(
        sql`v.value = ${jsonbOf(test.value)}
          or ${jsonbOf(test.value)} in (select jsonb_array_elements(doc_list(v.value)))`,
      );
    case 'exists':
      return path.some(isNumber) ? ofValue() : sql`${json} @? ${`$${jsonpathSteps(path)}`}::jsonpath`;
    case 'type':
      return test.isWhole ? ofValue() : sql`(${ofValue()} or ${ofElement()})`;
    case 'pattern':
    case 'remainder':
      return ofElement();
    default:
      return ofValue();
  }
}

function columnOf(alias: 'v' | 'e'): ColumnForms {
  return { json: sql.raw(`${alias}.value`), text: sql.raw(`(${alias}.value #>> '{}')`) };
}

type ElementTest = Extract<MatchTest, { kind: 'element' }>;

function hasElement(
  json: Sql,
  { filter, isOfMembers }: ElementTest,
  { context, declared }: Surroundings,
): Sql {
  const alias = `e${context.depth ?? 0}`;
  const inner = { ...context, depth: (context.depth ?? 0) + 1 };
  const element = documentRoot(sql.raw(`${alias}.value`), declared);
  const elements = isOfMembers
    ? sql`(select case jsonb_typeof(n.value) when 'array' then (
        select coalesce(jsonb_object_agg(m.position - 1, m.value), '{}')
        from jsonb_array_elements(n.value) with ordinality as m(value, position)
      ) else n.value end from jsonb_array_elements(doc_list(${json})) as n(value))`
    : sql`jsonb_array_elements(doc_list(${json}))`;
  return sql`exists (select from ${elements} as
    ${sql.raw(alias)}(value) where ${compileDocumentFilter(filter, element, inner)})`;
}

function jsonbOf(value: JsonValue): Sql {
  return sql`${storableJson(value)}::jsonb`;
}
