/** The types of imports. */

import {
  argumentsType,
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { connectionType } from '../connection.js';
import { PAGE_ARGUMENTS } from '../page-arguments.js';

export const ImportStateValue = enumType('ImportState', 'The state of an import.', {
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
  failed: 'It failed. `fault` says why.',
  cancelled: 'It was stopped. The rows written before remain.',
});
export type ImportStateValue = ValueOf<typeof ImportStateValue>;

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
  column: nullable.text('The column it stands in.'),
  detail: member.text('What is wrong, and what would be right.'),
  expected: nullable.text('A valid value.'),
  sent: nullable.json('The value found.'),
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
  inspection: nullable.json('The detected format, encoding, header and columns of the file.'),
  mapping: nullable.json('The field of each column.'),
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
  scripts: nullable.json('The scripts that run before and after its writes.'),
  fault: nullable.json('Why it failed: code, detail, errors.'),
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

export const ImportConnection = connectionType('Import', ImportResult, {
  page: 'A page of imports, the newest first.',
  one: 'An import',
  many: 'The imports',
});
export type ImportConnection = ValueOf<typeof ImportConnection>;

export const ImportMappingResult = objectType('ImportMapping', 'A saved mapping.', {
  name: member.text('Its name.'),
  collection: member.text('The collection it is for.'),
  mapping: member.json('The field of each column.'),
  savedBy: member.id('Who saved it.'),
  savedAt: member.instant('When it was saved.'),
});
export type ImportMappingResult = ValueOf<typeof ImportMappingResult>;

export const ImportsArguments = argumentsType({
  ...PAGE_ARGUMENTS,
  state: nullable.of(ImportStateValue, 'Only imports in this state.'),
});
export type ImportsArguments = ValueOf<typeof ImportsArguments>;

export const ImportOptionsInput = inputType(
  'ImportOptionsInput',
  'How the rows of a file are written. What is left out stays as it is.',
  {
    mode: nullable.of(ImportModeValue, 'Default: ATOMIC.'),
    by: nullable.text(
      'What tells records apart: `_id`, a unique field, a rule of fields unique together, or these fields ' +
        'separated by commas. Default: what the file has.',
    ),
    missing: nullable.of(ImportMissingValue, 'Default: KEEP.'),
    triggers: nullable.list(ImportTriggerValue, 'Default: none.'),
  },
);
export type ImportOptionsInput = ValueOf<typeof ImportOptionsInput>;
