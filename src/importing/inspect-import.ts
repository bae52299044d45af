/** What is found in the file of an import, and the mapping that is proposed for it. */
import type { Collection } from '../model/collection.js';
import type { ImportMapping } from './import-mapping.js';
import { inspectOnThread } from './preparing/inspect-on-thread.js';
import { proposeKey, proposeMapping } from './propose-mapping.js';
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
  /** What references of the collection point at, as far as the caller may know of it. */
  readonly collectionOf: (name: string) => Collection | undefined;
  readonly file: string;
  readonly signal: AbortSignal;
}): Promise<Inspected> {
  const { one, collection, collectionOf, file, signal } = asked;
  const start = { file: { path: file, name: one.name }, source: one.source };
  const { tableColumns, inspection } = await inspectOnThread(start, signal);
  const { columns: found, ...others } = inspection;
  // Documents say by themselves which field a value is of.
  const proposed =
    tableColumns === undefined
      ? { columns: [], fixed: {} }
      : proposeMapping(collection, { columns: tableColumns, found }, collectionOf);
  const mapping = one.mapping ?? proposed;
  return {
    inspection: { ...others, columns: tableColumns, found },
    mapping,
    options: { ...one.options, by: one.options.by || proposeKey(collection, mapping, found) },
  };
}
