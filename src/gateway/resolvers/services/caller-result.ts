/** The types of the caller and of a user's rights. */
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import type { KeyScopes } from '../../../base/model/scope.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';

@ObjectType('CallerDomain', {
  description: 'The school, or part of a school, that a request works in.',
  simpleResolvers: true,
})
export class CallerDomain {
  @Field(() => ID, { description: 'The value of the header `X-Domain`.' })
  readonly id!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly name!: string;

  @Field(() => String, { description: 'Days and months are those of this time zone, e.g. "Asia/Kolkata".' })
  readonly timeZone!: string;
}

@ObjectType('CollectionRights', {
  description: 'What a user may do with the records of a collection.',
  simpleResolvers: true,
})
export class CollectionRightsResult {
  @Field(() => String, { description: 'The collection, e.g. "task".' })
  readonly name!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly title!: string;

  @Field(() => Boolean, { description: 'It comes with the gateway; the others were registered at run time.' })
  readonly isDeclared!: boolean;

  @Field(() => Boolean, { description: 'Whether records may be read.' })
  readonly canRead!: boolean;

  @Field(() => Boolean, { description: 'Whether records may be made.' })
  readonly canCreate!: boolean;

  @Field(() => Boolean, { description: 'Whether records may be changed.' })
  readonly canUpdate!: boolean;

  @Field(() => Boolean, { description: 'Whether records may be removed.' })
  readonly canRemove!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether only some of its records are in reach, e.g. those of the sections a teacher ' + 'teaches.',
  })
  readonly isLimitedToRows!: boolean;

  @Field(() => [String], { description: 'The declared fields that the user may read.' })
  readonly readableFields!: readonly string[];

  @Field(() => [String], { description: 'The declared fields that may be set in a new record.' })
  readonly creatableFields!: readonly string[];

  @Field(() => [String], { description: 'The declared fields that may be changed.' })
  readonly updatableFields!: readonly string[];
}

@ObjectType('ReportRight', { description: 'A report that a user may run.', simpleResolvers: true })
export class ReportRightResult {
  @Field(() => String, { description: 'Its name, as `report=` takes it, e.g. "fee-defaulters".' })
  readonly name!: string;

  @Field(() => String, { description: 'Its field of `Query`, e.g. "feeDefaulters".' })
  readonly field!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly title!: string;

  @Field(() => String, { description: 'What it tells.' })
  readonly description!: string;
}

@ObjectType('OperationRight', {
  description: 'An operation of the library that is written for a user.',
  simpleResolvers: true,
})
export class OperationRightResult {
  @Field(() => String, { description: 'Its name in `/explore/operations.json`.' })
  readonly name!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly title!: string;

  @Field(() => String, { description: 'What it shows.' })
  readonly description!: string;

  @Field(() => String, { description: 'What it is about, e.g. "Fees".' })
  readonly topic!: string;

  @Field(() => String, { description: '`query`, `mutation` or `subscription`.' })
  readonly kind!: string;
}

@ObjectType('Caller', { description: 'Who you are, where you work, and what you may do.' })
export class CallerResult {
  @Field(() => ID, { description: 'The id of your record in `pltf_user`.' })
  readonly id!: string;

  @Field(() => String, { description: 'Your login name.' })
  readonly userName!: string;

  @Field(() => String, { description: 'Your full name.' })
  readonly name!: string | Promise<string>;

  @Field(() => [String], { description: 'Your roles, in alphabetical order.' })
  readonly roles!: readonly string[];

  @Field(() => CallerDomain, { description: 'The domain of this request.' })
  readonly domain!: CallerDomain;

  @Field(() => [CallerDomain], {
    description:
      'The domains you may work in, by the header `X-Domain`: your own, or for an admin of the ' +
      'top domain all.',
  })
  readonly branches!: readonly CallerDomain[];

  @Field(() => String, {
    nullable: true,
    description: 'The language you chose by `setLanguage`, e.g. "hi"; null: that of your browser.',
  })
  readonly language!: string | null | Promise<string | null>;

  @Field(() => String, { description: 'The kind of credential: `token`, or `key` for an API key.' })
  readonly credential!: string;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'The scope of an API key; null for a token.',
  })
  readonly scopes!: KeyScopes | undefined;

  @Field(() => [CollectionRightsResult], {
    description: 'The collections in which you have any right, by name.',
  })
  readonly collections!: readonly CollectionRightsResult[];

  @Field(() => [ReportRightResult], { description: 'The reports you may run.' })
  readonly reports!: readonly ReportRightResult[];

  @Field(() => [OperationRightResult], { description: 'The operations of the library that are for you.' })
  readonly operations!: readonly OperationRightResult[];

  @Field(() => Boolean, { description: 'Whether you may make API keys (API_KEY_ROLES).' })
  readonly mayHaveKeys!: boolean;

  @Field(() => Boolean, { description: 'Whether you may have webhooks (WEBHOOK_ROLES).' })
  readonly mayHaveWebhooks!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether you may import files (IMPORT_ROLES), into collections whose records you may read, create ' +
      'and update.',
  })
  readonly mayImport!: boolean;

  @Field(() => Int, {
    description: 'How many records one request may change or remove together (MAX_RECORDS_PER_WRITE).',
  })
  readonly maxRecordsPerWrite!: number;

  @Field(() => Int, {
    description: 'The month with which sessions of the school begin, 1 to 12 (property `sessionFirstMonth`).',
  })
  readonly sessionFirstMonth!: number;

  @Field(() => GraphqlJsonScalar, {
    description: 'The grades, highest first, and their least percent: [{from: 91, grade: "A1"}, …].',
  })
  readonly grades!: JsonValue;

  @Field(() => GraphqlJsonScalar, {
    description:
      'The sheets you may fill in, as declared in schema/sheets: pages with one row for each member of ' +
      'a set, whose records are saved together with `upsertRecords`.',
  })
  readonly sheets!: JsonValue;

  @Field(() => Boolean, { description: 'Whether you may call `recordReceipt` and `rollBackReceipt`.' })
  readonly mayRecordReceipts!: boolean;

  @Field(() => [String], {
    description:
      'The areas that you manage: `users`, `keys` (of others), `scripts`, `messages`, ' +
      '`files` (of others), `settings`, `audit`, and for admins of the top domain ' +
      '`collections`, `branches`, `backups`, `health`.',
  })
  readonly duties!: readonly string[];
}
