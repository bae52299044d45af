/** The event of a subscription to records. */
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GenericRecord } from '../../resolvers/records/generic-record.js';

/** The internal values are those of `RecordChange.operation`. */
export enum ChangeOperation {
  CREATED = 'created',
  UPDATED = 'updated',
  DELETED = 'deleted',
}

registerEnumType(ChangeOperation, {
  name: 'ChangeOperation',
  description: 'What was done to a record.',
  valuesConfig: {
    CREATED: { description: 'It was stored.' },
    UPDATED: { description: 'It was changed.' },
    DELETED: { description: 'It was removed: only its id is told.' },
  },
});

/** The fields of every change with their descriptions, shared by the typed events. */
export const CHANGE_FIELDS = {
  operation: 'What was done to it.',
  id: 'The id of the record.',
  version: 'The version the change made. `record` may be newer: it is read when the change is sent.',
  changedAt: 'When it was changed.',
  record: 'The record as it is now, as far as you may see it; null for one that was removed.',
} as const;

@ObjectType('RecordChange', { description: 'A change of a record, committed.', simpleResolvers: true })
export class RecordChangeEvent {
  @Field(() => ChangeOperation, { description: CHANGE_FIELDS.operation })
  readonly operation!: ChangeOperation;

  @Field(() => ID, { description: CHANGE_FIELDS.id })
  readonly id!: string;

  @Field(() => Int, { description: CHANGE_FIELDS.version })
  readonly version!: number;

  @Field(() => DateTime, { description: CHANGE_FIELDS.changedAt })
  readonly changedAt!: Date;

  @Field(() => GenericRecord, { nullable: true, description: CHANGE_FIELDS.record })
  readonly record!: GenericRecord | null;
}
