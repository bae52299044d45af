/** The types of imports. */
import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';

export enum ImportStateValue {
  RECEIVED = 'received',
  INSPECTING = 'inspecting',
  READY = 'ready',
  TRYING = 'trying',
  TRIED = 'tried',
  WAITING = 'waiting',
  RUNNING = 'running',
  DONE = 'done',
  UNDOING = 'undoing',
  UNDONE = 'undone',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}
registerEnumType(ImportStateValue, {
  name: 'ImportState',
  description: 'The state of an import.',
  valuesConfig: {
    RECEIVED: { description: 'The file was received.' },
    INSPECTING: { description: 'The file is being analysed.' },
    READY: { description: 'It has a mapping, which can be corrected, tried and run.' },
    TRYING: { description: 'The dry run is in progress.' },
    TRIED: { description: 'The dry run has finished.' },
    WAITING: { description: 'It waits for its turn to run.' },
    RUNNING: { description: 'It is writing records.' },
    DONE: { description: 'It has written its records.' },
    UNDOING: { description: 'Its changes are being undone.' },
    UNDONE: { description: 'Its changes were undone.' },
    FAILED: { description: 'It failed. `fault` says why.' },
    CANCELLED: { description: 'It was stopped. The rows written before remain.' },
  },
});

export enum ImportModeValue {
  ATOMIC = 'atomic',
  ROWS = 'rows',
}
registerEnumType(ImportModeValue, {
  name: 'ImportMode',
  description: 'What to do with the valid rows of a file that also has invalid rows.',
  valuesConfig: {
    ATOMIC: { description: 'All rows are written, or none.' },
    ROWS: { description: 'The valid rows are written, the others are reported.' },
  },
});

export enum ImportMissingValue {
  KEEP = 'keep',
  REMOVE = 'remove',
}
registerEnumType(ImportMissingValue, {
  name: 'ImportMissing',
  description: 'What to do with records that are not in the file.',
  valuesConfig: {
    KEEP: { description: 'They are kept.' },
    REMOVE: { description: 'They are removed: the file is the full list.' },
  },
});

export enum ImportTriggerValue {
  BEFORE = 'before',
  AFTER = 'after',
}
registerEnumType(ImportTriggerValue, {
  name: 'ImportTrigger',
  description: 'Scripts that run for the records of an import.',
  valuesConfig: {
    BEFORE: { description: 'Scripts that run before a write.' },
    AFTER: { description: 'Scripts that start after a write.' },
  },
});

@ObjectType('ImportCounts', { description: 'The counts of the rows of a file.', simpleResolvers: true })
export class ImportCountsResult {
  @Field(() => Int, { description: 'Rows processed.' })
  readonly rows!: number;

  @Field(() => Int, { description: 'Rows whose records are new.' })
  readonly created!: number;

  @Field(() => Int, { description: 'Rows whose records existed and were changed.' })
  readonly updated!: number;

  @Field(() => Int, { description: 'Rows whose records existed and are unchanged.' })
  readonly same!: number;

  @Field(() => Int, { description: 'Invalid rows.' })
  readonly refused!: number;

  @Field(() => Int, { description: 'Removed records that are not in the file.' })
  readonly removed!: number;
}

@ObjectType('ImportFieldChange', { description: 'The change of a field.', simpleResolvers: true })
export class ImportFieldChangeResult {
  @Field(() => String, { description: 'The field.' })
  readonly field!: string;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The value that the record has.' })
  readonly before!: JsonValue;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The value that it would get.' })
  readonly after!: JsonValue;
}

@ObjectType('ImportPreview', { description: 'The outcome of a row.', simpleResolvers: true })
export class ImportPreviewResult {
  @Field(() => Int, { description: 'The row, as the program that made the file counts it.' })
  readonly number!: number;

  @Field(() => String, { description: 'create, update, same or error.' })
  readonly outcome!: string;

  @Field(() => [String], { nullable: true, description: 'For an update: the changed fields.' })
  readonly fields?: readonly string[] | null;

  @Field(() => [ImportFieldChangeResult], {
    nullable: true,
    description: 'For an update: the old and the new value of each changed field that you may read.',
  })
  readonly changes?: readonly ImportFieldChangeResult[] | null;

