/**
 * A mapping says what becomes of each column of a file. It is proposed from the file, corrected by a person,
 * and may be kept by name.
 */

import { z } from 'zod';
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import { isMonth } from '../../base/model/calendar.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { columnsOfRecords, isRestHeading, type RecordColumn } from '../exporting/record-columns.js';
import { DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS } from './cells/day-formats.js';
import type { CellPart } from './cells/part-of-cell.js';
import type { SourceOptions } from './reading/row-source.js';

export interface ColumnMapping {
  /** The column of the file; of documents, a member of the first level. */
  readonly column: string;
  /** The field, e.g. `address.city`, `_id`, or `student.admission_no`; `null`: the column is skipped. */
  readonly field: string | null;
  /** The part of its cells for this field; a column is mapped once per part. Default: the whole cell. */
  readonly part?: CellPart | undefined;
  /** How days and numbers are written, e.g. `DD/MM/YYYY`. Default: as this service writes them. */
  readonly format?: string | undefined;
  /** Replacements of values of the file. */
  readonly values?: Readonly<Record<string, JsonValue>> | undefined;
  /** A reference: the field of its target that the file has instead of the `_id`. */
  readonly by?: string | undefined;
  /** Cells that count as empty, such as `-` and `N/A`, in any case. */
  readonly blank?: readonly string[] | undefined;
  /** Confirms that a column with values goes to no field. */
  readonly leftOut?: true | undefined;
  /** Confirms that the field is not declared. */
  readonly undeclared?: true | undefined;
  /** What an empty cell does to an existing record. Default: the field stays as it is. */
  readonly empty?: 'leave' | 'remove' | undefined;
}

export interface ImportMapping {
  readonly columns: readonly ColumnMapping[];
  /** Fields that have the same value in every record. */
  readonly fixed: JsonObject;
  /** For documents: what happens to members that no column names. Default: they are kept. */
  readonly others?: 'keep' | 'leave out' | undefined;
}

/** The kind of value at a path of a mapping. */
export type MappingTarget =
  | { readonly kind: 'id' }
  /** An object with everything that no column can represent, as exports write it. */
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

/** The top-level fields that a mapping may set; of documents whose members are kept, those that are named. */
export function fieldsOfMapping(mapping: ImportMapping): readonly string[] {
  const paths = [...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)];
  const names = paths.flatMap((path) => (path === null ? [] : [path.split('.')[0] ?? '']));
  return [...new Set(names)].filter((name) => name !== '' && name !== '_id' && !isRestHeading(name));
}

