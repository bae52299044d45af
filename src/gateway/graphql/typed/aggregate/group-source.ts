/**
 * Reads the selection on a collection's groups: the measures to compute, and the groups in the form that
 * their fields read.
 */
import { isExactNumber, type JsonValue } from '../../../../base/json/json.js';
import type { Group, Measure } from '../../../../base/model/aggregate-query.js';
import { isScalarName } from '../../../../base/model/field-types/scalar-types.js';
import { type SelectionInfo, selectedFields } from '../../../resolvers/records/selection.js';
import { SCALAR_FORMS } from '../scalar-forms.js';
import type { TypedCollection } from '../typed-model.js';
import type { AggregateFields, AggregateValue, KeyField } from './aggregate-fields.js';
import { isFieldMeasure, measureTypeName } from './measure-types.js';

/** A measure, and the field of a group that shows it. */
interface SelectedMeasure {
  readonly measure: Measure;
  readonly place: readonly [string] | readonly [string, string];
  readonly value: AggregateValue;
}

export interface GroupSelection {
  readonly measures: readonly SelectedMeasure[];
  /** The fields of `key` that are asked for, whatever is grouped by. */
  readonly keys: readonly string[];
}

export function selectMeasures(
  typed: TypedCollection,
  fields: AggregateFields,
  info: SelectionInfo,
): GroupSelection {
  const { typeName } = typed.object;
  const measures = new Map<string, SelectedMeasure>();
  const keys: string[] = [];
  for (const nodes of selectedFields(`${typeName}Group`, info.fieldNodes, info).values()) {
    const name = nodes[0]?.name.value ?? '';
    if (name === 'key') {
      const asked = selectedFields(`${typeName}GroupKey`, nodes, info).values();
      keys.push(...[...asked].map(([of]) => of?.name.value ?? ''));
    }
    if (name === 'count') measures.set(name, RECORDS);
    const field = fields.own.find((one) => one.name === name);
    if (!field) continue;
    for (const [ofMeasure] of selectedFields(measureTypeName(field.value), nodes, info).values()) {
      const kind = ofMeasure?.name.value;
      if (!isFieldMeasure(kind)) continue;
      measures.set(`${name} ${kind}`, {
        measure: { kind, path: field.path },
        place: [name, kind],
        value: kind === 'count' || kind === 'countDistinct' ? { kind: 'year' } : field.value,
      });
    }
  }
  return { measures: [...measures.values()], keys };
}

const RECORDS: SelectedMeasure = {
  measure: { kind: 'records' },
  place: ['count'],
  value: { kind: 'year' },
};

/** A group for graphql-js: `key` by the names of its fields, the measures of each field by its name. */
export function toGroupSource(
  group: Group,
  {
    keys,
    selection,
    fields,
  }: {
    readonly keys: readonly KeyField[];
    readonly selection: GroupSelection;
    readonly fields: AggregateFields;
  },
): object {
  const key = Object.fromEntries(
    keys.map(({ name, value }, index) => [name, toOutput(group.keys[index] ?? null, value)]),
  );
  const source: Record<string, unknown> = { key };
  const members = new Map<string, Record<string, unknown>>();
  for (const { name } of fields.own) {
    const own: Record<string, unknown> = {};
    members.set(name, own);
    source[name] = own;
  }
  selection.measures.forEach(({ place: [name, field], value }, index) => {
    const output = toOutput(group.measures[index] ?? null, value);
    const own = members.get(name);
    if (own && field !== undefined) own[field] = output;
    else source[name] = output;
  });
  return source;
}

/** Converts a value of a group for its scalar. */
function toOutput(json: JsonValue, { kind }: AggregateValue): unknown {
  const isPlainNumber = kind === 'year' || (isScalarName(kind) && SCALAR_FORMS[kind].printed === 'number');
  return isPlainNumber && isExactNumber(json) ? Number(json.toString()) : json;
}
