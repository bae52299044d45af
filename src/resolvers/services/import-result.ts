/** The types of imports. */
import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../json.js';
import { DateTime } from '../../scalars/date-time.js';
import { GraphqlJsonScalar } from '../../scalars/json-scalar.js';
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
  description: 'How far an import is.',
  valuesConfig: {
    RECEIVED: { description: 'The file is there.' },
    INSPECTING: { description: 'The file is looked into.' },
    READY: { description: 'It has a mapping, to be corrected, tried and run.' },
    TRYING: { description: 'The dry run is under way.' },
    TRIED: { description: 'The dry run is over.' },
    WAITING: { description: 'It will be run when its turn comes.' },
    RUNNING: { description: 'It writes.' },
    DONE: { description: 'It has written.' },
    UNDOING: { description: 'What it has written is taken back.' },
    UNDONE: { description: 'What it had written was taken back.' },
    FAILED: { description: '`fault` says why.' },
    CANCELLED: { description: 'It was stopped; what it had written stays.' },
  },
});

export enum ImportModeValue {
  ATOMIC = 'atomic',
  ROWS = 'rows',
}
registerEnumType(ImportModeValue, {
  name: 'ImportMode',
  description: 'What becomes of the right rows of a file that has wrong ones.',
  valuesConfig: {
    ATOMIC: { description: 'All rows are written, or none.' },
    ROWS: { description: 'The right ones are written, the others are told.' },
  },
});

export enum ImportMissingValue {
  KEEP = 'keep',
  REMOVE = 'remove',
}
registerEnumType(ImportMissingValue, {
  name: 'ImportMissing',
  description: 'What becomes of records that the file does not have.',
  valuesConfig: {
    KEEP: { description: 'They stay.' },
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
    BEFORE: { description: 'Those that are asked before a write.' },
    AFTER: { description: 'Those that are begun after it.' },
  },
});

@ObjectType('ImportCounts', { description: 'What became of the rows of a file.', simpleResolvers: true })
export class ImportCountsResult {
  @Field(() => Int, { description: 'Rows that were looked at.' })
  readonly rows!: number;

  @Field(() => Int, { description: 'Rows whose records are new.' })
  readonly created!: number;

  @Field(() => Int, { description: 'Rows whose records were there and are another now.' })
  readonly updated!: number;

  @Field(() => Int, { description: 'Rows whose records were there and stay as they are.' })
  readonly same!: number;

  @Field(() => Int, { description: 'Rows that are wrong.' })
  readonly refused!: number;

  @Field(() => Int, { description: 'Records that the file does not have and that are removed.' })
  readonly removed!: number;
}

@ObjectType('ImportPreview', { description: 'What becomes of a row.', simpleResolvers: true })
export class ImportPreviewResult {
  @Field(() => Int, { description: 'The row, as the program that made the file counts it.' })
  readonly number!: number;

  @Field(() => String, { description: 'create, update, same or error.' })
  readonly outcome!: string;

  @Field(() => [String], { nullable: true, description: 'Of an update: the fields that are another.' })
  readonly fields?: readonly string[] | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Of an update, and of a row that is the same: the record that is there.',
  })
  readonly recordId?: string | null;
}

@ObjectType('ImportChangedField', { description: 'How often a field is another.', simpleResolvers: true })
export class ImportChangedFieldResult {
  @Field(() => String, { description: 'The field.' })
  readonly field!: string;

  @Field(() => Int, { description: 'In how many records.' })
  readonly records!: number;
}

@ObjectType('ImportTrial', { description: 'What a dry run found.', simpleResolvers: true })
export class ImportTrialResult {
  @Field(() => ImportCountsResult, { description: 'What would become of the rows.' })
  readonly counts!: ImportCountsResult;

  @Field(() => [ImportChangedFieldResult], { description: 'The fields that would be another.' })
  readonly fields!: readonly ImportChangedFieldResult[];

  @Field(() => [ImportPreviewResult], { description: 'What would become of the first rows.' })
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

  @Field(() => String, { nullable: true, description: 'What would be right.' })
  readonly expected?: string | null;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What stands there.' })
  readonly sent?: JsonValue;
}

@ObjectType('ImportError', { description: 'A row that is wrong.', simpleResolvers: true })
export class ImportErrorResult {
  @Field(() => Int, { description: 'The row, as the program that made the file counts it.' })
  readonly number!: number;

  @Field(() => [ImportRowFaultResult], { description: 'What is wrong with it.' })
  readonly faults!: readonly ImportRowFaultResult[];

