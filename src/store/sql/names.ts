/**
 * Names of fields in SQL. A declared name is written into the statement as a literal, which an expression
 * index needs to be recognized and a prepared statement to stay the same; it comes from the catalog, letter
 * by letter out of an allow-list. Any other name is a caller's text and travels as a parameter.
 *
 * @see design "Storage that makes JSONB fast"
 */

import { Prisma } from '../../generated/prisma/client.js';
import type { Collection, Field } from '../../model/collection.js';
import type { Path } from '../../model/path.js';
import { hasTrigrams } from '../database/declared-indexes.js';

type Sql = Prisma.Sql;

/** The record: every expression of this room is over the alias `r`. */
const RECORD = 'r.data';
const ALLOWED_NAME = /^[A-Za-z0-9_$-]{1,63}$/;
const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(['value', 'label']);

/** One value of a record in its two SQL forms. */
export interface FieldExpression {
  /** `(r.data->'a'->'b')`: jsonb, null when the field is missing. */
  readonly json: Sql;
  /** `(r.data->'a'->>'b')`: text, of a string its characters. */
  readonly text: Sql;
  /** Whether the trigrams of `text` are in an index. */
  readonly hasTrigrams: boolean;
}

/**
 * The value at a path as jsonb, e.g. `(r.data->'student'->'value')`: with literal names where all steps are
 * declared, with parameters otherwise. Lists are not looked into.
 */
export function fieldJson(collection: Collection, path: Path): Sql {
  return fieldExpression(collection, path).json;
}

/** Both forms; the same objects each time for a declared path, which costs a look-up. */
export function fieldExpression(collection: Collection, path: Path): FieldExpression {
  const known = expressionsOf(collection);
  const key = JSON.stringify(path);
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  if (!isDeclared(collection.fields, path)) return boundExpression(path);
  const expression = literalExpression(path, hasTrigrams(collection, path));
  known.set(key, expression);
  return expression;
}

/** The name of a top-level field as SQL text: a literal where it is declared. */
export function fieldName(collection: Collection, name: string): Sql {
  return isLiteralName(collection, name) ? Prisma.raw(`'${name}'`) : Prisma.sql`${name}::text`;
}

/** Whether the name of a top-level field may stand in a statement as it is. */
export function isLiteralName(collection: Collection, name: string): boolean {
  return ALLOWED_NAME.test(name) && collection.fieldsByName.has(name);
}

/**
 * The expressions by collection object, so a changed definition starts anew; bounded by the declared paths.
 */
const expressionsByCollection = new WeakMap<Collection, Map<string, FieldExpression>>();

function expressionsOf(collection: Collection): Map<string, FieldExpression> {
  const known = expressionsByCollection.get(collection);
  if (known !== undefined) return known;
  const expressions = new Map<string, FieldExpression>();
  expressionsByCollection.set(collection, expressions);
  return expressions;
}

function isDeclared(fields: readonly Field[], path: Path): boolean {
  const [name, ...rest] = path;
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined || !ALLOWED_NAME.test(field.name)) return false;
  if (rest.length === 0) return true;
  if (field.type === 'reference') return rest.length === 1 && REFERENCE_MEMBERS.has(rest[0] ?? '');
  return isDeclared(field.fields, rest);
}

/** Takes only names that `isDeclared` has let through. */
function literalExpression(path: Path, isTrigramIndexed: boolean): FieldExpression {
  const literals = path.map((name) => `'${name}'`);
  const last = literals.pop();
  const parent = [RECORD, ...literals].join('->');
  return {
    json: Prisma.raw(`(${parent}->${last})`),
    text: Prisma.raw(`(${parent}->>${last})`),
    hasTrigrams: isTrigramIndexed,
  };
}

function boundExpression(path: Path): FieldExpression {
  const steps = [...path];
  return {
    json: Prisma.sql`(${Prisma.raw(RECORD)} #> ${steps}::text[])`,
    text: Prisma.sql`(${Prisma.raw(RECORD)} #>> ${steps}::text[])`,
    hasTrigrams: false,
  };
}
