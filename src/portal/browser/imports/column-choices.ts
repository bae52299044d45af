/**
 * The possible targets of a column: the fields of a collection, and fields that identify the target of a
 * reference.
 */
import type { ImportFieldFragment, ImportFieldsQuery } from '../../../generated/portal/imports/imports';
import {
  DAY_EXAMPLES,
  INSTANT_FORMATS,
  NUMBER_EXAMPLES,
} from '../../../services/importing/cells/day-formats.js';

export type ImportCollection = ImportFieldsQuery['collections'][number];

export interface ColumnChoice {
  /** The path in a mapping: `guardian.phone`, `student.sequence`. */
  readonly path: string;
  readonly label: string;
  readonly field: ImportFieldFragment | undefined;
}

/** `nameOf` returns the label of a field. */
export function columnChoices(
  collection: ImportCollection,
  collections: readonly ImportCollection[],
  nameOf: (name: string) => string,
): readonly ColumnChoice[] {
  return [
    { path: '_id', label: '_id', field: undefined },
    ...collection.fields.flatMap((field) => choicesOf(field, collections, nameOf)),
  ];
}

function choicesOf(
  field: ImportCollection['fields'][number],
  collections: readonly ImportCollection[],
  nameOf: (name: string) => string,
): readonly ColumnChoice[] {
  const { name, type, isList, targets } = field;
  const label = nameOf(name);
  if (type === 'object' && !isList && field.fields.length > 0) {
    return field.fields.map((member) => ({
      path: `${name}.${member.name}`,
      label: `${label}: ${nameOf(member.name)}`,
      field: member,
    }));
  }
  if (type !== 'reference') return [{ path: name, label, field }];
  const found = collections.filter((one) => targets.includes(one.name)).flatMap((one) => one.fields);
  const keys = new Set(found.filter((one) => one.isUnique && one.type !== 'object').map((one) => one.name));
  return [
    { path: name, label: `${label} (_id)`, field },
    ...[...keys].map((key) => ({
      path: `${name}.${key}`,
      label: `${label}: ${nameOf(key)}`,
      field: undefined,
    })),
  ];
}

/** The months that the numbered days of a register may be of. */
const MONTHS_BACK = 12;

/** The formats of cells for the field, with an example each; for numbers, the months of their days. */
export function formatChoices(
  field: ImportFieldFragment | undefined,
  likely?: string,
): readonly (readonly [string, string])[] {
  if (field?.type === 'number') return Object.entries(NUMBER_EXAMPLES);
  if (field?.type !== 'datetime') return [];
  const examples: Readonly<Record<string, string>> = DAY_EXAMPLES;
  const isDay = String(field.example ?? '').length === 10;
  const formats = isDay ? Object.keys(DAY_EXAMPLES) : INSTANT_FORMATS;
  const today = new Date();
  const months = Array.from({ length: likely === 'integer' ? MONTHS_BACK : 0 }, (_, back) =>
    new Date(Date.UTC(today.getFullYear(), today.getMonth() - back)).toISOString().slice(0, 7),
  );
  return [...formats, ...months].map((format) => [format, examples[format] ?? format]);
}

/** The value in the form that the gateway accepts: JSON for these fields, and text for all others. */
export function fixedValueOf(text: string, field: ImportFieldFragment | undefined): unknown {
  if (field?.type !== 'number' && field?.type !== 'boolean') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
