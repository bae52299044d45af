/** The fields that a mapping names. */
import { invalidAt, ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { columnsOfRecords, REST_HEADING, type RecordColumn } from '../exporting/record-columns.js';
import { DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS } from './cells/day-formats.js';
import type { ImportMapping } from './import-mapping.js';

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
  return [...new Set(names)].filter((name) => name !== '' && name !== '_id' && name !== REST_HEADING);
}

/** The meaning of a field of a mapping in a collection. */
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
  if (kind === 'number' || kind === 'decimal') return NUMBER_FORMATS;
  if (kind === 'date') return DAY_FORMATS;
  return kind === 'datetime' ? INSTANT_FORMATS : [];
}

/** The fault of a parameter of an import: what is wrong with it, and what would be right. */
export function invalidImport(
  parameter: string,
  detail: string,
  expected: string,
  sent?: string,
): ServiceError {
  return invalidAt(`${parameter}: ${detail}; expected: ${expected}`, {
    parameter,
    detail,
    expected,
    ...(sent !== undefined && { sent: sent.slice(0, 100) }),
  });
}

/** An import that does not exist, or that its caller may not see. */
export function noImport(id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no import "${id.slice(0, 50)}"`);
}
