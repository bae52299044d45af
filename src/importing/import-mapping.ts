/**
 * A mapping says what becomes of each column of a file. It is proposed from the file, corrected by a person,
 * and may be kept by name.
 */
import { z } from 'zod';
import { didYouMean } from '../did-you-mean.js';
import { type ErrorDetail, ServiceError } from '../errors.js';
import { columnsOfRecords, REST_HEADING, type RecordColumn } from '../exporting/record-columns.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Collection } from '../model/collection.js';
import type { Path } from '../model/path.js';
import { DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS } from './cells/day-formats.js';

export interface ColumnMapping {
  /** The column of the file; of documents, a member of the first level. */
  readonly column: string;
  /** The field it goes to, e.g. `address.city`, `_id`, or `student.admission_no`; `null`: it is left out. */
  readonly field: string | null;
  /** How days and numbers are written, e.g. `DD/MM/YYYY`. Default: as this service writes them. */
  readonly format?: string | undefined;
  /** What other values stand for values of the file. */
  readonly values?: Readonly<Record<string, JsonValue>> | undefined;
  /** A reference: the field of its target that the file has instead of the `_id`. */
  readonly by?: string | undefined;
  /** The field is not declared, and meant all the same. */
  readonly undeclared?: true | undefined;
  /** What an empty cell means for a record that is there. Default: it is left as it is. */
  readonly empty?: 'leave' | 'remove' | undefined;
}

export interface ImportMapping {
  readonly columns: readonly ColumnMapping[];
  /** Fields that have the same value in every record. */
  readonly fixed: JsonObject;
  /** What becomes of members of documents that no column names. Default: they are kept. */
  readonly others?: 'keep' | 'leave out' | undefined;
}

/** What stands at the end of a mapping's path. */
export type MappingTarget =
  | { readonly kind: 'id' }
  /** An object with whatever no column holds, as exports write it. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'value'; readonly column: RecordColumn }
  | {
      readonly kind: 'reference';
      readonly path: Path;
      readonly targets: readonly string[];
      readonly by: string | undefined;
      readonly isList: boolean;
    }
  | { readonly kind: 'undeclared'; readonly path: Path };

const MAX_COLUMNS = 2_000;
const NAME = z.string().min(1).max(500);

const COLUMN = z.strictObject({
  column: NAME,
  field: NAME.nullable(),
  format: z.string().min(1).max(100).optional(),
  values: z.record(z.string(), z.json()).optional(),
  by: NAME.optional(),
  undeclared: z.literal(true).optional(),
  empty: z.enum(['leave', 'remove']).optional(),
});

const MAPPING = z.strictObject({
  columns: z.array(COLUMN).max(MAX_COLUMNS),
  fixed: z.record(NAME, z.json()).default({}),
  others: z.enum(['keep', 'leave out']).optional(),
});

/**
 * Reads a mapping for a collection and, where they are known, the columns of a file.
 *
 * @throws INVALID_VALUE with every fault and what would be right
 */
export function parseImportMapping(
  sent: JsonValue | undefined,
  collection: Collection,
  columns: readonly string[] | undefined,
): ImportMapping {
  const parsed = MAPPING.safeParse(sent);
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map(({ path, message }) => ({
        pointer: `/${path.join('/')}`,
        detail: `/${path.join('/')}: ${message}`,
        expected: '{"columns": [{"column", "field", …}], "fixed": {…}}',
      })),
    );
  }
  const mapping = parsed.data as ImportMapping;
  const faults = [
    ...findColumnFaults(mapping, columns),
    ...mapping.columns.flatMap((one, index) => faultsOfColumn(one, `/columns/${index}`, collection)),
    ...findDoubleFields(mapping),
    ...Object.keys(mapping.fixed).flatMap((field) => faultsOfField({ field }, `/fixed/${field}`, collection)),
  ];
  if (faults.length > 0) throw invalid(faults);
  return mapping;
}

/** The top-level fields that a mapping may set; of documents whose members are kept, those that are named. */
export function fieldsOfMapping(mapping: ImportMapping): readonly string[] {
  const paths = [...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)];
  const names = paths.flatMap((path) => (path === null ? [] : [path.split('.')[0] ?? '']));
  return [...new Set(names)].filter((name) => name !== '' && name !== '_id' && name !== REST_HEADING);
}

/** What a field of a mapping means in a collection. */
export function targetOf(field: string, by: string | undefined, collection: Collection): MappingTarget {
  if (field === '_id') return { kind: 'id' };
  if (field === REST_HEADING) return { kind: 'rest' };
  const path = field.split('.');
  const column = columnsOfRecords(collection, undefined, NOTHING_HIDDEN).find(
    ({ heading }) => heading === field,
  );
  if (column !== undefined) return { kind: 'value', column };
  const reference = findReference(path, collection);
  if (reference === undefined) return { kind: 'undeclared', path };
  const { depth, targets, isList } = reference;
  const rest = path.slice(depth);
  const place = { kind: 'reference', path: path.slice(0, depth), targets, isList } as const;
  if (rest.length === 0) return { ...place, by };
  return { ...place, by: by ?? rest.join('.') };
}

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** The reference on the way of a path, and how many steps lead to it. */
function findReference(path: Path, { fields }: Pick<Collection, 'fields'>) {
  let members = fields;
  for (const [index, step] of path.entries()) {
    const field = members.find(({ name }) => name === step);
    if (field === undefined) return undefined;
    if (field.type === 'reference') return { depth: index + 1, targets: field.targets, isList: field.isList };
    members = field.isList ? [] : field.fields;
  }
  return undefined;
}

