/** The types of the history of a record. */
import { ArgsType, Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from './generic-record.js';

export enum FieldChangeKind {
  ADDED = 'added',
  CHANGED = 'changed',
  REMOVED = 'removed',
}

registerEnumType(FieldChangeKind, {
  name: 'FieldChangeKind',
  description: 'What a change did to a field.',
  valuesConfig: {
    ADDED: { description: 'It was added.' },
    CHANGED: { description: 'Its value changed.' },
    REMOVED: { description: 'It was removed.' },
  },
});

@ObjectType('FieldChange', {
  description: 'A field whose value a change replaced.',
  simpleResolvers: true,
})
export class FieldChangeResult {
  @Field(() => String, {
    description: 'Its stored name; below an object the names joined by dots. A list is one value.',
  })
  readonly path!: string;

  @Field(() => FieldChangeKind, {
    description: 'Distinguishes a field that is null from one that is absent.',
  })
  readonly kind!: FieldChangeKind;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Its previous value; null if it was absent.',
  })
  readonly before!: JsonValue | undefined;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Its new value; null if it was removed.',
  })
  readonly after!: JsonValue | undefined;
}

@ObjectType('ChangeAuthor', { description: 'Who made a change, and by what.', simpleResolvers: true })
export class ChangeAuthorResult {
  @Field(() => String, { description: 'The id of the user, or the name of the task.' })
  readonly principal!: string;

  @Field(() => String, { description: '`token:<session>`, `key:<id>` or `system:<task>`.' })
  readonly credential!: string;

  @Field(() => String, { description: 'The request that made the change; `undoChange` takes it.' })
  readonly requestId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'The name of the GraphQL operation, or the template of the route; null where there was none.',
  })
  readonly requestOperation!: string | undefined;
}

@ObjectType('RecordVersion', { description: 'A change of a record.', simpleResolvers: true })
export class RecordVersionResult {
  @Field(() => Int, { description: 'The version that the change produced.' })
  readonly version!: number;

  @Field(() => String, { description: '`created`, `updated` or `deleted`.' })
  readonly operation!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      'The previous version; null for the first. A restored record is `created` from a ' +
      'previous version.',
  })
  readonly fromVersion!: number | undefined;

  @Field(() => DateTime, { description: 'When it happened.' })
  readonly at!: Date;

  @Field(() => ChangeAuthorResult, {
    nullable: true,
    description: 'Shown to admins, and to users for their own changes; otherwise null.',
  })
  readonly by!: ChangeAuthorResult | undefined;

  @Field(() => [FieldChangeResult], {
    nullable: true,
    description: 'The changed fields that you may read; null if they were not recorded.',
  })
  readonly changes!: readonly FieldChangeResult[] | undefined;
}

const RecordHistoryEdge = edgeType('RecordHistory', () => RecordVersionResult, 'A change');

@ObjectType({ description: 'A page of the changes of a record, the newest first.', simpleResolvers: true })
export class RecordHistoryConnection {
  @Field(() => [RecordVersionResult], { description: 'The changes of the page.' })
  readonly nodes!: readonly RecordVersionResult[];

  @Field(() => [RecordHistoryEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<RecordVersionResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;
}

@ArgsType()
export class RecordHistoryArguments extends PageArguments {
  @Field(() => String, { description: 'The collection, e.g. "task".' })
  readonly collection!: string;

  @Field(() => ID, { description: 'The id of the record.' })
  readonly id!: string;
}

@ObjectType('UndoneChange', { description: 'What undoing a request did.', simpleResolvers: true })
export class UndoneResult {
  @Field(() => Int, { description: 'Records that it had changed, and that are again what they were.' })
  readonly changed!: number;

  @Field(() => Int, { description: 'Records that it had made, now removed.' })
  readonly removed!: number;

  @Field(() => Int, { description: 'Records that it had removed, now back.' })
  readonly broughtBack!: number;
}
