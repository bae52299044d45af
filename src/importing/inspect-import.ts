/** What is found in the file of an import, and the mapping that is proposed for it. */
import type { Collection } from '../model/collection.js';
import type { ImportMapping } from './import-mapping.js';
import { proposeKey, proposeMapping } from './propose-mapping.js';
import { openRowSource } from './reading/open-row-source.js';
import type { ImportInspection, ImportOptions, StoredImport } from './stored-import.js';

export interface Inspected {
  readonly inspection: ImportInspection;
  readonly mapping: ImportMapping;
  readonly options: ImportOptions;
}

/** Looks into the file; writes nothing. A mapping that was chosen by its name stays. */
export async function inspectImport(asked: {
  readonly one: StoredImport;
  readonly collection: Collection;
  readonly file: string;
  readonly signal: AbortSignal;
}): Promise<Inspected> {
  const { one, collection, file } = asked;
  const rows = await openRowSource({ path: file, name: one.name }, one.source);
  const { format, encoding, delimiter, sheet, sheets, header, columns, warnings } = rows;
  const mapping = one.mapping ?? proposeMapping(collection, columns ?? []);
  return {
    inspection: { format, encoding, delimiter, sheet, sheets, header, columns, warnings },
    mapping,
    options: { ...one.options, by: one.options.by || proposeKey(collection, mapping) },
  };
}
