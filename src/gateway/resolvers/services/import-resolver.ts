/** The door to imports, except the bytes of their files, which go by `POST /imports` or `POST /files`. */
import {
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import type { Imports } from '../../../services/importing/imports.js';
import { parseSourceOptions } from '../../../services/importing/parse-mapping.js';
import type { RefusedRow } from '../../../services/importing/preparing/row-preparer.js';
import {
  changesOf,
  fingerprintOf,
  type ImportOptions,
  type StoredImport,
} from '../../../services/importing/stored-import.js';
import { connectionType, toConnection } from '../connection.js';
import { FORCE_ARGUMENT, PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const ImportStateValue = enumType('ImportState', 'The state of an import.', {
  received: 'The file was received.',
  inspecting: 'The file is being analysed.',
  ready: 'It has a mapping, which can be corrected, tried and run.',
  trying: 'The dry run is in progress.',
  tried: 'The dry run has finished.',
  waiting: 'It waits for its turn to run.',
  running: 'It is writing records.',
  done: 'It has written its records.',
  undoing: 'Its changes are being undone.',
  undone: 'Its changes were undone.',
  failed: 'It failed. `fault` has the reason.',
  cancelled: 'It was stopped. The rows written before remain.',
});

export const ImportModeValue = enumType(
  'ImportMode',
  'What to do with the valid rows of a file that also has invalid rows.',
  {
    atomic: 'All rows are written, or none.',
    rows: 'The valid rows are written, the others are reported.',
  },
);
export type ImportModeValue = ValueOf<typeof ImportModeValue>;

export const ImportMissingValue = enumType(
  'ImportMissing',
  'What to do with records that are not in the file.',
  {
    keep: 'They are kept.',
    remove: 'They are removed: the file is the full list.',
  },
);
export type ImportMissingValue = ValueOf<typeof ImportMissingValue>;

export const ImportTriggerValue = enumType(
  'ImportTrigger',
  'Scripts that run for the records of an import.',
  {
    before: 'Scripts that run before a write.',
    after: 'Scripts that start after a write.',
  },
);
export type ImportTriggerValue = ValueOf<typeof ImportTriggerValue>;

const ImportCountsResult = objectType('ImportCounts', 'The counts of the rows of a file.', {
  rows: member.whole('Rows processed.'),
  created: member.whole('Rows whose records are new.'),
  updated: member.whole('Rows whose records existed and were changed.'),
  same: member.whole('Rows whose records existed and are unchanged.'),
  refused: member.whole('Invalid rows.'),
  removed: member.whole('Removed records that are not in the file.'),
});

const ImportFieldChangeResult = objectType('ImportFieldChange', 'The change of a field.', {
  field: member.text('The field.'),
  before: nullable.json('The value that the record has.'),
  after: nullable.json('The value that it would get.'),
});

const ImportPreviewResult = objectType('ImportPreview', 'The outcome of a row.', {
  number: member.whole('The row, as the program that made the file counts it.'),
  outcome: member.text('create, update, same or error.'),
  fields: nullable.texts('For an update: the changed fields.'),
  changes: nullable.list(
    ImportFieldChangeResult,
    'For an update: the old and the new value of each changed field that you may read.',
  ),
  recordId: nullable.id('For an update or an unchanged row: the existing record.'),
  label: nullable.text('The label that the row gives its record.'),
});

const ImportChangedFieldResult = objectType('ImportChangedField', 'How often a field changes.', {
  field: member.text('The field.'),
  records: member.whole('The number of records.'),
  overwritten: member.whole('The number of these that have a value there, which would be overwritten.'),
});

const ImportTrialResult = objectType('ImportTrial', 'The result of a dry run.', {
  counts: member.of(ImportCountsResult, 'The counts of the rows.'),
  fields: member.list(ImportChangedFieldResult, 'The fields that would change.'),
  preview: member.list(ImportPreviewResult, 'The outcome of the first rows.'),
  isCurrent: member.flag('It was made with the mapping and options that the import has now.'),
});

const ImportRowFaultResult = objectType('ImportRowFault', 'What is wrong with a row.', {
  column: nullable.text('The column with the error.'),
  detail: member.text('The error, and the expected value.'),
  expected: nullable.text('A valid value.'),
  sent: nullable.anyJson('The value found.'),
});

export const ImportErrorResult = objectType('ImportError', 'An invalid row.', {
  number: member.whole('The row, as the program that made the file counts it.'),
  faults: member.list(ImportRowFaultResult, 'What is wrong with it.'),
  source: member.texts('Its cells, as in the file.'),
});
export type ImportErrorResult = ValueOf<typeof ImportErrorResult>;

export const ImportResult = objectType('Import', 'An import of a file into a collection.', {
  id: member.id('Identifies the import. Increases with time.'),
  collection: member.text('The collection that receives the records.'),
  state: member.of(ImportStateValue, 'Its state.'),
  name: member.text('The name of the file.'),
  fileId: member.id('The file.'),
  inspection: nullable.anyJson('The detected format, encoding, header and columns of the file.'),
  mapping: nullable.anyJson('The field of each column.'),
  mode: member.of(ImportModeValue, 'Whether to write all rows or none, or only the valid ones.'),
  by: member.text(
    'The key that identifies existing records: `_id`, a unique field, or a rule of ' + 'several fields.',
  ),
  missing: member.of(ImportMissingValue, 'What to do with records that are not in the file.'),
  triggers: member.list(ImportTriggerValue, 'Which scripts run for its records.'),
  counts: member.of(ImportCountsResult, 'The counts of rows in the current step.'),
  rowCount: nullable.whole('The number of rows in the file, once known.'),
  trial: nullable.of(ImportTrialResult, 'The result of the last dry run.'),
  changeIds: member.texts(
    'The changes to pass to `undoChange`, one for each part of the import that was not ' +
      'undone. Undo the last one first.',
  ),
  scripts: nullable.anyJson('The scripts that run before and after its writes.'),
  fault: nullable.anyJson('Why it failed: code, detail, errors.'),
  createdBy: member.id('The user who requested it.'),
  createdAt: member.instant('When the file was received.'),
  startedAt: nullable.instant('When the current or the last step began.'),
  endedAt: nullable.instant('When it ended.'),
});
export type ImportResult = ValueOf<typeof ImportResult>;

const ImportUndoConflict = objectType(
  'ImportUndoConflict',
  'A record that was changed after the import and prevents undoing it.',
  {
    id: member.id('The id of the record.'),
    version: nullable.whole('The version that the change made; null: it is gone.'),
    at: nullable.instant('When it was changed.'),
  },
);

export const ImportUndoPreview = objectType('ImportUndoPreview', 'The effect of undoing an import.', {
  removed: member.whole('The number of created records, which would be removed.'),
  changed: member.whole('The number of changed records, which would be reverted.'),
  broughtBack: member.whole('The number of removed records, which would be restored.'),
  conflictCount: member.whole(
    'The number of records that were changed later. If there are any, nothing is undone.',
  ),
  conflicts: member.list(ImportUndoConflict, 'The first 100 of them.'),
  usedBy: member.texts(
    'The number of records that point to created ones, by collection, e.g. "3 records of fee_due point ' +
      'to it (student)". If there are any, nothing is undone.',
  ),
});
export type ImportUndoPreview = ValueOf<typeof ImportUndoPreview>;

const ImportConnection = connectionType('Import', ImportResult, {
  page: 'A page of imports, the newest first.',
  one: 'An import',
  many: 'The imports',
});

export const ImportMappingResult = objectType('ImportMapping', 'A saved mapping.', {
  name: member.text('Its name.'),
  collection: member.text('The collection it is for.'),
  mapping: member.anyJson('The field of each column.'),
  savedBy: member.id('Who saved it.'),
  savedAt: member.instant('When it was saved.'),
});
export type ImportMappingResult = ValueOf<typeof ImportMappingResult>;

export const ImportOptionsInput = inputType(
  'ImportOptionsInput',
  'How the rows of a file are written. Options that are left out stay unchanged.',
  {
    mode: nullable.of(ImportModeValue, 'Default: ATOMIC.'),
    by: nullable.text(
      'The key of records: `_id`, a unique field, a rule of fields unique together, or these fields ' +
        'separated by commas. Default: what the file has.',
    ),
    missing: nullable.of(ImportMissingValue, 'Default: KEEP.'),
    triggers: nullable.list(ImportTriggerValue, 'Default: none.'),
  },
);
export type ImportOptionsInput = ValueOf<typeof ImportOptionsInput>;

/** Errors in a list; the CSV has all of them. */
const MOST_ERRORS = 1_000;
const MOST_CHANGE_IDS = 2_000;

interface ImportServices {
  readonly imports: Imports;
  readonly pages: PageSizes;
}

const IMPORT = { id: member.id('The id of the import.') };
const WRITTEN = { options: nullable.of(ImportOptionsInput, 'How it is written.') };

export const ImportResolver = serviceResolver(({ query, mutation }: FieldRows<ImportServices>) => ({
  import: query(
    member.of(
      ImportResult,
      'An import by its id: your own, or for an admin any of the domain. Errors: NOT_FOUND.',
    ),
    IMPORT,
    async ({ imports }, scope, { id }) => toImportResult(await imports.get(scope, id)),
  ),
  imports: query(
    member.of(ImportConnection, 'Your imports, the newest first; for an admin all of the domain.'),
    { ...PAGE_ARGUMENTS, state: nullable.of(ImportStateValue, 'Only imports in this state.') },
    async ({ imports, pages }, scope, sent) => {
      const found = await imports.list(scope, { state: sent.state, ...toPageRequest(sent, pages) });
      return toConnection(found, { toNode: toImportResult, cursorOf: ({ id }) => id });
    },
  ),
  importErrors: query(
    member.list(
      ImportErrorResult,
      'The first rows that the last step refused, in the order of the file. Errors: NOT_FOUND.',
    ),
    {
      ...IMPORT,
      first: nullable.whole(`The most rows to return; default and most: ${MOST_ERRORS}.`),
    },
    async ({ imports }, scope, { id, first }) => {
      const limit = Math.min(Math.max(first ?? MOST_ERRORS, 0), MOST_ERRORS);
      return (await imports.listErrors(scope, id, limit)).map(toErrorResult);
    },
  ),
  importMappings: query(
    member.list(ImportMappingResult, 'The mappings that were saved for collections you may import into.'),
    { collection: nullable.text('Only those for this collection.') },
    ({ imports }, scope, { collection }) => imports.mappings.list(scope, collection),
  ),
  createImport: mutation(
    member.of(
      ImportResult,
      'Starts an import of a stored file, and analyses the file. Needs one of the roles of ' +
        'the setting IMPORT_ROLES, and the rights to read, create and update records of the ' +
        'collection. Errors: FORBIDDEN, NOT_FOUND, INVALID_VALUE, TOO_LARGE.',
    ),
    {
      collection: member.text('The collection that receives the records.'),
      fileId: member.id('The file, stored by `POST /files`.'),
      mapping: nullable.text('The name of a saved mapping.'),
      source: nullable.json(
        'Known properties of the file: {"format", "encoding", "delimiter", "sheet", "header"}.',
      ),
      ...WRITTEN,
    },
    async ({ imports }, scope, { collection, fileId, mapping, source, options }) => {
      const written = toImportOptions(options);
      const known = { source: parseSourceOptions(source ?? {}), mapping, options: written };
      return toImportResult(await imports.create(scope, { collection, file: { fileId }, ...known }));
    },
  ),
  changeImport: mutation(
    member.of(
      ImportResult,
      'Corrects the mapping of an import, its options, or both, and saves the mapping by a name. Errors: ' +
        'INVALID_VALUE with every fault, FORBIDDEN, NOT_FOUND, CONFLICT while it is under way.',
    ),
    {
      ...IMPORT,
      mapping: nullable.json('The whole new mapping.'),
      ...WRITTEN,
      saveAs: nullable.text('A name under which to save the mapping.'),
    },
    async ({ imports }, scope, { id, mapping, options, saveAs }) =>
      toImportResult(await imports.change(scope, id, { mapping, options: toImportOptions(options), saveAs })),
  ),
  tryImport: mutation(
    member.of(
      ImportResult,
      'Starts the dry run: everything except the writes. Errors: FORBIDDEN, NOT_FOUND, ' +
        'INVALID_VALUE, CONFLICT while the import is running.',
    ),
    { ...IMPORT, ...WRITTEN },
    async ({ imports }, scope, { id, options }) =>
      toImportResult(await imports.dryRun(scope, id, toImportOptions(options))),
  ),
  runImport: mutation(
    member.of(
      ImportResult,
      'Starts writing the records. Two imports of a domain run at once; others wait. ' +
        'Errors: FORBIDDEN, NOT_FOUND, INVALID_VALUE, CONFLICT while the import is running, ' +
        'or if it would remove records and no dry run has counted them.',
    ),
    { ...IMPORT, ...WRITTEN },
    async ({ imports }, scope, { id, options }) =>
      toImportResult(await imports.start(scope, id, toImportOptions(options))),
  ),
  cancelImport: mutation(
    member.of(
      ImportResult,
      'Stops an import. The records written so far remain. Errors: FORBIDDEN, NOT_FOUND.',
    ),
    IMPORT,
    async ({ imports }, scope, { id }) => toImportResult(await imports.cancel(scope, id)),
  ),
  importUndoPreview: query(
    member.of(
      ImportUndoPreview,
      'The effect of `undoImport`, and what prevents it. Errors: NOT_FOUND, FORBIDDEN if ' +
        'you may not change the records.',
    ),
    IMPORT,
    ({ imports }, scope, { id }) => imports.previewUndo(scope, id),
  ),
  undoImport: mutation(
    member.of(
      ImportResult,
      'Starts undoing an import: removes the records it created, and restores those it ' +
        'changed or removed. Errors: CONFLICT naming records that were changed later, counting ' +
        'records that point to those it created, and while the import is running; FORBIDDEN, NOT_FOUND.',
    ),
    { ...IMPORT, force: FORCE_ARGUMENT },
    async ({ imports }, scope, { id, force }) => toImportResult(await imports.undo(scope, id, { force })),
  ),

  /** For REST: all refused rows, or the expected outcome of each row, as text. @throws NOT_FOUND */
  async csv(
    { imports }: ImportServices,
    context: RequestContext,
    of: 'errorsCsv' | 'outcomesCsv',
    id: string,
  ) {
    const scope = requireScope(context);
    await imports.get(scope, id);
    return imports[of](scope, id);
  },
}));

export function toImportResult(one: StoredImport): ImportResult {
  const { options, trial, triggers, ...others } = one;
  return {
    ...others,
    ...options,
    trial: trial && {
      ...trial,
      fields: Object.entries(trial.fields).map(([field, records]) => ({
        ...{ field, records },
        overwritten: trial.overwritten?.[field] ?? 0,
      })),
      isCurrent: trial.fingerprint === fingerprintOf(one),
    },
    changeIds: changesOf(one)
      .slice(-MOST_CHANGE_IDS)
      .map((number) => `${one.id}.${number}`),
    scripts: triggers,
  };
}

function toErrorResult({ number, errors, source }: RefusedRow): ImportErrorResult {
  return { number, faults: errors, source };
}

export function toImportOptions(sent: ImportOptionsInput | null | undefined): Partial<ImportOptions> {
  return {
    ...(sent?.mode && { mode: sent.mode }),
    ...(sent?.by && { by: sent.by }),
    ...(sent?.missing && { missing: sent.missing }),
    ...(sent?.triggers && { triggers: sent.triggers }),
  };
}
