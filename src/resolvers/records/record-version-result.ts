/** The types of the history of a record. */
import { ArgsType, Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../json.js';
import { DateTime } from '../../scalars/date-time.js';
import { GraphqlJsonScalar } from '../../scalars/json-scalar.js';
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
    ADDED: { description: 'It was not there before.' },
    CHANGED: { description: 'It has another value.' },
    REMOVED: { description: 'It is no longer there.' },
  },
});

@ObjectType('FieldChange', {
  description: 'A field that a change made another one.',
  simpleResolvers: true,
})
export class FieldChangeResult {
  @Field(() => String, {
    description: 'Its stored name; below an object the names joined by dots. A list is one value.',
  })
  readonly path!: string;

  @Field(() => FieldChangeKind, { description: 'Tells a field that is null from one that is not there.' })
  readonly kind!: FieldChangeKind;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Its value before; null where it was not there.',
  })
  readonly before!: JsonValue | undefined;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Its value after; null where it is no longer there.',
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
  @Field(() => Int, { description: 'The version that it made.' })
  readonly version!: number;

  @Field(() => String, { description: '`created`, `updated` or `deleted`.' })
  readonly operation!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      'The version before; null for the first. A removed record that came back is `created` from one.',
  })
  readonly fromVersion!: number | undefined;

  @Field(() => DateTime, { description: 'When.' })
  readonly at!: Date;

  @Field(() => ChangeAuthorResult, {
    nullable: true,
    description: 'Told to admins, and to everybody of their own changes; else null.',
  })
  readonly by!: ChangeAuthorResult | undefined;

  @Field(() => [FieldChangeResult], {
    nullable: true,
    description: 'The fields that it made others, as far as you may read them; null where they are not kept.',
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

  @Field(() => PageInfo, { description: 'Where the page stands.' })
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
