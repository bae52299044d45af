/**
 * Names of fields in SQL. A declared name is a literal in the statement: Postgres needs it to match an
 * expression index, and it keeps the text of a prepared statement the same. Such names come from the
 * catalog, which allows only certain letters. Any other name is text of the caller and is passed as a
 * parameter.
 *
 * @see design "Storage that makes JSONB fast"
 */
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { placeInRecord } from '../../base/model/place.js';
import { hasTrigrams } from '../database/declared-indexes.js';
import { type Sql, sql } from '../sql.js';

/** The record. All expressions of this room use the alias `r`. */
const RECORD = 'r.data';
const ALLOWED_NAME = /^[A-Za-z0-9_$-]{1,63}$/;

/** One value of a record in its two SQL forms. */
export interface FieldExpression {
  /** `(r.data->'a'->'b')`: jsonb. Null if the field is missing. */
  readonly json: Sql;
  /** `(r.data->'a'->>'b')`: text. For a string, its characters. */
  readonly text: Sql;
  /** Whether an index holds the trigrams of `text`. */
  readonly hasTrigrams: boolean;
}

/**
 * The value at a path as jsonb, e.g. `(r.data->'student'->'value')`. Names are literals if all steps are
 * declared, and parameters otherwise. It does not look into lists.
 */
export function fieldJson(collection: Collection, path: Path): Sql {
  return fieldExpression(collection, path).json;
}

/** Both forms of a value. */
export function fieldExpression(collection: Collection, path: Path): FieldExpression {
  return isDeclared(collection, path)
    ? literalExpression(path, hasTrigrams(collection, path))
    : boundExpression(path);
}

/** The name of a top-level field as SQL text. A declared name is a literal. */
export function fieldName(collection: Collection, name: string): Sql {
  return isLiteralName(collection, name) ? sql.raw(`'${name}'`) : sql`${name}::text`;
}

/** Whether a statement may contain the name of a top-level field as a literal. */
export function isLiteralName(collection: Collection, name: string): boolean {
  return ALLOWED_NAME.test(name) && collection.fieldsByName.has(name);
}

function isDeclared(collection: Collection, path: Path): boolean {
  const { type } = placeInRecord(collection, path);
  return type !== 'any' && type !== 'id' && path.every((name) => ALLOWED_NAME.test(name));
}

/** Callers pass only names that `isDeclared` accepts. */
function literalExpression(path: Path, isTrigramIndexed: boolean): FieldExpression {
  const literals = path.map((name) => `'${name}'`);
  const last = literals.pop();
  const parent = [RECORD, ...literals].join('->');
  return {
    json: sql.raw(`(${parent}->${last})`),
    text: sql.raw(`(${parent}->>${last})`),
    hasTrigrams: isTrigramIndexed,
  };
}

function boundExpression(path: Path): FieldExpression {
  const steps = [...path];
  return {
    json: sql`(${sql.raw(RECORD)} #> ${steps}::text[])`,
    text: sql`(${sql.raw(RECORD)} #>> ${steps}::text[])`,
    hasTrigrams: false,
  };
}

/** The order of the members of a jsonb object: by the length of the name, then by its bytes. */
export function inJsonbOrder(one: string, other: string): number {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length - others.length || bytes.compare(others);
}
