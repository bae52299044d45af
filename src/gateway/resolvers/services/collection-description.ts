/** The declaration of a collection in GraphQL, for callers who explore the schema. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import type { Collection, Field as DeclaredField } from '../../../base/model/collection.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';

export interface CollectionDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly labelField: string | undefined;
  readonly isDeclared: boolean;
  readonly version: number;
  readonly singular: string;
  readonly plural: string;
  readonly fields: readonly FieldDescription[];
}

interface FieldDescription {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
  readonly isIndexed: boolean;
  readonly allowed: readonly string[] | undefined;
  readonly format: string | undefined;
  readonly bounds: JsonValue | undefined;
  readonly targets: readonly string[];
  readonly default: JsonValue | undefined;
  readonly unit: string | undefined;
  readonly example: JsonValue | undefined;
  readonly deprecated: string | undefined;
  readonly fields: readonly FieldDescription[];
}

@ObjectType('CollectionField', { description: 'A declared field of a collection.', simpleResolvers: true })
export class FieldResult {
  @Field(() => String, { description: 'The stored name, as filters and JSON use it.' })
  readonly name!: string;

  @Field(() => String, { description: 'text, number, boolean, datetime, reference or object.' })
  readonly type!: string;

  @Field(() => String, { description: 'What the value means.' })
  readonly description!: string;

  @Field(() => Boolean, { description: 'It holds a list of such values.' })
  readonly isList!: boolean;

  @Field(() => Boolean, { description: 'Every record that is written has it.' })
  readonly isRequired!: boolean;

  @Field(() => Boolean, { description: 'No two records of a domain share a value.' })
  readonly isUnique!: boolean;

  @Field(() => Boolean, { description: 'Filters and orders by it are fast.' })
  readonly isIndexed!: boolean;

  @Field(() => [String], { nullable: true, description: 'The values allowed; null: any.' })
  readonly allowed!: readonly string[] | undefined;

  @Field(() => String, { nullable: true, description: 'What a text or a datetime is, e.g. "month".' })
  readonly format!: string | undefined;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description:
      'What a value may be beyond its type, in the words of JSON Schema, e.g. {"minimum": 0}. ' +
      'A moment may be bounded by "now".',
  })
  readonly bounds!: JsonValue | undefined;

  @Field(() => [String], { description: 'The collections a reference may point to.' })
  readonly targets!: readonly string[];

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description:
      'The value that a new record gets if it has none. For a datetime, "now" is the time ' + 'of creation.',
  })
  readonly default!: JsonValue | undefined;

  @Field(() => String, { nullable: true, description: 'The unit, e.g. "INR".' })
  readonly unit!: string | undefined;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'A typical value.' })
  readonly example!: JsonValue | undefined;

  @Field(() => String, { nullable: true, description: 'Why it is deprecated, and what replaces it.' })
  readonly deprecated!: string | undefined;

  @Field(() => [FieldResult], { description: 'The members of an object.' })
  readonly fields!: readonly FieldResult[];
}

@ObjectType('Collection', {
  description: 'A collection: what its records are and which fields they have.',
  simpleResolvers: true,
})
export class CollectionResult {
  @Field(() => String, { description: 'Its name in paths and arguments, e.g. "fee_receipt".' })
  readonly name!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly title!: string;

  @Field(() => String, { description: 'What one record is.' })
  readonly description!: string;

  @Field(() => String, { nullable: true, description: 'The field that names a record to a person.' })
  readonly labelField!: string | undefined;

  @Field(() => Boolean, { description: 'Declared with the service; false: registered at run time.' })
  readonly isDeclared!: boolean;

  @Field(() => Int, {
    description:
      'Starts at 1 and increases by one with every change of the declaration. Send it as ' +
      '`ifVersion` to avoid overwriting a change made in the meantime.',
  })
  readonly version!: number;

  @Field(() => String, { description: 'The field of this schema for one record, e.g. "feeReceipt".' })
  readonly singular!: string;

  @Field(() => String, { description: 'The field of this schema for many, e.g. "feeReceipts".' })
  readonly plural!: string;

  @Field(() => [FieldResult], { description: 'The declared fields you may read.' })
  readonly fields!: readonly FieldResult[];
}

/** The part of a declaration that a caller may know. */
export interface ShownNames {
  isFieldShown(field: string): boolean;
  isCollectionShown(collection: string): boolean;
}

/** Leaves out the names that the caller may not know. */
export function describeCollection(collection: Collection, shown: ShownNames): CollectionDescription {
  const { name, title, description, isDeclared, version, singular, plural } = collection;
  const labelField =
    collection.labelField !== undefined && shown.isFieldShown(collection.labelField)
      ? collection.labelField
      : undefined;
  const fields = collection.fields
    .filter((field) => shown.isFieldShown(field.name))
    .map((field) => describeField(field, shown));
  return { name, title, description, labelField, isDeclared, version, singular, plural, fields };
}

function describeField(field: DeclaredField, shown: ShownNames): FieldDescription {
  const { name, type, description, isList, isRequired, isUnique, isIndexed } = field;
  const { allowed, format, unit, deprecated } = field;
  return {
    ...{ name, type, description, isList, isRequired, isUnique, isIndexed },
    ...{ allowed, format, unit, deprecated, default: field.default },
    bounds: field.bounds && { ...field.bounds },
    targets: field.targets.filter((target) => shown.isCollectionShown(target)),
    example: field.example as JsonValue | undefined,
    fields: field.fields.map((member) => describeField(member, shown)),
  };
}
