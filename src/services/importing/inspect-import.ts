/** Inspects the file of an import and proposes a mapping. */
import type { Collection, Field } from '../../base/model/collection.js';
import type { Sought } from '../../store/writing/select-unlinked.js';
import type { LinkVerdicts } from '../../store/writing/settle-links.js';
import { doubtsOfMapping, warnOfUnknownNames } from './doubts-of-mapping.js';
import type { ImportMapping } from './import-mapping.js';
import { inspectOnThread } from './preparing/prepared-batches.js';
import { proposeKey, proposeMapping } from './propose-mapping.js';
import type { UnfoldedDays } from './reading/row-source.js';
import type { ImportInspection, ImportOptions, StoredImport } from './stored-import.js';

interface Inspected {
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
  /** Looks for names among the records. */
  readonly judge: (sought: readonly Sought[]) => Promise<LinkVerdicts>;
  readonly signal: AbortSignal;
}): Promise<Inspected> {
  const { one, collection, collectionOf, file, signal } = asked;
  const register = registerOf(collection);
  const mayUnfold = register !== undefined;
  const start = { file: { path: file, name: one.name }, source: one.source, mayUnfold };
  const { tableColumns, unfold, inspection } = await inspectOnThread(start, signal);
  const { columns: found, ...others } = inspection;
  // The members of documents are named after fields already.
  const proposed =
    tableColumns === undefined
      ? { columns: [], fixed: {} }
      : proposeMapping(
          collection,
          { columns: tableColumns, found, given: givenBy(unfold, register) },
          collectionOf,
        );
  const mapping = one.mapping ?? proposed;
  const unknown = await warnOfUnknownNames(collection, { mapping, found }, asked.judge);
  return {
    inspection: {
      ...others,
      warnings: [...others.warnings, ...doubtsOfMapping(collection, mapping, found), ...unknown],
      columns: tableColumns,
      ...(unfold !== undefined && { unfold }),
      found: found.map(({ values: _values, ...column }) => column),
    },
    mapping,
    options: { ...one.options, by: one.options.by || proposeKey(collection, mapping, found) },
  };
}

/** The fields of a register: the day or month of which a record exists once, and its one other value. */
interface Register {
  readonly day: string;
  readonly value: string;
}

function registerOf({ fields, fieldsByName, uniqueTogether }: Collection): Register | undefined {
  for (const { parts } of uniqueTogether) {
    const names = parts.map(({ path: [name = ''] }) => name);
    const day = parts.find(
      ({ path: [name = ''], by }) => by === 'day' || fieldsByName.get(name)?.format === 'month',
    );
    const isValue = ({ name, isRequired, allowed, type }: Field) =>
      isRequired && !names.includes(name) && (allowed !== undefined || type === 'number');
    const [value, ...others] = fields.filter(isValue);
    const [name] = day?.path ?? [];
    if (name !== undefined && value !== undefined && others.length === 0)
      return { day: name, value: value.name };
  }
  return undefined;
}

/** The fields of the columns that the days of a register are read as. */
function givenBy(
  unfold: UnfoldedDays | undefined,
  register: Register | undefined,
): ReadonlyMap<string, string> {
  if (unfold === undefined || register === undefined) return new Map();
  return new Map([
    [unfold.day, register.day],
    [unfold.value, register.value],
  ]);
}
