/** Inspects the file of an import and proposes a mapping. */
import type { Collection } from '../../base/model/collection.js';
import { doubtsOfMapping } from './doubts-of-mapping.js';
import type { ImportMapping } from './import-mapping.js';
import { inspectOnThread } from './preparing/inspect-on-thread.js';
import { proposeKey, proposeMapping } from './propose-mapping.js';
import type { ImportInspection, ImportOptions, StoredImport } from './stored-import.js';

export interface Inspected {
  readonly inspection: ImportInspection;
  readonly mapping: ImportMapping;
  readonly options: ImportOptions;
}

/** Inspects the file; writes nothing. A saved mapping that the caller has chosen stays. */
export async function inspectImport(asked: {
  readonly one: StoredImport;
  readonly collection: Collection;
  /** Finds the target of a reference; `undefined` if the caller may not know of it. */
  readonly collectionOf: (name: string) => Collection | undefined;
  readonly file: string;
  readonly signal: AbortSignal;
}): Promise<Inspected> {
  const { one, collection, collectionOf, file, signal } = asked;
  const start = { file: { path: file, name: one.name }, source: one.source };
  const { tableColumns, inspection } = await inspectOnThread(start, signal);
  const { columns: found, ...others } = inspection;
  // The members of documents are named after fields already.
  const proposed =
    tableColumns === undefined
      ? { columns: [], fixed: {} }
      : proposeMapping(collection, { columns: tableColumns, found }, collectionOf);
  const mapping = one.mapping ?? proposed;
  return {
    inspection: {
      ...others,
      warnings: [...others.warnings, ...doubtsOfMapping(collection, mapping, found)],
      columns: tableColumns,
      found,
    },
    mapping,
    options: { ...one.options, by: one.options.by || proposeKey(collection, mapping, found) },
  };
}
