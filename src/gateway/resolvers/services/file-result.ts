/** The types of files. */
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../base/scalars/date-time.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';

@ObjectType('File', {
  description: 'A file of the school. It never changes: a changed file is uploaded as a new one.',
  simpleResolvers: true,
})
export class FileResult {
  @Field(() => ID, { description: 'Identifies the file. Increases with time.' })
  readonly id!: string;

  @Field(() => String, { description: 'Its name, e.g. "marksheet.pdf".' })
  readonly name!: string;

  @Field(() => String, { description: 'The media type that its uploader declared.' })
  readonly contentType!: string;

  @Field(() => Number, { description: 'Its size in bytes.' })
  readonly size!: number;

  @Field(() => String, { description: 'SHA-256 of its bytes, in hexadecimal.' })
  readonly sha256!: string;

  @Field(() => String, { description: 'The path of this service that returns it, with your credential.' })
  readonly url!: string;

  @Field(() => String, { nullable: true, description: 'The collection of the record it belongs to.' })
  readonly collection!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The record it belongs to. Users who may read the record may read the file.',
  })
  readonly recordId!: string | null;

  @Field(() => [String], { description: 'Roles that may read it, beside its owner and admins.' })
  readonly roles!: readonly string[];

  @Field(() => ID, { description: 'Its owner: the user who uploaded it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When it was uploaded.' })
  readonly createdAt!: Date;

  @Field(() => Boolean, { description: 'Whether you may remove it, as its owner and admins may.' })
  readonly mayRemove!: boolean;
}

const FileEdge = edgeType('File', () => FileResult, 'A file');

@ObjectType({ description: 'A page of files, the newest first.', simpleResolvers: true })
export class FileConnection {
  @Field(() => [FileResult], { description: 'The files of the page.' })
  readonly nodes!: readonly FileResult[];

  @Field(() => [FileEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<FileResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;

  @Field(() => Int, { description: 'The total number. Counted only if selected.' })
  readonly totalCount!: number;
}

@ArgsType()
export class FilesArguments extends PageArguments {
  @Field(() => String, {
    nullable: true,
    description:
      'With `recordId`: the files of this record. Alone: of the files you may list, those ' +
      'that belong to records of this collection.',
  })
  readonly collection?: string | null;

  @Field(() => ID, { nullable: true, description: 'With `collection`: the record.' })
  readonly recordId?: string | null;

  @Field(() => String, { nullable: true, description: 'Only those whose name contains this, in any case.' })
  readonly name?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only those of this owner.' })
  readonly createdBy?: string | null;
}

@InputType({ description: 'A small file, sent with the mutation. A large one is streamed to POST /files.' })
export class CreateFileInput {
  @Field(() => String, { description: 'Its name.' })
  readonly name!: string;

  @Field(() => String, { nullable: true, description: 'Its media type; left out: application/octet-stream.' })
  readonly contentType?: string | null;

  @Field(() => String, {
    description: 'Its bytes in base64; the whole request has at most BODY_LIMIT_BYTES.',
  })
  readonly content!: string;

  @Field(() => String, { nullable: true, description: 'With `recordId`: the record it belongs to.' })
  readonly collection?: string | null;

  @Field(() => ID, { nullable: true, description: 'With `collection`: the record it belongs to.' })
  readonly recordId?: string | null;

  @Field(() => [String], { nullable: true, description: 'Roles that may read it, beside you and admins.' })
  readonly roles?: readonly string[] | null;
}