  @Field(() => ID, {
    nullable: true,
    description: 'For an update or an unchanged row: the existing record.',
  })
  readonly recordId?: string | null;

  @Field(() => String, { nullable: true, description: 'The label that the row gives its record.' })
  readonly label?: string | null;
}

@ObjectType('ImportChangedField', { description: 'How often a field changes.', simpleResolvers: true })
export class ImportChangedFieldResult {
  @Field(() => String, { description: 'The field.' })
  readonly field!: string;

  @Field(() => Int, { description: 'The number of records.' })
  readonly records!: number;

  @Field(() => Int, {
    description: 'The number of these that have a value there, which would be overwritten.',
  })
  readonly overwritten!: number;
}

@ObjectType('ImportTrial', { description: 'The result of a dry run.', simpleResolvers: true })
export class ImportTrialResult {
  @Field(() => ImportCountsResult, { description: 'The counts of the rows.' })
  readonly counts!: ImportCountsResult;

  @Field(() => [ImportChangedFieldResult], { description: 'The fields that would change.' })
  readonly fields!: readonly ImportChangedFieldResult[];

  @Field(() => [ImportPreviewResult], { description: 'The outcome of the first rows.' })
  readonly preview!: readonly ImportPreviewResult[];

  @Field(() => Boolean, { description: 'It was made with the mapping and options that the import has now.' })
  readonly isCurrent!: boolean;
}

@ObjectType('ImportRowFault', { description: 'What is wrong with a row.', simpleResolvers: true })
export class ImportRowFaultResult {
  @Field(() => String, { nullable: true, description: 'The column it stands in.' })
  readonly column?: string | null;

  @Field(() => String, { description: 'What is wrong, and what would be right.' })
  readonly detail!: string;

  @Field(() => String, { nullable: true, description: 'A valid value.' })
  readonly expected?: string | null;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The value found.' })
  readonly sent?: JsonValue;
}

@ObjectType('ImportError', { description: 'An invalid row.', simpleResolvers: true })
export class ImportErrorResult {
  @Field(() => Int, { description: 'The row, as the program that made the file counts it.' })
  readonly number!: number;

  @Field(() => [ImportRowFaultResult], { description: 'What is wrong with it.' })
  readonly faults!: readonly ImportRowFaultResult[];

  @Field(() => [String], { description: 'Its cells, as in the file.' })
  readonly source!: readonly string[];
}

@ObjectType('Import', { description: 'An import of a file into a collection.', simpleResolvers: true })
export class ImportResult {
  @Field(() => ID, { description: 'Identifies the import. Increases with time.' })
  readonly id!: string;

  @Field(() => String, { description: 'The collection that receives the records.' })
  readonly collection!: string;

  @Field(() => ImportStateValue, { description: 'Its state.' })
  readonly state!: ImportStateValue;

  @Field(() => String, { description: 'The name of the file.' })
  readonly name!: string;

  @Field(() => ID, { description: 'The file.' })
  readonly fileId!: string;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'The detected format, encoding, header and columns of the file.',
  })
  readonly inspection!: JsonValue;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The field of each column.' })
  readonly mapping!: JsonValue;

  @Field(() => ImportModeValue, { description: 'Whether to write all rows or none, or only the valid ones.' })
  readonly mode!: ImportModeValue;

  @Field(() => String, {
    description:
      'The key that identifies existing records: `_id`, a unique field, or a rule of ' + 'several fields.',
  })
  readonly by!: string;

  @Field(() => ImportMissingValue, { description: 'What to do with records that are not in the file.' })
  readonly missing!: ImportMissingValue;

  @Field(() => [ImportTriggerValue], { description: 'Which scripts run for its records.' })
  readonly triggers!: readonly ImportTriggerValue[];

  @Field(() => ImportCountsResult, { description: 'The counts of rows in the current step.' })
  readonly counts!: ImportCountsResult;

  @Field(() => Int, { nullable: true, description: 'The number of rows in the file, once known.' })
  readonly rowCount!: number | null;

  @Field(() => ImportTrialResult, { nullable: true, description: 'The result of the last dry run.' })
  readonly trial!: ImportTrialResult | null;

  @Field(() => [String], {
    description:
      'The changes to pass to `undoChange`, one for each part of the import that was not ' +
      'undone. Undo the last one first.',
  })
  readonly changeIds!: readonly string[];

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'The scripts that run before and after its writes.',
  })
  readonly scripts!: JsonValue;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'Why it failed: code, detail, errors.' })
  readonly fault!: JsonValue;

  @Field(() => ID, { description: 'The user who requested it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When the file was received.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the current or the last step began.' })
  readonly startedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ended.' })
  readonly endedAt!: Date | null;
}

