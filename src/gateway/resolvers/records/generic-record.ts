/** The generic types: a record of any collection, and pages of records. */

import { ArgsType, Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { OQUERY_SYNTAX } from '../../../base/languages/oquery.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { JsonText } from '../../../base/scalars/json-text.js';
import { Node } from './node.js';
import { CI_ARGUMENT } from './oquery-arguments.js';

@ObjectType('Record', {
  description: 'A record of any collection: its fields as JSON, and its id, version and times.',
  simpleResolvers: true,
  implements: Node,
})
export class GenericRecord implements Node {
  readonly nodeId!: string;

  @Field(() => ID, { description: 'Identifies the record within its collection. Stored as `_id`.' })
  readonly id!: string;

  @Field(() => String, { description: 'The collection it is in, e.g. "attendance".' })
  readonly collection!: string;

  @Field(() => Int, {
    description:
      'Starts at 1 and increases by one with every change. Send it as `ifVersion` to avoid ' +
      'overwriting a change made in the meantime.',
  })
  readonly version!: number;

  @Field(() => DateTime, { description: 'When it was first stored.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  readonly updatedAt!: Date;

  @Field(() => GraphqlJsonScalar, {
    description: 'The fields by their stored names, as far as you may read them; with `project`, only those.',
  })
  readonly data!: JsonText;
}

@ObjectType({ description: 'The position of a page in the whole order.', simpleResolvers: true })
export class PageInfo {
  @Field(() => Boolean, { description: 'More records come after this page.' })
  readonly hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'There are records before this page.' })
  readonly hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first record; null for an empty page.' })
  readonly startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the last record; send it as `after` for the next page. Null for an empty page.',
  })
  readonly endCursor!: string | null;
}

@ObjectType({ description: 'A record in a page, with its cursor.', simpleResolvers: true })
export class RecordEdge {
  @Field(() => GenericRecord, { description: 'The record.' })
  readonly node!: GenericRecord;

  @Field(() => String, { description: 'The place of the record in the order, for `after` and `before`.' })
  readonly cursor!: string;
}

@ObjectType({ description: 'A page of records.', simpleResolvers: true })
export class RecordConnection {
  @Field(() => [GenericRecord], { description: 'The records of the page, in order.' })
  readonly nodes!: readonly GenericRecord[];

  @Field(() => [RecordEdge], { description: 'The records of the page with a cursor each.' })
  readonly edges!: readonly RecordEdge[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;

  @Field(() => Int, {
    description:
      'How many records match in all, on every page. Counted only when asked for; costs a pass over ' +
      'what matches.',
  })
  readonly totalCount!: number;
}

export enum SortDirection {
  ASCENDING = 'ascending',
  DESCENDING = 'descending',
}

registerEnumType(SortDirection, {
  name: 'SortDirection',
  description: 'The direction of an order.',
  valuesConfig: {
    ASCENDING: { description: 'Smallest, earliest, A first.' },
    DESCENDING: { description: 'Largest, latest, Z first.' },
  },
});

@InputType({ description: 'One key of an order by stored field names. Ties are broken by the id.' })
export class OrderByInput {
  @Field(() => String, { description: 'A field path by stored names, e.g. "created_on" or "student.label".' })
  readonly field!: string;

  @Field(() => SortDirection, {
    defaultValue: SortDirection.ASCENDING,
    description: 'Ascending if left out.',
  })
  readonly direction!: SortDirection;
}

export enum UpdateMode {
  MERGE = 'merge',
  REPLACE = 'replace',
}

registerEnumType(UpdateMode, {
  name: 'UpdateMode',
  description: 'What an update does with the fields that are not sent.',
  valuesConfig: {
    MERGE: { description: 'They keep their values.' },
    REPLACE: { description: 'They are removed.' },
  },
});

@ArgsType()
export class RecordsArguments {
  @Field(() => String, { description: 'The collection, e.g. "attendance".' })
  readonly collection!: string;

  @Field(() => String, {
    nullable: true,
    description: `A filter as in the REST interface: ${OQUERY_SYNTAX} E.g. "created_on=today,amount=>100".`,
  })
  readonly oquery?: string | null;

  @Field(() => Boolean, CI_ARGUMENT)
  readonly ci?: boolean | null;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description:
      'A structured filter by stored field names, e.g. {amount: {greaterThan: 100}, or: [{name: ' +
      '{startsWith: "A"}}, {name: {isNull: true}}]}. Holds together with `oquery`.',
  })
  readonly where?: JsonValue;

  @Field(() => [String], {
    nullable: true,
    description: 'The fields to read into `data`, e.g. ["name", "student.label"]. Left out: all.',
  })
  readonly project?: readonly string[] | null;

  @Field(() => [OrderByInput], { nullable: true, description: 'The order; by id if left out.' })
  readonly orderBy?: readonly OrderByInput[] | null;
}
