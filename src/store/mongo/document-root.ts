/** The start of paths in Mongo's queries and expressions: a record, or a document that a stage made. */

import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { type Place, placeInElement, placeInRecord } from '../../base/model/place.js';
import { type FieldExpression, fieldExpression } from '../sql/names.js';
import { storable } from '../sql/storable-json.js';
import { type Sql, sql } from '../sql.js';

export interface DocumentRoot {
  /** The whole document with `_id`, or the part of a record that the caller may read: jsonb. */
  readonly json: Sql;
  /** Gives where a query finds the values at a path. */
  targetAt(path: Path): MatchTarget;
  /** The value of an expression's path: jsonb, null where it is missing. */
  valueAt(path: Path): Sql;
}

/**
 * `id`: the column `r.id`. `column`: a declared value that is in no list, which an index may serve; it is not
 * looked into. `path`: anywhere in the jsonb `json`; the empty path is that value itself. `declared`: its
 * declaration in the collection.
 */
export type MatchTarget =
  | { readonly form: 'id' }
  | {
      readonly form: 'column';
      readonly field: FieldExpression;
      readonly declared: Declared;
    }
  | {
      readonly form: 'path';
      readonly json: Sql;
      readonly path: Path;
      readonly declared?: Declared | undefined;
    };

export interface Declared {
  readonly collection: Collection;
  readonly place: Place;
}

const RECORD = sql.raw('r.data');
const RECORD_ID = sql.raw('to_jsonb(r.id)');
const NOTHING = sql.raw(`'{}'::jsonb`);
const NO_FIELDS: ReadonlySet<string> = new Set();

/** A record, over the alias `r`. `hidden` are the top-level fields that the caller may not see. */
export function recordRoot(collection: Collection, hidden: ReadonlySet<string> = NO_FIELDS): DocumentRoot {
  const visible = hidden.size === 0 ? RECORD : sql`(${RECORD} - ${[...hidden]}::text[])`;
  return {
    json: sql`(${visible} || jsonb_build_object('_id', r.id))`,
    targetAt(path) {
      const [first, ...rest] = path;
      if (first === '_id')
        return rest.length === 0 ? { form: 'id' } : { form: 'path', json: RECORD_ID, path: rest };
      if (first !== undefined && hidden.has(first)) return { form: 'path', json: NOTHING, path };
      const place = placeInRecord(collection, path);
      const declared = { collection, place };
      if (place.form !== 'column') return { form: 'path', json: RECORD, path, declared };
      return { form: 'column', field: fieldExpression(collection, path), declared };
    },
    valueAt(path) {
      const [first, ...rest] = path;
      if (first === undefined) return this.json;
      if (first === '_id') return rest.length === 0 ? RECORD_ID : NULL;
      if (hidden.has(first)) return NULL;
      const place = placeInRecord(collection, path);
      if (rest.length === 0 || place.form === 'column') return fieldExpression(collection, path).json;
      return sql`doc_value(${fieldExpression(collection, [first]).json},
        ${rest.map(storable)}::text[])`;
    },
  };
}

/** Any jsonb: a document between two stages, an element of a list, which may be a declared one. */
export function documentRoot(json: Sql, list?: Declared): DocumentRoot {
  return {
    json,
    targetAt(path) {
      const declared = list && { ...list, place: placeInElement(list.place, path) };
      return { form: 'path', json, path, declared };
    },
    valueAt(path) {
      const [first, ...rest] = path;
      if (first === undefined) return json;
      // A list is read by the members of its objects: only a document is certain to be none.
      if (rest.length === 0) return sql`(${json} -> ${storable(first)}::text)`;
      return sql`doc_value(${json}, ${path.map(storable)}::text[])`;
    },
  };
}

const NULL = sql.raw('null::jsonb');