@ObjectType('ImportUndoConflict', {
  description: 'A record that was changed after the import and prevents undoing it.',
  simpleResolvers: true,
})
export class ImportUndoConflict {
  @Field(() => ID, { description: 'The id of the record.' })
  readonly id!: string;

  @Field(() => Int, { nullable: true, description: 'The version that the change made; null: it is gone.' })
  readonly version!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was changed.' })
  readonly at!: Date | null;
}

@ObjectType('ImportUndoPreview', {
  description: 'The effect of undoing an import.',
  simpleResolvers: true,
})
export class ImportUndoPreview {
  @Field(() => Int, { description: 'The number of created records, which would be removed.' })
  readonly removed!: number;

  @Field(() => Int, { description: 'The number of changed records, which would be reverted.' })
  readonly changed!: number;

  @Field(() => Int, { description: 'The number of removed records, which would be restored.' })
  readonly broughtBack!: number;

  @Field(() => Int, {
    description: 'The number of records that were changed later. If there are any, nothing is undone.',
  })
  readonly conflictCount!: number;

  @Field(() => [ImportUndoConflict], { description: 'The first 100 of them.' })
  readonly conflicts!: readonly ImportUndoConflict[];

  @Field(() => [String], {
    description:
      'The number of records that point to created ones, by collection, e.g. "3 records of fee_due point ' +
      'to it (student)". If there are any, nothing is undone.',
  })
  readonly usedBy!: readonly string[];
}

const ImportEdge = edgeType('Import', () => ImportResult, 'An import');

@ObjectType({ description: 'A page of imports, the newest first.', simpleResolvers: true })
export class ImportConnection {
  @Field(() => [ImportResult], { description: 'The imports of the page.' })
  readonly nodes!: readonly ImportResult[];

  @Field(() => [ImportEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<ImportResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;
}

@ObjectType('ImportMapping', { description: 'A saved mapping.', simpleResolvers: true })
export class ImportMappingResult {
  @Field(() => String, { description: 'Its name.' })
  readonly name!: string;

  @Field(() => String, { description: 'The collection it is for.' })
  readonly collection!: string;

  @Field(() => GraphqlJsonScalar, { description: 'The field of each column.' })
  readonly mapping!: JsonValue;

  @Field(() => ID, { description: 'Who saved it.' })
  readonly savedBy!: string;

  @Field(() => DateTime, { description: 'When it was saved.' })
  readonly savedAt!: Date;
}

@ArgsType()
export class ImportsArguments extends PageArguments {
  @Field(() => ImportStateValue, { nullable: true, description: 'Only imports in this state.' })
  readonly state?: ImportStateValue | null;
}

@InputType({ description: 'How the rows of a file are written. What is left out stays as it is.' })
export class ImportOptionsInput {
  @Field(() => ImportModeValue, { nullable: true, description: 'Default: ATOMIC.' })
  readonly mode?: ImportModeValue | null;

  @Field(() => String, {
    nullable: true,
    description:
      'What tells records apart: `_id`, a unique field, a rule of fields unique together, or these fields ' +
      'separated by commas. Default: what the file has.',
  })
  readonly by?: string | null;

  @Field(() => ImportMissingValue, { nullable: true, description: 'Default: KEEP.' })
  readonly missing?: ImportMissingValue | null;

  @Field(() => [ImportTriggerValue], { nullable: true, description: 'Default: none.' })
  readonly triggers?: readonly ImportTriggerValue[] | null;
}