  @Field(() => [String], { description: 'Its cells, as they stand in the file.' })
  readonly source!: readonly string[];
}

@ObjectType('Import', { description: 'A file on its way into a collection.', simpleResolvers: true })
export class ImportResult {
  @Field(() => ID, { description: 'Names the import; goes up with time.' })
  readonly id!: string;

  @Field(() => String, { description: 'Where its records go.' })
  readonly collection!: string;

  @Field(() => ImportStateValue, { description: 'How far it is.' })
  readonly state!: ImportStateValue;

  @Field(() => String, { description: 'The name of the file.' })
  readonly name!: string;

  @Field(() => ID, { description: 'The file.' })
  readonly fileId!: string;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'What was found in the file: its format, encoding, header, columns.',
  })
  readonly inspection!: JsonValue;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'Which column goes to which field.' })
  readonly mapping!: JsonValue;

  @Field(() => ImportModeValue, { description: 'All rows or none, or the right ones.' })
  readonly mode!: ImportModeValue;

  @Field(() => String, {
    description: 'What tells records apart: `_id`, a unique field, or a rule of several.',
  })
  readonly by!: string;

  @Field(() => ImportMissingValue, { description: 'What becomes of records that the file does not have.' })
  readonly missing!: ImportMissingValue;

  @Field(() => [ImportTriggerValue], { description: 'Which scripts run for its records.' })
  readonly triggers!: readonly ImportTriggerValue[];

  @Field(() => ImportCountsResult, { description: 'What became of the rows so far, in the step under way.' })
  readonly counts!: ImportCountsResult;

  @Field(() => Int, { nullable: true, description: 'How many rows the file has, once that is known.' })
  readonly rowCount!: number | null;

  @Field(() => ImportTrialResult, { nullable: true, description: 'What the last dry run found.' })
  readonly trial!: ImportTrialResult | null;

  @Field(() => [String], {
    description:
      'What `undoChange` takes, one for each part of the import that is not taken back; the last one is ' +
      'undone first.',
  })
  readonly changeIds!: readonly string[];

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'The scripts that run before and after its writes.',
  })
  readonly scripts!: JsonValue;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'Why it failed: code, detail, errors.' })
  readonly fault!: JsonValue;

  @Field(() => ID, { description: 'Who asked for it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When the file was taken.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the step under way, or the last one, began.' })
  readonly startedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ended.' })
  readonly endedAt!: Date | null;
}

@ObjectType('ImportUndoConflict', {
  description: 'A record that was changed after the import, which stands in the way of undoing it.',
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
  description: 'What undoing an import would do.',
  simpleResolvers: true,
})
export class ImportUndoPreview {
  @Field(() => Int, { description: 'Records that it has made, and that would be removed.' })
  readonly removed!: number;

  @Field(() => Int, { description: 'Records that it has changed, and that would be as before.' })
  readonly changed!: number;

  @Field(() => Int, { description: 'Records that it has removed, and that would be there again.' })
  readonly broughtBack!: number;

  @Field(() => Int, {
    description: 'Records that were changed later: where there are any, nothing is undone.',
  })
  readonly conflictCount!: number;

  @Field(() => [ImportUndoConflict], { description: 'The first 100 of them.' })
  readonly conflicts!: readonly ImportUndoConflict[];
}

const ImportEdge = edgeType('Import', () => ImportResult, 'An import');

@ObjectType({ description: 'A page of imports, the newest first.', simpleResolvers: true })
export class ImportConnection {
  @Field(() => [ImportResult], { description: 'The imports of the page.' })
  readonly nodes!: readonly ImportResult[];

  @Field(() => [ImportEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<ImportResult>[];

  @Field(() => PageInfo, { description: 'Where the page stands.' })
  readonly pageInfo!: PageInfo;
}

@ObjectType('ImportMapping', { description: 'A mapping that was given a name.', simpleResolvers: true })
export class ImportMappingResult {
  @Field(() => String, { description: 'Its name.' })
  readonly name!: string;

  @Field(() => String, { description: 'The collection it is for.' })
  readonly collection!: string;

  @Field(() => GraphqlJsonScalar, { description: 'Which column goes to which field.' })
  readonly mapping!: JsonValue;

  @Field(() => ID, { description: 'Who saved it.' })
  readonly savedBy!: string;

  @Field(() => DateTime, { description: 'When it was saved.' })
  readonly savedAt!: Date;
}

@ArgsType()
export class ImportsArguments extends PageArguments {
  @Field(() => ImportStateValue, { nullable: true, description: 'Only those that are so far.' })
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
