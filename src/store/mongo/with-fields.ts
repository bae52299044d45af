/**
 * Documents that stages make of others, as roots: a field that is asked for alone is computed without the
 * document around it.
 */

import type { Path } from '../../base/model/path.js';
import { storable } from '../sql/storable-json.js';
import { type Sql, sql } from '../sql.js';
import { type DocumentRoot, documentRoot } from './document-root.js';
import { type ExpressionValue, fill, objectOf, resultOf } from './expression-value.js';
import { type FieldTree, treeJson } from './mongo-projection.js';

const MISSING = sql.raw('null::jsonb');

/** The document with other values in some places. `value` is jsonb, null to take the field away. */
export function withFields(
  base: DocumentRoot,
  fields: readonly { readonly path: Path; readonly value: Sql }[],
  put = putThrough,
): DocumentRoot {
  const json = fields.reduce((soFar, { path, value }) => {
    const [name] = path;
    if (path.length === 1 && name !== undefined) {
      const key = sql`array[${storable(name)}::text]`;
      return sql`jsonb_set_lax(${soFar}, ${key}, ${value}, true, 'delete_key')`;
    }
    return put(soFar, path, value);
  }, base.json);
  return rootOf(
    json,
    (name) => {
      const [set, ...more] = fields.filter(({ path }) => path[0] === name);
      if (set === undefined) return 'as in the base';
      // Below the top, a value may be put into every element of a list.
      return more.length === 0 && set.path.length === 1 ? set.value : 'in the document';
    },
    base,
  );
}

function putAt(document: Sql, path: Path, value: Sql): Sql {
  return sql`doc_put(${document}, ${path.map(storable)}::text[], ${value})`;
}

/** The objects on the way are made where the value is missing, too. */
function putThrough(document: Sql, path: Path, value: Sql): Sql {
  const at = sql`${path.map(storable)}::text[]`;
  return fill(`doc_put(doc_put($1, $2, coalesce($3, 'null')), $2, $3)`, [document, at, value]);
}

/** The elements of the list at a path, one a document. */
export function withElement(base: DocumentRoot, path: Path, element: Sql): DocumentRoot {
  const made = withFields(base, [{ path, value: element }], putAt);
  const valueAt = (wanted: Path): Sql => {
    if (!path.every((step, index) => wanted[index] === step)) return made.valueAt(wanted);
    const rest = wanted.slice(path.length);
    return rest.length === 0 ? element : sql`doc_value(${element}, ${rest.map(storable)}::text[])`;
  };
  return {
    ...made,
    valueAt,
    targetAt(wanted) {
      if (!path.every((step, index) => wanted[index] === step)) return made.targetAt(wanted);
      return {
        form: 'path',
        json: objectOf([['v', resultOf('json', element)]]).sql,
        path: ['v', ...wanted.slice(path.length)],
      };
    },
  };
}

/** Some fields of the document, and some that are computed. */
export function onlyFields(
  base: DocumentRoot,
  {
    fields,
    computed,
  }: {
    readonly fields: FieldTree;
    readonly computed: readonly { readonly path: Path; readonly value: ExpressionValue }[];
  },
): DocumentRoot {
  const kept = [...fields].map(([name, below]): [string, ExpressionValue] => {
    const whole = base.valueAt([name]);
    if (below === true) return [name, resultOf('json', whole)];
    return [name, resultOf('json', picked(whole, below))];
  });
  const own = computed.flatMap(({ path, value }): [string, ExpressionValue][] => {
    const [name] = path;
    return path.length === 1 && name !== undefined ? [[name, value]] : [];
  });
  const members = [...kept, ...own];
  const flat = objectOf(members);
  const made: DocumentRoot = rootOf(
    flat.sql,
    (name) => {
      const member = members.find(([one]) => one === name)?.[1];
      if (member === undefined) return MISSING;
      if (fields.get(name) === true) return 'as in the base';
      return member.type === 'json' ? member.sql : 'in the document';
    },
    base,
  );
  const nested = computed.filter(({ path }) => path.length > 1);
  if (nested.length === 0) return made;
  return withFields(
    made,
    nested
      .map(({ path, value }) => ({ path, value: objectOf([['v', value]]).sql }))
      .map(({ path, value }) => ({
        path,
        value: sql`(${value} -> 'v')`,
      })),
  );
}

/** A scalar has no members to pick; a list those of its objects. */
function picked(whole: Sql, tree: FieldTree): Sql {
  return sql`(case when jsonb_typeof(${whole}) in ('object', 'array') then doc_pick(${whole},
    ${JSON.stringify(treeJson(tree))}::jsonb) end)`;
}

export function withoutFields(base: DocumentRoot, fields: FieldTree): DocumentRoot {
  const names = [...fields].flatMap(([name, below]) => (below === true ? [name] : []));
  const isFlat = names.length === fields.size;
  const json = isFlat
    ? sql`(${base.json} - ${names.map(storable)}::text[])`
    : sql`doc_omit(${base.json}, ${JSON.stringify(treeJson(fields))}::jsonb)`;
  return rootOf(
    json,
    (name) => {
      const below = fields.get(name);
      if (below === undefined) return 'as in the base';
      return below === true ? MISSING : 'in the document';
    },
    base,
  );
}

type Found = Sql | 'as in the base' | 'in the document';

/**
 * A root whose top-level fields are found by name: as SQL, as the base has them, or by making the document.
 */
function rootOf(json: Sql, find: (name: string) => Found, base: DocumentRoot): DocumentRoot {
  const whole = documentRoot(json);
  return {
    json,
    targetAt(path) {
      const [name] = path;
      const found = name === undefined ? 'in the document' : find(name);
      if (found === 'as in the base') return base.targetAt(path);
      if (found === 'in the document' || name === undefined) return whole.targetAt(path);
      return { form: 'path', json: objectOf([[name, resultOf('json', found)]]).sql, path };
    },
    valueAt(path) {
      const [name, ...rest] = path;
      if (name === undefined) return json;
      const found = find(name);
      if (found === 'as in the base') return base.valueAt(path);
      if (found === 'in the document') return whole.valueAt(path);
      return rest.length === 0 ? found : sql`doc_value(${found}, ${rest.map(storable)}::text[])`;
    },
  };
}
