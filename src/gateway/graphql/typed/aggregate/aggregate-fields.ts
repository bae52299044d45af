/** The fields of a collection that can be grouped by or measured, as plain values: names, paths and kinds. */

import {
  distinctGraphqlNames,
  toEnumValueName,
  toFieldName,
} from '../../../../base/languages/graphql-names.js';
import type { GroupKey, Period } from '../../../../base/model/aggregate-query.js';
import {
  isScalarName,
  SCALAR_TYPES,
  type ScalarName,
} from '../../../../base/model/field-types/scalar-types.js';
import type { Path } from '../../../../base/model/path.js';
import type { TypedCollection, TypedEnum, TypedField, TypedModel, TypedObject } from '../typed-model.js';

/** `id` is that of a record, `year` a whole number. */
export type AggregateValue = { readonly kind: 'id' | ScalarName | 'year' } | TypedEnum;

export interface KeyField {
  /** A field of the key, e.g. `createdOnMonth`. */
  readonly name: string;
  /** The name in `groupBy`, e.g. `CREATED_ON_MONTH`. */
  readonly enumName: string;
  readonly key: GroupKey;
  readonly value: AggregateValue;
  readonly description: string;
}

/** A field of the record itself that can be measured. */
interface MeasuredField {
  /** A field of a group and of `having`. */
  readonly name: string;
  readonly enumName: string;
  readonly path: Path;
  readonly value: AggregateValue;
}

export interface AggregateFields {
  readonly keys: readonly KeyField[];
  readonly own: readonly MeasuredField[];
}

/** The members of a group or of `having` in addition to the measured fields. */
const GROUP_PARTS = ['key', 'count', 'and', 'or', 'not'];

export function listAggregateFields(typed: TypedCollection, model: TypedModel): AggregateFields {
  const own = listLeaves(typed.object);
  const drafts = [
    ...own,
    ...own.flatMap(periodsOf),
    ...own.flatMap((leaf) => (leaf.field.value.kind === 'reference' ? targetsOf(leaf, model) : [])),
  ];
  const names = distinctGraphqlNames(drafts.map(toName));
  const enumNames = distinctGraphqlNames(drafts.map(({ words }) => toEnumValueName(words.join(' '))));
  const measuredNames = distinctGraphqlNames(own.map(toName), GROUP_PARTS);
  return {
    keys: drafts.map(
      ({ key, value, description }, index): KeyField => ({
        name: names[index] ?? '',
        enumName: enumNames[index] ?? '',
        key,
        value,
        description,
      }),
    ),
    own: own.map(
      ({ key, value }, index): MeasuredField => ({
        name: measuredNames[index] ?? '',
        enumName: enumNames[index] ?? '',
        path: key.path,
        value,
      }),
    ),
  };
}

function toName({ words }: Draft): string {
  return toFieldName(words.join('_'));
}

/** A value that is not named yet. */
interface Draft {
  /** The words its names are made of. */
  readonly words: readonly string[];
  readonly key: GroupKey;
  readonly value: AggregateValue;
  readonly description: string;
}

interface Leaf extends Draft {
  readonly field: TypedField;
}

/** The scalar values, at the top and within objects; a reference counts as its id and its label. */
function listLeaves(object: TypedObject, prefix: Path = []): readonly Leaf[] {
  return object.fields.flatMap((field): readonly Leaf[] => {
    const path = [...prefix, field.field.name];
    const { value, description } = field;
    if (field.field.isList) return [];
    if (value.kind === 'object') return listLeaves(value.object, path);
    if (value.kind !== 'reference') {
      const { kind } = value;
      if (kind === 'json') return [];
      return [{ words: path, key: { path }, value: kind === 'enum' ? value : { kind }, description, field }];
    }
    const id: Leaf = {
      words: path,
      key: { path: [...path, 'value'] },
      value: { kind: 'id' },
      description: `The id that \`${field.name}\` points to.`,
      field,
    };
    const label: Leaf = {
      words: [...path, 'label'],
      key: { path: [...path, 'label'] },
      value: { kind: 'text' },
      description: `The label of \`${field.name}\`.`,
      // Its record is reached by the id.
      field: { ...field, value: { kind: 'text' } },
    };
    return [id, label];
  });
}

const PERIODS: readonly {
  readonly period: Period;
  readonly kind: 'date' | 'month' | 'year';
  readonly description: string;
}[] = [
  { period: 'day', kind: 'date', description: 'The day' },
  { period: 'week', kind: 'date', description: 'The Monday of the week' },
  { period: 'month', kind: 'month', description: 'The month' },
  { period: 'year', kind: 'year', description: 'The year' },
];

function periodsOf({ words, key, value, field }: Leaf): readonly Draft[] {
  const periods = isScalarName(value.kind) ? SCALAR_TYPES[value.kind].periods : [];
  return PERIODS.filter(({ period }) => periods.includes(period)).map(
    ({ period, kind, description: meaning }): Draft => ({
      words: [...words, period],
      key: { ...key, period },
      value: { kind },
      description: `${meaning} of \`${field.name}\`.`,
    }),
  );
}

/** Amounts and times are not grouped by through a reference. */
function isShared({ kind }: AggregateValue): boolean {
  return kind === 'enum' || (isScalarName(kind) && SCALAR_TYPES[kind].isShared);
}

/** The top-level values of the record it points to, if that is of a single collection. */
function targetsOf({ words, key, field }: Leaf, model: TypedModel): readonly Draft[] {
  const { value } = field;
  if (value.kind !== 'reference') return [];
  const [name = '', ...others] = value.targets;
  const target = model.byCollection.get(name);
  if (!target || others.length > 0) return [];
  return listLeaves(target.object)
    .filter(({ key, value, field }) => {
      return isShared(value) && !field.field.isUnique && key.path.length === 1;
    })
    .map(
      (leaf): Draft => ({
        words: [...words, 'record', ...leaf.words],
        key: { path: key.path.slice(0, -1), of: { collection: name, path: leaf.key.path } },
        value: leaf.value,
        description:
          `The \`${leaf.field.name}\` of the ${target.object.typeName} that \`${field.name}\` points ` +
          'to.',
      }),
    );
}
