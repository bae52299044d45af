/** Reads the mapping and the options of a file that a caller sends. */

import { z } from 'zod';
import { andMore, type ErrorDetail, ServiceError } from '../../base/errors.js';
import { defined, type JsonValue } from '../../base/json/json.js';
import { isMonth } from '../../base/model/calendar.js';
import type { Collection } from '../../base/model/collection.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { type ColumnMapping, type ImportMapping, MAPPING } from './import-mapping.js';
import { formatsOf, targetOf } from './mapping-target.js';
import { SOURCE_FORMATS, type SourceOptions } from './reading/row-source.js';

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
  const mapping = parsed.data;
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
    return faultAt(pointer, 'a column that is left out cannot have a field', {
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
    return faultAt(pointer, `"${sent}" is not a path of fields`, { expected: 'e.g. address.city', sent });
  const target = targetOf(sent, by, collection);
  if (by !== undefined && target.kind !== 'reference')
    return faultAt(pointer, `"${sent}" is not a reference, so it cannot be found by "${by}"`, { sent });
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
  const hint = didYouMean(name, fieldsByName.keys()) || ' Give "undeclared": true if it is intended.';
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
  const detail = `"${format}" is not a format of ${field}; expected: ${expected}`;
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
  const detail = `the mapping is not right: ${errors[0]?.detail ?? ''}${andMore(errors)}`;
  return new ServiceError('INVALID_VALUE', detail, { errors: errors.slice(0, 100) });
}

const OPTIONS = z.strictObject({
  format: z.enum(SOURCE_FORMATS).optional(),
  encoding: z.string().min(1).max(40).optional(),
  delimiter: z.string().length(1).optional(),
  sheet: z.string().min(1).max(100).optional(),
  header: z.union([z.literal('none'), z.coerce.number().int().min(1).max(1_000_000)]).optional(),
});

/** @throws INVALID_VALUE naming what is wrong and what would be right */
export function parseSourceOptions(sent: JsonValue): SourceOptions {
  const parsed = OPTIONS.safeParse(sent);
  if (parsed.success) return defined(parsed.data);
  const errors = parsed.error.issues.map(({ path, message }) => ({
    parameter: path.join('.') || 'source',
    detail: message,
    expected: `format (${SOURCE_FORMATS.join(', ')}), encoding, delimiter, sheet, header (a row, or none)`,
  }));
  const [first] = errors;
  throw new ServiceError('INVALID_VALUE', `${first?.parameter}: ${first?.detail}`, { errors });
}