function findColumnFaults(mapping: ImportMapping, columns: readonly string[] | undefined): ErrorDetail[] {
  const seen = new Set<string>();
  return mapping.columns.flatMap(({ column }, index): ErrorDetail[] => {
    const pointer = `/columns/${index}/column`;
    if (seen.has(column)) return [{ pointer, detail: `${pointer}: the column "${column}" is mapped twice` }];
    seen.add(column);
    if (columns === undefined || columns.includes(column)) return [];
    const detail = `${pointer}: the file has no column "${column}".${didYouMean(column, columns)}`;
    return [{ pointer, detail, expected: columns.slice(0, 50).join(', '), sent: column }];
  });
}

function faultsOfColumn(one: ColumnMapping, pointer: string, collection: Collection): ErrorDetail[] {
  const { field } = one;
  if (field === null) return [];
  return [
    ...faultsOfField({ ...one, field }, `${pointer}/field`, collection),
    ...faultsOfFormat({ ...one, field }, `${pointer}/format`, collection),
  ];
}

function faultsOfField(
  one: { readonly field: string } & Pick<ColumnMapping, 'by' | 'undeclared'>,
  pointer: string,
  collection: Collection,
): ErrorDetail[] {
  const { field, by } = one;
  if (field.split('.').includes('')) {
    return [
      {
        pointer,
        detail: `${pointer}: "${field}" is no path of fields`,
        expected: 'e.g. address.city',
        sent: field,
      },
    ];
  }
  const target = targetOf(field, by, collection);
  if (by !== undefined && target.kind !== 'reference') {
    return [
      {
        pointer,
        detail: `${pointer}: "${field}" is no reference, so nothing is found by "${by}"`,
        sent: field,
      },
    ];
  }
  if (target.kind !== 'undeclared') return [];
  const [name = ''] = target.path;
  const known = collection.fieldsByName.get(name);
  // Below an object without declared members, and beside the declared fields, a record holds anything.
  if (known !== undefined && known.type !== 'object') {
    const detail = `${pointer}: the field "${name}" of ${collection.name} has no members`;
    return [{ pointer, detail, expected: name, sent: field }];
  }
  if (known !== undefined || collection.fields.length === 0 || one.undeclared) return [];
  const hint = didYouMean(name, collection.fieldsByName.keys()) || ' Say "undeclared": true if it is meant.';
  const detail = `${pointer}: ${collection.name} declares no field "${name}".${hint}`;
  return [{ pointer, detail, expected: [...collection.fieldsByName.keys()].join(', '), sent: field }];
}

function faultsOfFormat(
  { field, by, format }: ColumnMapping & { readonly field: string },
  pointer: string,
  collection: Collection,
): ErrorDetail[] {
  if (format === undefined) return [];
  const target = targetOf(field, by, collection);
  const known = target.kind === 'value' ? formatsOf(target.column.kind) : [];
  if (known.includes(format)) return [];
  const expected =
    known.length === 0 ? 'none: it is neither a day nor a number' : `one of ${known.join(', ')}`;
  const detail = `${pointer}: "${format}" is no format of ${field}; expected: ${expected}`;
  return [{ pointer, detail, expected, sent: format }];
}

/** How the cells of a kind may be written. */
export function formatsOf(kind: RecordColumn['kind']): readonly string[] {
  switch (kind) {
    case 'number':
    case 'decimal':
      return NUMBER_FORMATS;
    case 'date':
      return DAY_FORMATS;
    case 'datetime':
      return INSTANT_FORMATS;
    default:
      return [];
  }
}

function findDoubleFields({ columns, fixed }: ImportMapping): ErrorDetail[] {
  const byField = new Map<string, string>();
  return columns.flatMap(({ column, field }, index): ErrorDetail[] => {
    if (field === null) return [];
    const pointer = `/columns/${index}/field`;
    const other = byField.get(field);
    byField.set(field, column);
    if (other !== undefined) {
      const detail = `${pointer}: "${field}" is filled from "${other}" already`;
      return [{ pointer, detail, expected: 'one column for each field', sent: field }];
    }
    if (!Object.hasOwn(fixed, field)) return [];
    return [{ pointer, detail: `${pointer}: "${field}" has a fixed value already`, sent: field }];
  });
}

function invalid(errors: readonly ErrorDetail[]): ServiceError {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = `the mapping is not right: ${errors[0]?.detail ?? ''}${more}`;
  return new ServiceError('INVALID_VALUE', detail, { errors: errors.slice(0, 100) });
}

/** A mapping as it was stored. */
export function toImportMapping(stored: JsonValue | undefined): ImportMapping | undefined {
  return isJsonObject(stored) ? (stored as unknown as ImportMapping) : undefined;
}