/** What a field of a mapping means in a collection. */
export function targetOf(field: string, by: string | undefined, collection: Collection): MappingTarget {
  if (field === '_id') return { kind: 'id' };
  if (isRestHeading(field)) return { kind: 'rest' };
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

/** The reference within a path, and the number of steps to it. */
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

/** The formats of the cells of a kind. */
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

/** A mapping as it was stored. */
export function toImportMapping(stored: JsonValue | undefined): ImportMapping | undefined {
  return isJsonObject(stored) ? (stored as unknown as ImportMapping) : undefined;
}

/** The fault of a parameter of an import: what is wrong with it, and what would be right. */
export function invalidImport(
  parameter: string,
  detail: string,
  expected: string,
  sent?: string,
): ServiceError {
  return new ServiceError('INVALID_VALUE', `${parameter}: ${detail}; expected: ${expected}`, {
    errors: [{ parameter, detail, expected, ...(sent !== undefined && { sent: sent.slice(0, 100) }) }],
  });
}

/** An import that does not exist, or that its caller may not see. */
export function noImport(id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no import "${id.slice(0, 50)}"`);
}

const MAX_COLUMNS = 2_000;
const NAME = z.string().min(1).max(500);

const MAX_PARTS = 20;
const MAX_BLANKS = 50;
/** A request has its numbers with their digits, of which these need none that a float does not hold. */
const upToMost = (least: number) =>
  z.preprocess(
    (sent) => (isExactNumber(sent) ? Number(sent.value) : sent),
    z.int().min(least).max(MAX_PARTS),
  );

const PART = z
  .strictObject({ separator: z.string().max(10), number: upToMost(1), of: upToMost(2) })
  .refine(({ number, of }) => number <= of, 'a part has a number up to that of all parts');

const COLUMN = z.strictObject({
  column: NAME,
  field: NAME.nullable(),
  part: PART.optional(),
  format: z.string().min(1).max(100).optional(),
  values: z.record(z.string(), z.json()).optional(),
  by: NAME.optional(),
  blank: z.array(z.string().min(1).max(100)).max(MAX_BLANKS).optional(),
  leftOut: z.literal(true).optional(),
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

/** A fault at a place of the mapping. */
function faultAt(pointer: string, detail: string, more: Partial<ErrorDetail> = {}): ErrorDetail[] {
  return [{ pointer, detail: `${pointer}: ${detail}`, ...more }];
}

function findColumnFaults(mapping: ImportMapping, columns: readonly string[] | undefined): ErrorDetail[] {
  const seen = new Set<string>();
  return mapping.columns.flatMap(({ column, part }, index): ErrorDetail[] => {
    const pointer = `/columns/${index}/column`;
    const named = `${part === undefined ? '' : `part ${part.number} of `}the column "${column}"`;
    if (seen.has(named)) return faultAt(pointer, `${named} is mapped twice`);
    seen.add(named);
    if (columns === undefined || columns.includes(column)) return [];
    const detail = `the file has no column "${column}".${didYouMean(column, columns)}`;
    return faultAt(pointer, detail, { expected: columns.slice(0, 50).join(', '), sent: column });
  });
}

function faultsOfColumn(one: ColumnMapping, pointer: string, collection: Collection): ErrorDetail[] {
  const { field: sent } = one;
  if (sent === null) return [];
  if (one.leftOut)
    return faultAt(pointer, 'a column that is left out goes to no field', {
      expected: '"field": null',
      sent,
    });
  const mapped = { ...one, field: sent };
  return [
    ...faultsOfField(mapped, `${pointer}/field`, collection),
    ...faultsOfFormat(mapped, `${pointer}/format`, collection),
  ];
}

function faultsOfField(
  { field: sent, by, undeclared }: { readonly field: string } & Pick<ColumnMapping, 'by' | 'undeclared'>,
  pointer: string,
  collection: Collection,
): ErrorDetail[] {
  if (sent.split('.').includes(''))
    return faultAt(pointer, `"${sent}" is no path of fields`, { expected: 'e.g. address.city', sent });
  const target = targetOf(sent, by, collection);
  if (by !== undefined && target.kind !== 'reference')
    return faultAt(pointer, `"${sent}" is no reference, so nothing is found by "${by}"`, { sent });
  if (target.kind !== 'undeclared') return [];
  const [name = ''] = target.path;
  const { fieldsByName, fields } = collection;
  const known = fieldsByName.get(name);
  // Objects without declared members, and undeclared fields, may hold anything.
  if (known !== undefined && known.type !== 'object')
    return faultAt(pointer, `the field "${name}" of ${collection.name} has no members`, {
      expected: name,
      sent,
    });
  if (known !== undefined || fields.length === 0 || undeclared) return [];
  const hint = didYouMean(name, fieldsByName.keys()) || ' Say "undeclared": true if it is meant.';
  const expected = [...fieldsByName.keys()].join(', ');
  return faultAt(pointer, `${collection.name} declares no field "${name}".${hint}`, { expected, sent });
}

function faultsOfFormat(
  { field, by, format }: ColumnMapping & { readonly field: string },
  pointer: string,
  collection: Collection,
): ErrorDetail[] {
  if (format === undefined) return [];
  const target = targetOf(field, by, collection);
  const known = target.kind === 'value' ? formatsOf(target.column.kind) : [];
  const isDay = target.kind === 'value' && /^date/.test(target.column.kind);
  if (known.includes(format) || (isDay && isMonth(format))) return [];
  const expected =
    known.length === 0
      ? 'none: it is neither a day nor a number'
      : `one of ${known.join(', ')}${isDay ? ', or a month such as 2026-11' : ''}`;
  const detail = `"${format}" is no format of ${field}; expected: ${expected}`;
  return faultAt(pointer, detail, { expected, sent: format });
}

function findDoubleFields({ columns, fixed }: ImportMapping): ErrorDetail[] {
  const byField = new Map<string, string>();
  return columns.flatMap(({ column, field: sent }, index): ErrorDetail[] => {
    if (sent === null) return [];
    const pointer = `/columns/${index}/field`;
    const other = byField.get(sent);
    byField.set(sent, column);
    const expected = 'one column for each field';
    if (other !== undefined)
      return faultAt(pointer, `"${sent}" is filled from "${other}" already`, { expected, sent });
    return Object.hasOwn(fixed, sent)
      ? faultAt(pointer, `"${sent}" has a fixed value already`, { sent })
      : [];
  });
}

function invalid(errors: readonly ErrorDetail[]): ServiceError {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = `the mapping is not right: ${errors[0]?.detail ?? ''}${more}`;
  return new ServiceError('INVALID_VALUE', detail, { errors: errors.slice(0, 100) });
}

const FORMATS = ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'ejson', 'bson'] as const;

const OPTIONS = z.strictObject({
  format: z.enum(FORMATS).optional(),
  encoding: z.string().min(1).max(40).optional(),
  delimiter: z.string().length(1).optional(),
  sheet: z.string().min(1).max(100).optional(),
  header: z.union([z.literal('none'), z.coerce.number().int().min(1).max(1_000_000)]).optional(),
});

/** @throws INVALID_VALUE naming what is wrong and what would be right */
export function parseSourceOptions(sent: JsonValue): SourceOptions {
  const parsed = OPTIONS.safeParse(sent);
  if (parsed.success) {
    const entries = Object.entries(parsed.data).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries) as SourceOptions;
  }
  const errors = parsed.error.issues.map(({ path, message }) => ({
    parameter: path.join('.') || 'source',
    detail: message,
    expected: `format (${FORMATS.join(', ')}), encoding, delimiter, sheet, header (a row, or none)`,
  }));
  const [first] = errors;
  throw new ServiceError('INVALID_VALUE', `${first?.parameter}: ${first?.detail}`, { errors });
}
